package import FoundationEssentials

/// A restore of one object: running, done, or expired, depending on the clock.
package struct RestoreRecord: Hashable, Sendable {
    package enum Tier: String, Hashable, Sendable, Comparable {
        case bulk = "Bulk"
        case standard = "Standard"
        case expedited = "Expedited"

        private var speed: Int {
            switch self {
            case .bulk: 0
            case .standard: 1
            case .expedited: 2
            }
        }

        /// From the slowest to the fastest.
        package static func < (left: Tier, right: Tier) -> Bool { left.speed < right.speed }
    }

    package internal(set) var tier: Tier
    /// `nil` for INTELLIGENT_TIERING, which has no expiry.
    package internal(set) var days: Int?
    package internal(set) var completes: Date
    /// Always a midnight UTC.
    package internal(set) var expiry: Date?

    func isOngoing(at now: Date) -> Bool { now < completes }

    func isReadable(at now: Date) -> Bool {
        guard !isOngoing(at: now) else { return false }
        return expiry.map { now < $0 } ?? true
    }

    /// The moment of the request and the days, rounded up to the next midnight UTC (S3 User Guide, "Restoring an
    /// archived object": asked on the 15th at 10:30 for 3 days, it is there until the 19th at 00:00).
    static func expiry(days: Int, from now: Date) -> Date {
        let day = 86_400.0
        let end = now.timeIntervalSince1970 + Double(days) * day
        return Date(timeIntervalSince1970: (end / day).rounded(.up) * day)
    }
}
