import Foundation
import Glibc
import Logging
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RetentionServiceTests {
    /// Counts the runs, each of which takes the lock.
    private final class Runs: Sendable {
        private let moments = Lock<[Date]>([])

        func note(_ moment: Date) { moments.withLock { $0.append(moment) } }
        var all: [Date] { moments.withLock { $0 } }
    }

    private let runs = Runs()
    /// So many times the disk is full when the lock is to be taken.
    private let failures = Lock(0)

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    /// Runs the service while the test does something.
    private func serve(
        _ bench: RetentionBench, at time: (hour: Int, minute: Int), in zone: String, isScanned: Bool = true,
        _ body: () async throws -> Void
    ) async throws {
        let lock = bench.tree.path("cleanup.lock")
        let schedule = DailySchedule(hour: time.hour, minute: time.minute, in: try #require(TimeZone(identifier: zone)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = RetentionService(
            try bench.retention(), days: 90, schedule: schedule,
            ledger: LedgerQueue(bench.ledger),
            hold: { [runs, failures, time = bench.time] in
                let fails = failures.withLock { left in
                    defer { left = max(left - 1, 0) }
                    return left > 0
                }
                if fails { throw Errno.noSpace }
                let held = try AgentLock(at: lock, pid: getpid(), now: time.now)
                runs.note(time.now)
                return held
            },
            patience: LedgerPatience(
                ledger: LedgerQueue(bench.ledger),
                time: bench.time.source, logger: logger),
            time: bench.time.source, logger: logger)
        if isScanned { try bench.ledger.noteScan(bench.folder.id, problem: nil, at: bench.time.now) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            await bench.time.waitForSleepers()
            try await body()
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func advance(_ bench: RetentionBench, hours: Int) async {
        for _ in 0..<hours * 6 {
            await bench.time.advance(by: .seconds(600))
            await bench.time.waitForSleepers()
        }
    }

    @Test(arguments: [
        ("America/Los_Angeles", 2, 30, "2026-03-06T12:00:00Z"), ("America/Los_Angeles", 1, 30, "2026-10-30T12:00:00Z"),
        ("Europe/Berlin", 0, 0, "2025-12-29T12:00:00Z"), ("America/Sao_Paulo", 0, 0, "2018-11-02T12:00:00Z"),
        ("Australia/Lord_Howe", 2, 15, "2026-10-01T12:00:00Z"),
    ])
    func `a day has one run, through changes of the clock and the end of the year`(
        zone: String, hour: Int, minute: Int, start: String
    ) async throws {
        let bench = try RetentionBench(start: try Self.date(start))
        try bench.ledger.noteDailyRun(RetentionService.task, scheduledAt: bench.start, at: bench.start)
        try await serve(bench, at: (hour, minute), in: zone) { await advance(bench, hours: 3 * 24) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        #expect(runs.all.count == 3)
        #expect(Set(runs.all.map { calendar.dateComponents([.month, .day], from: $0) }).count == 3)
    }

    @Test func `a first run waits until the folders were looked at: before, nothing tells whether the clock is right`()
        async throws
    {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        try await serve(bench, at: (0, 0), in: "UTC", isScanned: false) {
            await advance(bench, hours: 1)
            #expect(runs.all.isEmpty)
            try bench.ledger.noteScan(bench.folder.id, problem: nil, at: bench.time.now)
            await advance(bench, hours: 1)
        }
        #expect(runs.all.count == 1)
    }

    @Test func `a missed run is made up at the start, once for all days`() async throws {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        let last = try Self.date("2026-06-06T00:00:00Z")
        try bench.ledger.noteDailyRun(RetentionService.task, scheduledAt: last, at: last)
        try await serve(bench, at: (0, 0), in: "UTC") { await advance(bench, hours: 8) }
        #expect(runs.all == [bench.start])
        #expect(try bench.isArchived("e1"))
        #expect(try bench.files() == [])
        #expect(try bench.ledger.dailyRun(RetentionService.task)?.scheduledAt == Self.date("2026-06-10T00:00:00Z"))
        // A restart on the same day does nothing.
        try await serve(bench, at: (0, 0), in: "UTC") {}
        #expect(runs.all.count == 1)
    }

    @Test func `an outage is waited for, and the run is then done once`() async throws {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        bench.store.add(StoreFault(.put, numbers: 1...4, .failBefore(.unreachable)))
        try await serve(bench, at: (0, 0), in: "UTC") { await advance(bench, hours: 8) }
        #expect(runs.all.count == 5)
        #expect(try bench.isArchived("e1"))
    }

    @Test func `a cleanup by hand is waited for`() async throws {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        var byHand: AgentLock? = try AgentLock(at: bench.tree.path("cleanup.lock"), pid: getpid(), now: bench.start)
        try await serve(bench, at: (0, 0), in: "UTC") {
            await advance(bench, hours: 1)
            #expect(runs.all.isEmpty && byHand != nil)
            byHand = nil
            await advance(bench, hours: 1)
        }
        #expect(runs.all.count == 1)
    }

    @Test func `a lock that cannot be taken is tried again later, and ends no agent`() async throws {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        failures.withLock { $0 = 3 }
        try await serve(bench, at: (0, 0), in: "UTC") { await advance(bench, hours: 8) }
        #expect(failures.withLock { $0 } == 0)
        #expect(runs.all.count == 1)
    }

    @Test func `a clock that is before the last run stops the runs until somebody says that it is right`() async throws
    {
        let bench = try RetentionBench(start: try Self.date("2026-06-10T15:00:00Z"))
        let wrong = try Self.date("2031-01-01T00:00:00Z")
        try bench.ledger.noteDailyRun(RetentionService.task, scheduledAt: wrong, at: wrong)
        try await serve(bench, at: (0, 0), in: "UTC") { await advance(bench, hours: 24) }
        #expect(runs.all.count == 0)
        try ClockCheck(bench.ledger).accept(at: bench.time.now)
        try await serve(bench, at: (0, 0), in: "UTC") { await advance(bench, hours: 24) }
        #expect(runs.all.count == 1)
    }
}
