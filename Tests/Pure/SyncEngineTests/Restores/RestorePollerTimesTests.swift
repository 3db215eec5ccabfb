import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

/// When the store is asked how far it is, and what that costs, where class and tier decide how long it takes.
@Suite struct RestorePollerTimesTests {
    /// Follows all jobs for some time, at each moment that a follower names; a new one each time, as after a restart.
    private func follow(_ bench: RestoreBench, hours: Double) async throws {
        let end = bench.time.now.addingTimeInterval(hours * 3_600)
        while let due = try await bench.poller.step().next, due <= end {
            await bench.time.advance(by: .seconds(max(0.001, due.timeIntervalSince(bench.time.now))))
        }
    }

    @Test func `a bulk restore of an album costs one listing for each thousand and look, and an early look one in all`()
        async throws
    {
        let bench = try RestoreBench()
        try bench.ask(for: await bench.add(1_010))
        try await follow(bench, hours: 49)
        #expect(Set(try bench.states()) == [.restored])
        // 43 looks of two pages, and 17 early ones, after 2 seconds, 4, 8 … and at last every two hours.
        #expect(bench.store.count(.list) == 43 * 2 + 17)
        #expect(bench.store.count(.head) == 0)
        #expect(bench.store.count(.restore) == 1_010)
    }

    @Test func `a store that is done in seconds is seen to be`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(5))
        try bench.ask(for: await bench.add(30))
        try await follow(bench, hours: 1.0 / 60)
        #expect(Set(try bench.states()) == [.restored])
        #expect(bench.store.count(.head) == 0)
        #expect(bench.store.count(.list) == 3 + 1)
    }

    @Test func `where listings tell nothing of restores, what is open is asked for by name`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(5), restoresInLists: false)
        try bench.ask(for: await bench.add(30))
        try await follow(bench, hours: 1.0 / 60)
        #expect(Set(try bench.states()) == [.restored])
        #expect(bench.store.count(.head) == 3 + 30)
    }

    @Test func `what is fast is not kept waiting by what is slow`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(200))
        let slow = try await bench.add("Paris/1.jpg")
        let fast = try await bench.add("Paris/2.jpg", in: .glacier)
        bench.store.add(StoreFault(.restore, key: slow.rawValue, .failAfter(.conflict)))
        let items = [(slow, StorageClass.deepArchive, RestoreTier.standard), (fast, .glacier, .expedited)]
        _ = try bench.ledger.addRestoreJob(
            RestoreJobDraft(
                requestedBy: "ana", tier: .expedited, isRush: true, days: 7,
                items: items.map { RestoreJobDraft.Item(key: $0, size: 1, storageClass: $1, tier: $2) }),
            at: bench.time.now)
        bench.memory.setClass(.deepArchive, restore: .inProgress, of: slow)
        try await follow(bench, hours: 0.1)
        #expect(try bench.items().first { $0.key == fast }?.state == .restored)
    }

    @Test func `a look that one has taken counts for all`() async throws {
        let bench = try RestoreBench()
        try bench.ask(for: await bench.add(10))
        _ = try await bench.poller.step()
        await bench.time.advance(by: .seconds(20 * 3_600))
        _ = try await bench.poller.step()
        let calls = bench.store.calls.count
        for _ in 0..<100 { _ = try await bench.poller.step() }
        #expect(bench.store.calls.count == calls)
    }

    @Test func `a store that tells how long it takes is asked once, then`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true)
        try bench.ask(for: await bench.add(1_010))
        try await follow(bench, hours: 1)
        #expect(Set(try bench.states()) == [.restored])
        #expect(bench.store.count(.list) == 2)
        #expect(bench.store.count(.head) == 0)
    }

    @Test func `a request that is sent again is looked after soon, however often the job was looked at before`()
        async throws
    {
        let bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true)
        let job = try #require(try bench.ask(for: await bench.add(1)))
        // Whoever claimed it was killed, and others have looked since.
        _ = try bench.ledger.claimPlannedItems(of: job, limit: 1, by: "another", at: bench.time.now)
        await bench.time.advance(by: .seconds(Int(Ledger.restoreClaimSeconds) + 1))
        try bench.ledger.notePoll(at: job, bench.time.now)
        // A request takes its time.
        let ticks = Lock(0.0)
        let time = TimeSource(
            now: {
                bench.time.now.addingTimeInterval(
                    ticks.withLock { ticks in
                        ticks += 0.001
                        return ticks
                    })
            }, monotonic: bench.time.source.monotonic, sleep: bench.time.source.sleep, random: { 0.5 })
        let poller = RestorePoller(
            store: bench.store, ledger: bench.queue, sender: bench.sender, interval: RestoreBench.interval, time: time)
        let due = try #require(try await poller.step(job: job).next)
        #expect(try bench.states() == [.retrieving])
        #expect(due.timeIntervalSince(bench.time.now) < 61)
    }
}
