import FoundationEssentials
import SyncCore

/// Days and moments in words: capture times as the clock of the place showed them, all else in UTC.
enum PageDates {
    static func day(_ day: CalendarDay) -> String {
        "\(day.day) \(month(day)) \(day.year)"
    }

    /// `15–22 June 2024`: what both days have in common is said once.
    static func range(_ start: CalendarDay, _ end: CalendarDay) -> String {
        if start == end { return day(start) }
        if start.year != end.year { return "\(day(start)) – \(day(end))" }
        if start.month != end.month { return "\(start.day) \(month(start)) – \(day(end))" }
        return "\(start.day)–\(day(end))"
    }

    /// `15 June 2024, 14:03`.
    static func moment(_ date: Date) -> String {
        let minutes = Int((date.timeIntervalSince1970 / 60).rounded(.down))
        let ofDay = (minutes % 1_440 + 1_440) % 1_440
        return "\(day(CalendarDay(date))), \(padded(ofDay / 60)):\(padded(ofDay % 60))"
    }

    /// `15 June 2024, 07:30`.
    static func moment(_ time: CaptureTime) -> String {
        "\(day(time.day)), \(time.hourAndMinute)"
    }

    /// For `datetime` attributes and scripts: ISO 8601 in UTC, whole seconds.
    static func machine(_ date: Date) -> String {
        date.formatted(.iso8601)
    }

    private static func month(_ day: CalendarDay) -> String {
        [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ][day.month - 1]
    }

    private static func padded(_ number: Int) -> String {
        (number < 10 ? "0" : "") + String(number)
    }
}
