package import FoundationEssentials

/// How long credentials are used before others are asked for.
///
/// Figures of botocore (`credentials.py`, `RefreshableCredentials`).
package enum RefreshRule: Hashable, Sendable {
    /// They are good for a while.
    case keep
    /// One caller gets others; the rest go on with these.
    case advisory
    /// All callers wait for others.
    case mandatory
    /// These are of no use any more.
    case expired

    /// Seconds before the end.
    package static let advisoryMargin: TimeInterval = 15 * 60
    package static let mandatoryMargin: TimeInterval = 10 * 60
    /// Seconds from one try to the next while the old ones still work: the source may be down, or hand out the same
    /// again until they end.
    package static let pause: TimeInterval = 60

    package init(expiration: Date?, now: Date) {
        let left = expiration?.timeIntervalSince(now) ?? .infinity
        self =
            if left <= 0 {
                .expired
            } else if left <= Self.mandatoryMargin {
                .mandatory
            } else if left <= Self.advisoryMargin {
                .advisory
            } else {
                .keep
            }
    }
}
