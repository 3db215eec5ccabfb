import SyncCore
import SyncEngine
import SyncTestSupport
import Testing

@Suite struct StoreGateTests {
    private let time = ManualTime(random: 1)
    private let gate: StoreGate

    init() { gate = StoreGate(time: time.source) }

    /// Closes the gate, and lets it find the store well at its first look.
    private func closeAndPass() async throws {
        #expect(gate.close(StoreError(.noSpace, operation: "put", message: "the disk is full")))
        async let wasClosed = gate.pass {}
        await time.waitForSleepers()
        await time.advance(by: .seconds(300))
        #expect(try await wasClosed)
        #expect(gate.closedBy == nil)
    }

    @Test func `a store that only checks well is asked less and less often`() async throws {
        for _ in 1...4 { try await closeAndPass() }
        #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    }

    @Test func `once it has taken something, the next outage begins with a short pause`() async throws {
        try await closeAndPass()
        try await closeAndPass()
        gate.noteSuccess()
        try await closeAndPass()
        #expect(time.sleeps == [.seconds(1), .seconds(2), .seconds(1)])
    }

    @Test func `an open gate is passed at once, without a question to the store`() async throws {
        let wasClosed = try await gate.pass { Issue.record("the store was asked") }
        #expect(!wasClosed)
    }
}
