package import FoundationEssentials

/// What is asked of a store for one archived object.
package struct RestoreRequest: Hashable, Sendable {
    /// How long the temporary copy stays, 1 or more; `nil` for a class that moves back for good (INTELLIGENT_TIERING).
    package var days: Int?
    package var tier: RestoreTier

    package init(days: Int?, tier: RestoreTier) {
        self.days = days
        self.tier = tier
    }

    /// When the temporary copy ends: so many days after the request, rounded up to the next midnight UTC (S3 User Guide,
    /// "Restoring an archived object"). `nil` without a number of days, 1 or more.
    package func end(askedAt now: Date) -> Date? {
        guard let days, days >= 1 else { return nil }
        let day = 86_400.0
        return Date(timeIntervalSince1970: ((now.timeIntervalSince1970 / day) + Double(days)).rounded(.up) * day)
    }
}

/// A store's answer to a ``RestoreRequest``. Whether the object can be read is told by its ``RestoreState`` alone.
package enum RestoreAnswer: Hashable, Sendable {
    /// Begun, made faster, or given another end.
    case accepted
    /// It is being restored, and the store changes nothing about that (S3: 409).
    case alreadyRetrieving
}
