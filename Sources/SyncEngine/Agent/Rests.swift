import FoundationEssentials
import SyncCore

/// What is left alone for a while because something of it did not work: each time in a row for twice as long. One odd answer
/// of a store costs little; what is refused for ever is asked for now and then.
struct Rests<Key: Hashable & Sendable, Attempt: Hashable & Sendable>: Sendable {
    private struct Rest {
        let attempt: Attempt
        let from: Date
        let length: TimeInterval
    }

    private var rests: [Key: Rest] = [:]

    /// Whether the same attempt rests. One of another kind, or with other means, is made at once.
    func holds(_ key: Key, _ attempt: Attempt, at now: Date) -> Bool {
        guard let rest = rests[key], rest.attempt == attempt else { return false }
        // One that began later than now is of a clock that was set back since.
        return (0..<rest.length).contains(now.timeIntervalSince(rest.from))
    }

    /// Notes that an attempt failed.
    /// - Parameter lengths: seconds that it rests at first, and at most.
    /// - Returns: the seconds that it rests.
    @discardableResult
    mutating func add(
        _ key: Key, _ attempt: Attempt, at now: Date, for lengths: ClosedRange<TimeInterval>
    ) -> TimeInterval {
        let last = rests[key].flatMap { $0.attempt == attempt ? $0.length : nil }
        let length = min(last.map { $0 * 2 } ?? lengths.lowerBound, lengths.upperBound)
        rests[key] = Rest(attempt: attempt, from: now, length: length)
        return length
    }

    mutating func end(_ key: Key) { rests[key] = nil }
}
