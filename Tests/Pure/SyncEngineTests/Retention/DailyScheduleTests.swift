import Foundation
import SyncEngine
import Testing

@Suite struct DailyScheduleTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var zone: String
        var time: (Int, Int)
        /// A moment of the schedule, and the next one.
        var moment: String
        var next: String

        var testDescription: String { "\(zone) \(time.0):\(time.1) \(moment)" }
    }

    private static func schedule(_ zone: String, _ hour: Int, _ minute: Int) throws -> DailySchedule {
        DailySchedule(hour: hour, minute: minute, in: try #require(TimeZone(identifier: zone)))
    }

    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    // From the tz database.
    static let rows = [
        Row(zone: "UTC", time: (0, 0), moment: "2025-12-31T00:00:00Z", next: "2026-01-01T00:00:00Z"),
        Row(zone: "Asia/Kolkata", time: (0, 0), moment: "2026-05-31T18:30:00Z", next: "2026-06-01T18:30:00Z"),
        // Put forward from 02:00 to 03:00, and back.
        Row(zone: "America/Los_Angeles", time: (2, 30), moment: "2026-03-08T10:00:00Z", next: "2026-03-09T09:30:00Z"),
        Row(zone: "America/Los_Angeles", time: (3, 0), moment: "2026-03-08T10:00:00Z", next: "2026-03-09T10:00:00Z"),
        Row(zone: "America/Los_Angeles", time: (1, 30), moment: "2026-11-01T08:30:00Z", next: "2026-11-02T09:30:00Z"),
        Row(zone: "America/Los_Angeles", time: (0, 0), moment: "2026-01-01T08:00:00Z", next: "2026-01-02T08:00:00Z"),
        Row(zone: "Europe/Berlin", time: (2, 30), moment: "2026-03-29T01:00:00Z", next: "2026-03-30T00:30:00Z"),
        Row(zone: "Europe/Berlin", time: (2, 30), moment: "2026-10-25T00:30:00Z", next: "2026-10-26T01:30:00Z"),
        // By half an hour.
        Row(zone: "Australia/Lord_Howe", time: (2, 15), moment: "2026-10-03T15:30:00Z", next: "2026-10-04T15:15:00Z"),
        Row(zone: "Australia/Lord_Howe", time: (1, 45), moment: "2026-04-04T14:45:00Z", next: "2026-04-05T15:15:00Z"),
        // At midnight: from 00:00 to 01:00, and from 00:00 back to 23:00 of the day before.
        Row(zone: "America/Sao_Paulo", time: (0, 0), moment: "2018-11-04T03:00:00Z", next: "2018-11-05T02:00:00Z"),
        Row(zone: "America/Sao_Paulo", time: (0, 0), moment: "2018-02-18T03:00:00Z", next: "2018-02-19T03:00:00Z"),
        Row(zone: "America/Sao_Paulo", time: (23, 30), moment: "2018-02-18T01:30:00Z", next: "2018-02-19T02:30:00Z"),
        Row(zone: "Asia/Beirut", time: (0, 0), moment: "2022-03-26T22:00:00Z", next: "2022-03-27T21:00:00Z"),
        // A day that was left out.
        Row(zone: "Pacific/Apia", time: (9, 0), moment: "2011-12-29T19:00:00Z", next: "2011-12-30T19:00:00Z"),
    ]

    @Test(arguments: rows)
    func `a moment comes once, whatever the clocks do`(row: Row) throws {
        let schedule = try Self.schedule(row.zone, row.time.0, row.time.1)
        let (moment, next) = (try Self.date(row.moment), try Self.date(row.next))
        #expect(schedule.last(upTo: moment) == moment)
        #expect(schedule.last(upTo: moment - 1) < moment)
        #expect(schedule.next(after: moment - 1) == moment)
        #expect(schedule.next(after: moment) == next)
        #expect(schedule.last(upTo: next - 1) == moment)
    }

    @Test(arguments: [
        ("America/Los_Angeles", 2, 30), ("America/Los_Angeles", 1, 30), ("Europe/Berlin", 2, 0),
        ("Australia/Lord_Howe", 2, 10), ("America/Sao_Paulo", 0, 0), ("Asia/Beirut", 0, 0), ("America/Havana", 0, 30),
        ("Africa/Casablanca", 2, 30),
    ])
    func `a clock that is looked at each minute for two years runs once on each day`(
        zone: String, hour: Int, minute: Int
    ) throws {
        let schedule = try Self.schedule(zone, hour, minute)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        let start = try Self.date("2017-12-30T12:00:00Z")
        var next = schedule.next(after: start)
        var days: [DateComponents] = []
        let minutes = 730 * 24 * 60
        var due = next.timeIntervalSince(start) / 60
        for minute in 1...minutes where Double(minute) >= due {
            let now = start + Double(minute) * 60
            #expect(schedule.last(upTo: now) == next)
            days.append(calendar.dateComponents([.year, .month, .day], from: next))
            next = schedule.next(after: now)
            due = next.timeIntervalSince(start) / 60
        }
        #expect(days.count == 730)
        #expect(Set(days).count == 730)
    }
}
