/// How long films last, to the millisecond.
extension Duration {
    package var inMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }

    /// Seconds with three decimals, as `12.345`.
    package var secondsText: String {
        let fraction = String(inMilliseconds % 1_000)
        return "\(inMilliseconds / 1_000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }

    /// Reads ``secondsText``, and other spellings of a number of seconds; `nil` for what no film lasts.
    package init?(secondsText text: String) {
        guard let seconds = Double(text), seconds > 0, seconds < 1e8 else { return nil }
        self = .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    /// As players show it, to the second: `0:07`, `12:30`, `1:02:03`. What is shorter than a second counts as one.
    package var clockText: String {
        let seconds = max((inMilliseconds + 500) / 1_000, 1)
        func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let end = twoDigits(seconds % 60)
        return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(end)" : "\(minutes):\(end)"
    }
}
