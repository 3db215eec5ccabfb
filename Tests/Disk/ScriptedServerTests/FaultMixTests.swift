import SyncTestSupport
import Testing

@Suite struct FaultMixTests {
    /// The faults of 500 reads and of one more of each.
    private func faults(seed: UInt64) async throws -> [Fault?] {
        try await ScriptedS3Server.run { server in
            server.play(.badDay(seed: seed))
            let heads = (0..<500).flatMap { number in
                // Not signed: the fault is decided before anybody looks.
                [String](repeating: "GET /photos/\(number) HTTP/1.1\r\nHost: a\r\n\r\n", count: 2)
            }
            for head in heads { _ = try await RawClient(server: server).exchange(head) }
            return server.requests.map(\.fault)
        }
    }

    @Test func `A seed gives the same faults again`() async throws {
        let first = try await faults(seed: 7)
        #expect(first.count == 1_000)
        #expect(try await faults(seed: 7) == first)
        #expect(try await faults(seed: 8) != first)
    }

    @Test func `The shares are as they say`() async throws {
        let faults = try await faults(seed: 42)
        let share = { (fault: Fault) in faults.count { $0 == fault } }
        #expect((35...65).contains(share(.slowDown)))
        #expect((4...20).contains(share(.corruptReply)))
        #expect((60...110).contains(faults.count { $0 != nil }))
    }

    @Test func `What happens to a request does not depend on others`() async throws {
        let expected = try await faults(seed: 7)
        try await ScriptedS3Server.run { server in
            server.play(.badDay(seed: 7))
            for number in (0..<500).reversed() {
                _ = try await RawClient(server: server).exchange("GET /photos/\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
            #expect(server.requests.map(\.fault).reversed() == stride(from: 0, to: 1_000, by: 2).map { expected[$0] })
        }
    }
}
