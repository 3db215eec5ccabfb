package import FoundationEssentials

/// By how much the store's clock is ahead of ours, in words.
package struct ClockDifference: Hashable, Sendable {
    private let seconds: Int

    /// - Parameter seconds: negative where ours is ahead.
    package init(seconds: TimeInterval) {
        self.seconds = Int(seconds.rounded())
    }

    package func message(_ endpoint: String) -> String {
        "this machine's clock is \(amount) \(seconds < 0 ? "ahead of" : "behind") that of \(endpoint), which refuses it; "
            + "set the clock, or let NTP do it (timedatectl set-ntp true)"
    }

    /// The two largest units.
    private var amount: String {
        let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
        var rest = abs(seconds)
        let parts = units.compactMap { size, name -> String? in
            defer { rest %= size }
            return rest >= size ? "\(rest / size) \(name)" : nil
        }
        return parts.isEmpty ? "0 s" : parts.prefix(2).joined(separator: " ")
    }
}
