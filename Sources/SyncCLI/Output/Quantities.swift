import FoundationEssentials
import Glibc
import SyncCore

/// Numbers for people. JSON never sees these.
enum Quantities {
    /// `912 B`, `4.6 MiB`: binary prefixes (IEC 80000-13), one decimal below ten.
    static func bytes(_ count: Int64) -> String {
        var value = Double(count)
        var unit = 0
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        while value >= 1_023.5, unit < units.count - 1 {
            value /= 1_024
            unit += 1
        }
        if unit == 0 || value >= 9.95 { return "\(Int(value.rounded())) \(units[unit])" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `1,204`
    static func count(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var place = digits.utf8.count - 3
        while place > 0 {
            digits.insert(",", at: digits.utf8.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return (number < 0 ? "-" : "") + digits
    }

    /// `1 photo`, `2 photos`
    static func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        number.counted(noun, plural, as: count(number))
    }

    /// `4 s`, `3 min`, `2 h 5 min`, `6 days`: rounded to what a person plans with.
    static func span(_ duration: Duration) -> String {
        let seconds = max(Int((duration / .seconds(1)).rounded()), 0)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400:
            let minutes = seconds % 3_600 / 60
            return minutes == 0 ? "\(seconds / 3_600) h" : "\(seconds / 3_600) h \(minutes) min"
        default: return counted(seconds / 86_400, "day")
        }
    }

    /// `just now`, `3 min ago`; how long ago a time was that is still to come, nobody can tell.
    static func ago(_ date: Date, now: Date) -> String {
        if date.isAhead(of: now) { return ahead(date) }
        let span = Duration.seconds(now.timeIntervalSince(date))
        return span < .seconds(1) ? "just now" : "\(self.span(span)) ago"
    }

    /// `for 3 min`; of a time that is still to come, `since 2027-11-21 21:40, later than the clock of this machine`.
    static func lasting(since date: Date, now: Date) -> String {
        date.isAhead(of: now) ? "since \(ahead(date))" : "for \(span(.seconds(now.timeIntervalSince(date))))"
    }

    /// `2027-11-21 21:40, later than the clock of this machine`
    static func ahead(_ date: Date) -> String { "\(time(date)), later than the clock of this machine" }

    /// `$0.05`, `$1,204.50`; `<$0.01` for what is not nothing.
    static func dollars(_ amount: Double) -> String {
        let cents = Int((amount * 100).rounded())
        if amount > 0, cents == 0 { return "<$0.01" }
        let part = String(cents % 100)
        return "$\(count(cents / 100)).\(part.count < 2 ? "0" + part : part)"
    }

    /// `about $0.05`, `less than $0.01`: for sentences.
    static func aboutDollars(_ amount: Double) -> String {
        let text = dollars(amount)
        return text.hasPrefix("<") ? "less than \(text.dropFirst())" : "about \(text)"
    }

    /// `2026-11-21 21:40`, in the time zone of the machine (localtime_r(3)).
    static func time(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number.padded(to: 2) }
        return "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min))"
    }

    /// `2026-11-21`, likewise.
    static func day(_ date: Date) -> String { String(time(date).prefix { $0 != " " }) }
}
