import FoundationEssentials
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

/// How an idle agent sees what other processes put into its ledger.
@Suite struct LedgerGlanceTests {
    private let tree: TemporaryTree
    private let ledger: LedgerQueue
    private let other: Ledger
    /// Long after all that is written here.
    private let time = ManualTime(start: Date().addingTimeInterval(3_600))

    init() throws {
        tree = try TemporaryTree()
        ledger = LedgerQueue(try Ledger(at: tree.path("ledger.sqlite")))
        other = try Ledger(at: tree.path("ledger.sqlite"))
    }

    private func glance() async -> LedgerGlance { await LedgerGlance(ledger, time: time.source) }

    /// Lets so many looks find nothing.
    private func pass(_ looks: Int, every interval: Duration = .seconds(5)) async {
        for _ in 0..<looks {
            await time.waitForSleepers()
            await time.advance(by: interval)
        }
    }

    @Test func `it looks on until somebody has written`() async throws {
        let glance = await glance()
        async let end: Void = glance.wait(lookingEvery: .seconds(5), orFor: Wakeup())
        await pass(3)
        await time.waitForSleepers()
        try other.noteSync(at: time.now)
        await time.advance(by: .seconds(5))
        await end
        #expect(time.sleeps == Array(repeating: .seconds(5), count: 4))
    }

    @Test func `what was written while the ledger was read is new`() async throws {
        let glance = await glance()
        try other.noteSync(at: time.now)
        async let end: Void = glance.wait(lookingEvery: .seconds(5), orFor: Wakeup())
        await pass(1)
        await end
        #expect(time.sleeps == [.seconds(5)])
    }

    @Test func `after ten minutes the ledger is read, whether somebody has written or not`() async {
        let glance = await glance()
        async let end: Void = glance.wait(lookingEvery: .seconds(60), orFor: Wakeup())
        await pass(10, every: .seconds(60))
        await end
        #expect(time.sleeps.count == 10)
    }

    @Test func `what is due by the clock is not late`() async {
        let glance = await glance()
        let due = time.now.addingTimeInterval(12)
        async let end: Void = glance.wait(lookingEvery: .seconds(5), orFor: Wakeup(), until: due)
        await pass(3)
        await end
        #expect(time.sleeps == [.seconds(5), .seconds(5), .seconds(2)])
    }

    @Test func `a ledger whose files tell nothing is read each time`() async throws {
        let glance = await LedgerGlance(LedgerQueue(try .inMemory()), time: time.source)
        async let end: Void = glance.wait(lookingEvery: .seconds(5), orFor: Wakeup())
        await pass(1)
        await end
        #expect(time.sleeps.count == 1)
    }

    @Test func `work of this process does not wait for the next look`() async {
        let (glance, work) = (await glance(), Wakeup())
        async let end: Void = glance.wait(lookingEvery: .seconds(5), orFor: work)
        await pass(2)
        await time.waitForSleepers()
        work.signal()
        await end
        #expect(time.sleeps.count == 3)
    }
}
