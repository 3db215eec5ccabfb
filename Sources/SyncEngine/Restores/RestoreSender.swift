import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem

/// Sends the requests of restore jobs that were not sent yet.
///
/// A job is in the ledger before its first request, and each answer is noted when it is there: killed at any point, a
/// later run sends what is left, at once. What was sent and not noted is sent again, and the store says "already retrieving".
package struct RestoreSender: Sendable {
    private static let requestsInFlight = 8
    private static let pageSize = 200
    /// Seconds after a job was made, after which a failure that may pass is one that has not passed.
    private static let patience = 86_400.0

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let owner: ClaimOwner
    private let time: TimeSource

    package init(store: any ObjectStore, ledger: LedgerQueue, owner: ClaimOwner, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        self.owner = owner
        self.time = time
    }

    /// - Parameters:
    ///   - job: only this one's; `nil` for those of every job.
    ///   - onAnswers: told how many more were answered.
    /// - Returns: for what reasons items failed.
    /// - Throws: ``StoreError`` when the store as a whole is away: what is left stays planned. ``LedgerError``,
    ///   `CancellationError`. What was answered by then is noted.
    @discardableResult
    package func run(
        job: RestoreJobID? = nil, onAnswers: (Int) -> Void = { _ in }
    ) async throws -> Set<StoreError.Code> {
        var failures: Set<StoreError.Code> = []
        try await ledger { [owner] in try $0.releaseRestoreClaims(of: owner.hasEnded) }
        while true {
            let items = try await ledger { [owner, time] in
                try $0.claimPlannedItems(of: job, limit: Self.pageSize, by: owner.name, at: time.now())
            }
            guard !items.isEmpty else { return failures }
            let (answers, outage) = try await send(items)
            let answered = try await note(answers, of: items)
            onAnswers(answered)
            for case .refused(let error) in answers { failures.insert(error.code) }
            try Task.checkCancellation()
            if let outage { throw outage }
            // A store that answers nothing is given a rest before it gets the next ones.
            guard answered > 0 else { return failures }
        }
    }

    private enum Answer: Sendable {
        case outcome(RestoreOutcome)
        /// The item fails.
        case refused(StoreError)
        /// A failure that may pass. The item stays claimed, so that it is sent again when the claim lapses.
        case notNow(StoreError)
        /// The store is away, or the task was cancelled.
        case unasked
    }

    /// Begins no more requests once one has met a store that is away.
    private func send(_ items: [RestoreItem]) async throws -> (answers: [Answer], outage: StoreError?) {
        let outage = Mutex<StoreError?>(nil)
        let answers = try await items.concurrently(Self.requestsInFlight) { item in
            if Task.isCancelled || outage.withLock({ $0 != nil }) { return Answer.unasked }
            do {
                return .outcome(try await request(item, tier: item.tier))
            } catch let error as StoreError where !error.mayConcernOneObject {
                outage.withLock { $0 = $0 ?? error }
                return .unasked
            } catch let error as StoreError {
                return error.isTransient ? .notNow(error) : .refused(error)
            } catch is CancellationError {
                return .unasked
            }
        }
        return (answers, outage.withLock { $0 })
    }

    /// - Returns: how many items are settled.
    private func note(_ answers: [Answer], of items: [RestoreItem]) async throws -> Int {
        let now = time.now()
        return try await ledger.finish { ledger in
            var outcomes: [RestoreOutcome: [Int64]] = [:]
            var isLate: [RestoreJobID: Bool] = [:]
            for (item, answer) in zip(items, answers) {
                switch answer {
                case .outcome(let outcome): outcomes[outcome, default: []].append(item.id)
                case .refused(let error): outcomes[.failed("\(error)"), default: []].append(item.id)
                case .notNow(let error):
                    let isItLate = try isLate[item.job] ?? Self.isLate(item.job, in: ledger, at: now)
                    isLate[item.job] = isItLate
                    if isItLate { outcomes[.failed("\(error)"), default: []].append(item.id) }
                case .unasked: try ledger.releaseClaim(of: item.id)
                }
            }
            for (outcome, items) in outcomes { try ledger.note(outcome, of: items, at: now) }
            return outcomes.values.reduce(0) { $0 + $1.count }
        }
    }

    private static func isLate(_ job: RestoreJobID, in ledger: Ledger, at now: Date) throws -> Bool {
        guard let requestedAt = try ledger.restoreJob(job)?.job.requestedAt else { return true }
        return now.timeIntervalSince(requestedAt) >= patience
    }

    private func request(_ item: RestoreItem, tier: RestoreTier) async throws -> RestoreOutcome {
        let days = item.storageClass.makesTemporaryCopies ? item.days : nil
        do {
            _ = try await store.restore(item.key, RestoreRequest(days: days, tier: tier))
            return RestoreOutcome(state: .retrieving, tier: tier)
        } catch let error as StoreError where error.code == .tierUnavailable && tier != .standard {
            // No capacity for the fast tier now, or a store with one tier only. Standard is what every one has.
            var outcome = try await request(item, tier: .standard)
            outcome.note = "\(tier.rawValue) is currently unavailable; standard was requested"
            return outcome
        } catch let error as StoreError where error.code == .notArchived {
            guard let info = try await store.head(item.key), !info.storageClass.isArchive else { throw error }
            return RestoreOutcome(state: .restored, note: "it is in \(info.storageClass) and can be read")
        }
    }
}

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

    /// - Throws: ``StoreError`` when the store as a whole is away, ``LedgerError``, `CancellationError`.
    package func run(_ proposal: RestoreProposal) async throws -> [Change] {
        var changes: [Change] = []
        for group in proposal.plan.groups where group.purpose != .restore {
            changes += try await group.candidates.concurrently(Self.requestsInFlight) { candidate in
                do {
                    try await change(candidate, as: group)
                    return Change(candidate: candidate, purpose: group.purpose, error: nil)
                } catch let error as StoreError where !error.concernsWholeStore {
                    return Change(candidate: candidate, purpose: group.purpose, error: "\(error)")
                }
            }
        }
        return changes
    }

    private func change(_ candidate: RestoreCandidate, as group: RestorePlan.Group) async throws {
        let now = time.now()
        let answer = try await store.restore(candidate.key, group.request)
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
