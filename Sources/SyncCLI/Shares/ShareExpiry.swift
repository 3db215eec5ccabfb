import ArgumentParser
import FoundationEssentials
import Glibc
import SyncCore

/// How long a share lasts, as people write it: `30d`, `12h`, `45min`, or its last day, `2026-12-31`.
enum ShareExpiry: Hashable, Sendable {
    /// Seconds.
    case after(TimeInterval)
    /// To the end of that day, in the time zone of this machine.
    case day(CalendarDay)

    /// Ten years.
    static let longest: TimeInterval = 3_650 * 86_400

    init?(_ text: String) {
        if let day = CalendarDay(text) {
            self = .day(day)
            return
        }
        let digits = text.prefix { ("0"..."9").contains($0) }
        let units: [Substring: TimeInterval] = ["d": 86_400, "h": 3_600, "min": 60]
        guard let count = Int(digits), count > 0, let unit = units[text.dropFirst(digits.count)],
            Double(count) * unit <= Self.longest
        else { return nil }
        self = .after(Double(count) * unit)
    }

    func end(from now: Date) -> Date {
        switch self {
        case .after(let seconds): return now.addingTimeInterval(seconds)
        case .day(let day):
            // mktime(3) finds out about summer time, and takes the 32nd for the next month's first.
            var parts = tm()
            parts.tm_year = Int32(day.year - 1_900)
            parts.tm_mon = Int32(day.month - 1)
            parts.tm_mday = Int32(day.day + 1)
            parts.tm_isdst = -1
            return Date(timeIntervalSince1970: Double(mktime(&parts)))
        }
    }
}

extension ShareExpiry: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}
