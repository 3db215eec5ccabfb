import Dispatch
import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Endings of claims on their way into the ledger.
@Suite struct EndingQueueTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        for index in 1...200 { bench.disk.write("text \(index)", to: Bench.gallery.appending("\(index).txt")) }
        try bench.scan()
    }

    private func claims(_ count: Int) throws -> [Claim] {
        let claims = try bench.ledger.claim(limit: count, at: bench.time.now)
        #expect(claims.count == count)
        return claims
    }

    private func skipped(_ claim: Claim) -> ClaimEnding { ClaimEnding(claim, .skipped("text"), at: bench.time.now) }

    @Test func `what was added is written before what is written is told to be, in its order, once each`() async throws
    {
        let told = Lock<[Int64]>([])
        let queue = EndingQueue(ledger: LedgerQueue(bench.ledger)) { ending in
            told.withLock { $0.append(ending.claim.photoID) }
        }
        let claims = try claims(200)
        for claim in claims.dropLast() { try await queue.add(skipped(claim)) }
        try await queue.write([skipped(claims[199])])
        #expect(told.withLock { $0 } == claims.map(\.photoID))
        #expect(try bench.ledger.overview().totals[.skipped].files == 200)
    }

    @Test func `what is added is written by a thread of the ledger, and by nobody's task`() async throws {
        let names = Lock<Set<String>>([])
        let queue = EndingQueue(ledger: LedgerQueue(bench.ledger)) { _ in
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            names.withLock { _ = $0.insert(name ?? "unknown") }
        }
        for claim in try claims(20) { try await queue.add(skipped(claim)) }
        try await queue.write([])
        let written = names.withLock { $0 }
        #expect(!written.isEmpty)
        #expect(written.allSatisfy { $0.hasPrefix("ledger-") })
    }

    @Test func `what is behind is bounded`() async throws {
        let added = Lock(0)
        let most = Lock(0)
        let queue = EndingQueue(ledger: LedgerQueue(bench.ledger)) { _ in added.withLock { $0 -= 1 } }
        for claim in try claims(200) {
            added.withLock { $0 += 1 }
            try await queue.add(skipped(claim))
            let behind = added.withLock { $0 }
            most.withLock { $0 = max($0, behind) }
        }
        try await queue.write([])
        #expect(most.withLock { $0 } <= EndingQueue.capacity)
        #expect(added.withLock { $0 } == 0)
    }

    @Test func `a ledger that fails is told to everybody, and forgotten with a new beginning`() async throws {
        let tree = try TemporaryTree()
        let ledger = try Ledger(at: tree.path("ledger.sqlite"))
        _ = try ledger.register([WatchedFolder(kind: .gallery, path: Bench.gallery)])
        let claim = try claims(1)[0]
        let told = Lock(0)
        let queue = EndingQueue(ledger: LedgerQueue(ledger)) { _ in told.withLock { $0 += 1 } }
        try await queue.write([skipped(claim)])
        try ledger.close()
        await #expect(throws: LedgerError.self) { try await queue.write([skipped(claim)]) }
        await #expect(throws: LedgerError.self) { try await queue.add(skipped(claim)) }
        await #expect(throws: LedgerError.self) { try await queue.write([]) }
        #expect(told.withLock { $0 } == 1)
        queue.reset()
        try await queue.write([])
        await #expect(throws: LedgerError.self) { try await queue.write([skipped(claim)]) }
    }

    @Test func `a run ends when the last ending cannot be written, and nobody adds another`() async throws {
        let tree = try TemporaryTree()
        let bench = try Bench(ledger: Ledger(at: tree.path("ledger.sqlite")))
        bench.disk.write("text", to: Bench.gallery.appending("a.txt"))
        try bench.scan()
        let gate = DispatchSemaphore(value: 0)
        bench.disk.onExamine { _ in gate.wait() }
        let pipeline = try bench.makePipeline()
        let run = Task { try await pipeline.run(.untilDone(patience: .zero)) }
        // The queue has nothing more: the end of what is in hand is all that is waited for.
        _ = try await eventually("the queue was asked once more") {
            pipeline.state.withLock { $0.inHand.isEmpty || $0.isFlowing } ? nil : true
        }
        try bench.ledger.close()
        gate.signal()
        await #expect(throws: LedgerError.self) { try await run.value }
    }

    @Test func `a photo that is claimed anew before its first end is noted stays in hand`() throws {
        let first = try claims(1)[0]
        var state = PipelineState()
        state.note(.photos([first]))
        try bench.ledger.commit(first, outcome: .released, at: bench.time.now)
        guard case .photos(let again) = try bench.ledger.claimNext(at: bench.time.now),
            again[0].photoID == first.photoID
        else {
            Issue.record("it is due at once")
            return
        }
        state.note(.photos(again))
        state.noteCommitted(first, .released)
        #expect(state.inHand.values.map(\.attemptID) == [again[0].attemptID])
    }
}
