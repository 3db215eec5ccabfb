package import FoundationEssentials
package import SyncCore

/// What became of items of a restore job, or how far they are.
package struct RestoreOutcome: Hashable, Sendable {
    package var state: RestoreItemState
    /// `nil` where it stays as it was.
    package var tier: RestoreTier?
    /// Since when a restored one can be read; `nil`: since it was noted, unless an earlier moment is known.
    package var readyAt: Date?
    /// `nil` where it is not known, or stays as it was.
    package var expiresAt: Date?
    /// Why it failed, or in what it differs from what was asked for, in plain words.
    package var note: String?

    package init(
        state: RestoreItemState, tier: RestoreTier? = nil, readyAt: Date? = nil, expiresAt: Date? = nil,
        note: String? = nil
    ) {
        self.state = state
        self.tier = tier
        self.readyAt = readyAt
        self.expiresAt = expiresAt
        self.note = note
    }

    package static func failed(_ reason: String) -> RestoreOutcome {
        RestoreOutcome(state: .failed, note: reason)
    }
}
