/// How long films last, to the millisecond.
extension Duration {
    package var inMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }

    /// Seconds with three decimals, as `12.345`.
    package var secondsText: String { "\(inMilliseconds / 1_000).\((inMilliseconds % 1_000).padded(to: 3))" }

    /// Reads ``secondsText``, and other spellings of a number of seconds; `nil` for what no film lasts.
    package init?(secondsText text: String) {
        guard let seconds = Double(text), seconds > 0, seconds < 1e8 else { return nil }
        self = .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    /// Of a film, as others tell it; `nil` for what no film lasts.
    package init?(filmMilliseconds milliseconds: Int64) {
        guard (0..<100_000_000_000).contains(milliseconds) else { return nil }
        self = .milliseconds(milliseconds)
    }

    /// As players show it, to the second: `0:07`, `12:30`, `1:02:03`. What is shorter than a second counts as one.
    package var clockText: String {
        let seconds = max((inMilliseconds + 500) / 1_000, 1)
        let (hours, minutes, end) = (seconds / 3_600, seconds / 60 % 60, (seconds % 60).padded(to: 2))
        return hours > 0 ? "\(hours):\(minutes.padded(to: 2)):\(end)" : "\(minutes):\(end)"
    }
}
