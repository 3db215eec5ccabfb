import FoundationEssentials
import Glibc
import SyncCore

/// Moments as RFC 9110, 5.6.7 writes them: `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func text(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(days[Int(parts.tm_wday)]), \(parts.tm_mday.padded(to: 2)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1_900) \(clock) GMT"
    }
}
