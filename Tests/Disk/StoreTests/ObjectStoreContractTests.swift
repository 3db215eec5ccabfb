import SyncTestSupport
import Testing

@Suite("ObjectStoreContract")
struct ObjectStoreContractTests {
    @Test("A store keeps its promises", arguments: TestedStore.available, ObjectStoreContract.allCases)
    func promise(tested: TestedStore, clause: ObjectStoreContract) async throws {
        await #expect(throws: Never.self) { try await tested.run(clause.check) }
    }

    @Test("Where servers are required, they are there")
    func serversAreThere() {
        for server in TestServer.required {
            #expect(
                server.endpoint != nil,
                "\(server.variable) is not set: run the tests by scripts/test-servers run")
        }
    }
}
