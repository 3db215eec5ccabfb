import FoundationEssentials
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCore
@testable import SyncEngine

@Suite struct RetentionOutlookTests {
    private static let day = 86_400.0

    private let bench: Bench
    private let outlook = RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90)

    /// An event of the tenth day of 1970, at ten.
    init() throws {
        bench = try Bench()
        bench.disk.write("events", to: Bench.gallery.appending("events.json"))
        try bench.scan()
        let claim = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
        let event = GalleryEvent(
            index: 0, id: "e1", userID: "u1", profileID: "p1", type: .taskResponse,
            createdAt: Date(timeIntervalSince1970: 10 * Self.day + 36_000), photo: .none, isBare: false)
        _ = try bench.ledger.noteEvents([event], of: claim)
    }

    @Test(arguments: [(0.0, 0), (3_599, 0), (3_600, 1), (86_400, 1)])
    func `an event is overdue an hour after the daily cleanup that should have deleted it`(
        seconds: Double, count: Int
    ) throws {
        // It is due on the 100th day at ten, and cleaned up at the midnight after that.
        let now = Date(timeIntervalSince1970: 101 * Self.day + seconds)
        #expect(try outlook.overdue(bench.ledger, at: now) == count)
    }

    @Test func `where it stands is told with the last run and the next`() throws {
        let midnight = Date(timeIntervalSince1970: 101 * Self.day)
        let now = midnight + 7_200
        #expect(
            try outlook.status(bench.ledger, at: now)
                == RetentionStatus(events: 1, kept: 1, overdue: 1, lastRunAt: nil, nextRunAt: midnight + Self.day))
        try bench.ledger.noteDailyRun(RetentionService.task, scheduledAt: midnight, at: midnight + 60)
        #expect(try outlook.status(bench.ledger, at: now).lastRunAt == midnight + 60)
    }
}
