import FoundationEssentials
import SyncCore
import Testing

@Suite struct BandwidthTimetableTests {
    private static let mebi = 1 << 20

    /// - Parameter text: `2026-11-23 07:59`, of a clock in Berlin; the 23rd is a Monday.
    private func date(_ text: String) throws -> (Date, TimeZone) {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = calendar.date(
            from: DateComponents(
                year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4]))
        return (try #require(date), zone)
    }

    private static let daily = "08:00,512k 12:00,10M 18:00,off"
    private static let weekly = "Mon-09:00,1M Fri-18:00,off sunday-20:00,2M:4M"

    @Test(
        arguments: [
            (daily, "2026-11-23 07:59", nil, nil), (daily, "2026-11-23 08:00", 512 << 10, nil),
            (daily, "2026-11-24 11:59", 512 << 10, nil), (daily, "2026-11-24 12:00", 10 << 20, nil),
            (daily, "2026-11-29 23:59", nil, nil), (weekly, "2026-11-23 08:59", 2 << 20, 4 << 20),
            (weekly, "2026-11-23 09:00", 1 << 20, nil), (weekly, "2026-11-27 17:59", 1 << 20, nil),
            (weekly, "2026-11-28 12:00", nil, nil), (weekly, "2026-11-29 20:00", 2 << 20, 4 << 20),
            // Clocks go forward on 29 March 2026, and back on 25 October 2026.
            (daily, "2026-03-29 08:00", 512 << 10, nil), (daily, "2026-10-25 07:59", nil, nil),
            ("Wed-00:00,1M", "2026-11-23 12:00", 1 << 20, nil), ("1.5M", "2026-11-23 12:00", 1_572_864, nil),
            ("off:512KiB", "2026-11-23 12:00", nil, 512 << 10), ("off", "2026-11-23 12:00", nil, nil),
            ("08:00,1M Mon-08:01,2M", "2026-11-23 08:01", 2 << 20, nil),
            ("08:00,1M Mon-08:01,2M", "2026-11-24 08:01", 1 << 20, nil),
        ] as [(String, String, Int?, Int?)])
    func `the entry of the hour holds, by the clock on the wall`(
        text: String, time: String, upload: Int?, download: Int?
    ) throws {
        let (date, zone) = try date(time)
        let table = try BandwidthTimetable(text, atLeast: 16 << 10)
        #expect(table.rates(at: date, in: zone) == BandwidthTimetable.Rates(upload: upload, download: download))
    }

    @Test func `the lowest limit of uploads is known`() throws {
        #expect(try BandwidthTimetable(Self.daily, atLeast: 1).lowestUpload == 512 << 10)
        #expect(try BandwidthTimetable("off:1M", atLeast: 1).lowestUpload == nil)
        #expect(BandwidthTimetable(upload: 9).lowestUpload == 9)
    }

    @Test(
        arguments: [
            ("", "no rate"), ("512", "a rate has a unit"), ("08:00,512", "a rate has a unit"), ("8k", "at least 16k"),
            ("0", "off is for no limit"), ("10X", "a number with B, k, M or G"), ("1M:2M:3M", "512k:2M"),
            ("24:00,1M 08:00,2M", "a time is 08:00"), ("8:00,1M", "a time is 08:00"), ("Foo-08:00,1M", "Mon, Tue"),
            ("08:00,1M 08:00,2M", "the same time"), ("Mon-08:00,1M 08:00,2M", "the same time"),
            ("08:00,1M x", "an entry is"),
            ("9999999G", "at least 16k"), (".", "a rate has a unit"), ("Mon-Tue-08:00,1M", "a time is"),
            ("1M 2M", "an entry is"),
        ])
    func `what is none is told`(text: String, reason: String) {
        let error = #expect(throws: BandwidthTimetable.Invalid.self) { try BandwidthTimetable(text, atLeast: 16 << 10) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}
