import FoundationEssentials
import SyncCore

/// Shares that are left alone for a while because something of them did not work: each time in a row for twice as long. One odd
/// answer of a store costs little; what is refused for ever is asked for now and then.
struct ShareRests<Attempt: Hashable & Sendable>: Sendable {
    private struct Rest {
        let attempt: Attempt
        let from: Date
        let length: TimeInterval
    }

    private var rests: [ShareID: Rest] = [:]

    /// Whether the same attempt rests. One of another kind, or with other means, is made at once.
    func holds(_ id: ShareID, _ attempt: Attempt, at now: Date) -> Bool {
        guard let rest = rests[id], rest.attempt == attempt else { return false }
        // One that began later than now is of a clock that was set back since.
        return (0..<rest.length).contains(now.timeIntervalSince(rest.from))
    }

    /// Notes that an attempt failed.
    /// - Parameter lengths: seconds that it rests at first, and at most.
    /// - Returns: the seconds that it rests.
    @discardableResult
    mutating func add(
        _ id: ShareID, _ attempt: Attempt, at now: Date, for lengths: ClosedRange<TimeInterval>
    ) -> TimeInterval {
        let last = rests[id].flatMap { $0.attempt == attempt ? $0.length : nil }
        let length = min(last.map { $0 * 2 } ?? lengths.lowerBound, lengths.upperBound)
        rests[id] = Rest(attempt: attempt, from: now, length: length)
        return length
    }

    mutating func end(_ id: ShareID) { rests[id] = nil }
}
