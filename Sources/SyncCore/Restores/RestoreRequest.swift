/// What is asked of a store for one archived object.
package struct RestoreRequest: Hashable, Sendable {
    /// How long the temporary copy stays, 1 or more; `nil` for a class that moves back for good (INTELLIGENT_TIERING).
    package var days: Int?
    package var tier: RestoreTier

    package init(days: Int?, tier: RestoreTier) {
        self.days = days
        self.tier = tier
    }
}

/// A store's answer to a ``RestoreRequest``. Whether the object can be read is told by its ``RestoreState`` alone.
package enum RestoreAnswer: Hashable, Sendable {
    /// Begun, made faster, or given another end.
    case accepted
    /// It is being restored, and the store changes nothing about that (S3: 409).
    case alreadyRetrieving
}
