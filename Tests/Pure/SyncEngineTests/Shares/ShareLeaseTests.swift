import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct ShareLeaseTests {
    private let bench: ShareBench

    init() async throws {
        bench = try ShareBench()
        try await bench.add("a.jpg")
        try bench.ledger.adopt(store: "old", id: nil, isCopy: false)
    }

    /// Of a process that has opened the store that the ledger is about at first.
    private var lease: ShareLease {
        ShareLease(
            ledger: bench.queue, owner: ClaimOwner(name: "gallery"), time: bench.time.source,
            isCurrent: { try $0.boundStore() == "old" })
    }

    private func move() throws { try bench.ledger.adopt(store: "new", id: nil, isCopy: true) }

    @Test func `who has the store of before a move open takes no share in hand`() async throws {
        let id = try await bench.share().id
        #expect(try await lease.holding(id) { $0.state } == .live)
        try move()
        await #expect(throws: ShareError.storeMoved) { try await lease.holding(id) { _ in } }
        #expect(try bench.record(id).holder == nil)
    }

    @Test func `who has one in hand while all is moved is ended within seconds, and notes nothing of it`() async throws
    {
        let id = try await bench.share().id
        let (lease, clock) = (lease, bench.time.source)
        let work = Task { try await lease.holding(id) { _ in try await clock.sleep(.seconds(3_600)) } }
        await bench.time.waitForSleepers(2)
        try move()
        await #expect(throws: ShareError.storeMoved) {
            try await lease.note { ledger, owner, _ in
                try ledger.noteShareProblem("it is denied", waits: false, of: id, by: owner)
            }
        }
        await bench.time.advance(by: .seconds(3))
        let result = await work.result
        #expect(throws: ShareError.storeMoved) { try result.get() }
        #expect(try bench.record(id).problem == nil && bench.record(id).holder == nil)
    }
}
