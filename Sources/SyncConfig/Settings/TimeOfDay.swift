/// A time on the 24-hour clock, to the minute.
package struct TimeOfDay: Hashable, Sendable, CustomStringConvertible {
    package let hour: Int
    package let minute: Int

    init(hour: Int, minute: Int) {
        self.hour = hour
        self.minute = minute
    }

    /// Reads `HH:MM`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        self.init(hour: hour, minute: minute)
    }

    package var description: String {
        [hour, minute].map { ($0 < 10 ? "0" : "") + String($0) }.joined(separator: ":")
    }
}
