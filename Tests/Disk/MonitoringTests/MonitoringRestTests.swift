import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncEngine

/// How rarely an agent with nothing to do reads its ledger for those who watch it.
@Suite struct MonitoringRestTests {
    private let tree: TemporaryTree
    private let ledger: LedgerQueue
    private let other: Ledger
    /// Long after all that is written here.
    private let time = ManualTime(start: Date().addingTimeInterval(3_600))
    private let lines = LogLines()
    private let free = Lock<Int64?>(10 << 30)
    /// Of each look at the disk of the ledger, whether a thread of the ledger was there for it.
    private let reads = Lock<[Bool]>([])

    init() throws {
        tree = try TemporaryTree()
        ledger = LedgerQueue(try Ledger(at: tree.path("ledger.sqlite")))
        other = try Ledger(at: tree.path("ledger.sqlite"))
    }

    private var service: MonitoringService {
        let (free, reads) = (free, reads)
        let disk = TroubleAnnouncer.Disk("/state", isOfLedger: true) {
            let thread = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            reads.withLock { $0.append(thread?.hasPrefix("ledger") ?? false) }
            return free.withLock { $0 }
        }
        let outlook = RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90)
        let pool = BlockingPool(name: "test", threads: 1)
        return MonitoringService(
            file: MetricsFile(
                at: tree.path("agent.prom"), report: MetricsReport(retention: outlook, prices: nil), ledger: ledger,
                pool: pool, time: time.source, logger: lines.logger),
            troubles: TroubleAnnouncer(
                ledger: ledger, notifiers: Notifiers([], logger: lines.logger), retention: outlook, disks: [disk],
                pool: pool, time: time.source),
            beat: nil, passes: Wakeup(), ledger: ledger, keys: .ana,
            patience: LedgerPatience(ledger: ledger, time: time.source, logger: lines.logger), time: time.source,
            logger: lines.logger)
    }

    /// Runs the service from its first round to the end of `body`.
    private func running(_ body: () async throws -> Void) async throws {
        let service = service
        let run = Task { try await service.run() }
        await endOfRound()
        try await body()
        run.cancel()
        try await run.value
    }

    private func pass(minutes: Int) async {
        for _ in 0..<minutes {
            await time.advance(by: .seconds(60))
            await endOfRound()
        }
    }

    /// Until the service sleeps for a minute. Who waits within a round, for a ledger that is busy, sleeps for less.
    private func endOfRound() async { await time.waitForSleeper(ofAtLeast: .seconds(60)) }

    /// Until a round has found nothing new: the first ones may meet what was left behind as the ledger was opened.
    private func rest() async throws {
        for _ in 1...10 {
            _ = takeReads()
            await pass(minutes: 1)
            if takeReads() == [false] { return }
        }
        throw Restless()
    }

    /// No round has found the ledger at rest.
    private struct Restless: Error {}

    private func takeReads() -> [Bool] { reads.withLock { exchange(&$0, with: []) } }

    @Test func `while nobody writes, the ledger is read every ten minutes, and the file is renewed each minute`()
        async throws
    {
        try await running {
            try await rest()
            for minute in 1...10 {
                try tree.path("agent.prom").unlink()
                await pass(minutes: 1)
                let text = try String(decoding: tree.read("agent.prom"), as: UTF8.self)
                #expect(text.hasPrefix("# HELP sync_agent_"), "\(minute)")
            }
            // The look that has found nothing new began a minute before it.
            #expect(takeReads() == Array(repeating: false, count: 8) + [true, false])
        }
    }

    @Test func `what another process has written is seen with the next round`() async throws {
        try await running {
            try await rest()
            try other.noteSync(at: time.now)
            await pass(minutes: 2)
            #expect(takeReads() == [true, false])
            let text = try String(decoding: tree.read("agent.prom"), as: UTF8.self)
            #expect(text.contains("\nsync_agent_last_success_timestamp_seconds "))
        }
    }

    @Test func `a disk that is filled is noted within a minute, though nobody writes`() async throws {
        try await running {
            try await rest()
            free.withLock { $0 = 1 }
            await pass(minutes: 1)
            let notices = try other.standingNotices().map(\.kind)
            #expect(notices == [.diskFull])
            #expect(takeReads() == [false, true])
            await pass(minutes: 2)
            #expect(takeReads() == [true, false], "its own note is read once, and then nothing is new")
        }
    }

    @Test func `while the store is away each round reads: its notice comes with the clock`() async throws {
        try other.noteStore(error: "away", reason: .unreachable, at: time.now)
        try await running {
            await pass(minutes: 6)
            #expect(takeReads() == Array(repeating: true, count: 7))
            let notices = try other.standingNotices().map(\.kind)
            #expect(notices == [.storeAway])
        }
    }
}
