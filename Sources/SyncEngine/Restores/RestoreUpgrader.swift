import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Changes restores that are under way or done: a faster tier, or a later end.
package struct RestoreUpgrader: Sendable {
    /// One object, and what came of the change.
    package struct Change: Sendable {
        package let candidate: RestoreCandidate
        package let purpose: RestorePlan.Group.Purpose
        /// In plain words; `nil` when it was done.
        package let error: String?
    }

    private static let requestsInFlight = 8

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let time: TimeSource

    package init(store: any ObjectStore, ledger: LedgerQueue, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        self.time = time
    }

    /// - Throws: ``StoreError`` when the store as a whole is away, or changes none; ``LedgerError``,
    ///   `CancellationError`.
    package func run(_ proposal: RestoreProposal) async throws -> [Change] {
        var changes: [Change] = []
        let denied = DeniedObjects()
        for group in proposal.plan.groups where group.purpose != .restore {
            changes += try await group.candidates.concurrently(Self.requestsInFlight) { candidate in
                let error: StoreError?
                switch try await denied.ask({ try await change(candidate, as: group) }) {
                case .success: error = nil
                case .failure(let failure): error = failure
                }
                return Change(candidate: candidate, purpose: group.purpose, error: error.map { "\($0)" })
            }
        }
        return changes
    }

    private func ask(for candidate: RestoreCandidate, as group: RestorePlan.Group) async throws -> RestoreAnswer {
        do {
            return try await store.restore(candidate.key, group.request)
        } catch let error as StoreError where error.code == .tierUnavailable && group.purpose == .longer {
            // Of a copy that is there, no tier changes anything, and some stores have standard alone.
            let request = RestoreRequest(days: group.request.days, tier: .standard)
            return try await store.restore(candidate.key, request)
        }
    }

    private func change(_ candidate: RestoreCandidate, as group: RestorePlan.Group) async throws {
        let now = time.now()
        let answer = try await ask(for: candidate, as: group)
        guard answer == .accepted else {
            throw StoreError(
                .conflict, operation: "restore", key: candidate.key.rawValue,
                message: group.purpose == .longer
                    ? "it is being restored, and can be given another end when that is done"
                    : "it is being restored, and the store does not make it faster, or has done so already")
        }
        switch group.purpose {
        case .restore, .faster:
            try await ledger.finish { ledger in
                guard let item = try ledger.openRestoreItem(for: candidate.key) else { return }
                try ledger.note(RestoreOutcome(state: .retrieving, tier: group.request.tier), of: [item.id], at: now)
            }
        case .longer:
            guard let info = try await store.head(candidate.key), case .restored(let end) = info.restore else { return }
            try await ledger { ledger in
                _ = try ledger.mergeReport([info], tellsRestores: true, at: now)
                try ledger.noteExtended(candidate.key, until: end)
            }
        }
    }
}
