import SyncTestSupport
import Testing

@Suite
struct ObjectStoreContractTests {
    @Test(arguments: TestedStore.available, ObjectStoreContract.allCases)
    func `a store keeps its promises`(tested: TestedStore, clause: ObjectStoreContract) async throws {
        await #expect(throws: Never.self) { try await tested.run(clause.check) }
    }

    @Test func `where servers are required, they are there`() {
        for server in TestServer.required {
            #expect(
                server.endpoint != nil,
                "\(server.variable) is not set: run the tests by scripts/test-servers run")
        }
    }
}
