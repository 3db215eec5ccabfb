package import FoundationEssentials
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
        let outage = Lock<StoreError?>(nil)
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
                case .refused(let error): outcomes[.failed(item.words(of: error)), default: []].append(item.id)
                case .notNow(let error):
                    let isItLate = try isLate[item.job] ?? Self.isLate(item.job, in: ledger, at: now)
                    isLate[item.job] = isItLate
                    if isItLate { outcomes[.failed(item.words(of: error)), default: []].append(item.id) }
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
            outcome.note = item.noting("\(tier.rawValue) is currently unavailable; standard was requested")
            return outcome
        } catch let error as StoreError where error.code == .notArchived {
            guard let info = try await store.head(item.key), !info.storageClass.isArchive else { throw error }
            let note = item.noting("it is in \(info.storageClass) and can be read")
            return RestoreOutcome(state: .restored, note: note)
        }
    }
}

/// Follows restore jobs to their end: sends what is planned, asks the store how far it is, seldom at first and oftener
/// near the end, and notes what can be read, has failed, or is archived again.
///
/// All that it knows is in the ledger, so that it goes on after a restart where it was, and several processes may follow
/// the same jobs: a look that one has taken counts for all.
package struct RestorePoller: Sendable {
    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let sender: RestoreSender
    private let interval: Duration
    private let time: TimeSource

    /// - Parameter interval: of the looks near the end of a restore.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, sender: RestoreSender, interval: Duration, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.sender = sender
        self.interval = interval
        self.time = time
    }

    /// What a round has come to.
    package struct Outlook: Sendable {
        /// When the next round is due; `nil` when no job is open.
        package var next: Date?
        /// What the store has said where it should have told how far an object is. It is asked again.
        package var unanswered: [StoreError] = []
    }

    /// One round over all open jobs, or over one.
    /// - Parameter isUrgent: looks at every job whether its time has come or not.
    /// - Throws: ``StoreError`` when the store as a whole is away, ``LedgerError``, `CancellationError`. A store that takes
    ///   no requests is asked how far the others are all the same.
    package func step(job: RestoreJobID? = nil, isUrgent: Bool = false) async throws -> Outlook {
        _ = try await ledger { try $0.expireRestores(at: time.now()) }
        // Why what is left could not be sent.
        var refusal: StoreError?
        do { try await sender.run(job: job) } catch let error as StoreError { refusal = error }
        // What was sent just now is not in the future.
        let now = time.now()
        let due = try await openJobs(job).filter { isUrgent || nextPoll($0, at: now) <= now }
        var items: [RestoreItem] = []
        for job in due {
            let open = try await ledger { try $0.retrievingItems(of: job.id) }
            if isUrgent {
                items += open
            } else if try await isWorthPolling(job, open) {
                items += open
            }
        }
        let unanswered = items.isEmpty ? [] : try await check(items)
        let polled = due.map(\.id)
        if !polled.isEmpty {
            try await ledger { ledger in
                for job in polled { try ledger.notePoll(at: job, now) }
            }
        }
        if let refusal { throw refusal }
        let next = try await openJobs(job).map { min(nextPoll($0, at: now), $0.claimableAt ?? .distantFuture) }.min()
        return Outlook(next: next, unanswered: unanswered)
    }

    private func openJobs(_ job: RestoreJobID?) async throws -> [OpenRestoreJob] {
        try await ledger { try $0.openRestoreJobs() }.filter { job == nil || $0.id == job }
    }

    // MARK: When

    private func nextPoll(_ job: OpenRestoreJob, at now: Date) -> Date {
        schedule(job.slowest.tier, job.slowest.storageClass)
            .nextPoll(requestedAt: job.requestedAt, lastPolled: job.polledAt, now: now)
    }

    private func schedule(_ tier: RestoreTier, _ storageClass: StorageClass) -> PollSchedule {
        store.capabilities.restoreDuration.map { PollSchedule(expected: $0, interval: interval) }
            ?? PollSchedule(tier, of: storageClass, interval: interval)
    }

    /// Long before its usual time a job is looked at by one object of each class and tier: as long as none of them is
    /// there, the others are not asked for.
    private func isWorthPolling(_ job: OpenRestoreJob, _ items: [RestoreItem]) async throws -> Bool {
        let slowest = schedule(job.slowest.tier, job.slowest.storageClass)
        guard slowest.isEarly(time.now(), requestedAt: job.requestedAt) else { return true }
        let kinds = Dictionary(grouping: items) { OpenRestoreJob.Kind(storageClass: $0.storageClass, tier: $0.tier) }
        let samples = kinds.values.compactMap(\.first)
        let findings = try await ObjectStateQuery(store: store, knownObjects: 0).sample(samples.map(\.key))
        let now = time.now()
        return samples.contains { sample in
            findings[sample.key].map { outcome(of: sample, $0, .gone, at: now) != nil } ?? false
        }
    }

    // MARK: Looking

    /// - Returns: what the store has said where it should have told.
    private func check(_ items: [RestoreItem]) async throws -> [StoreError] {
        let known = try await ledger { try $0.overview().tiers.reduce(0) { $0 + $1.objects } }
        let findings = try await ObjectStateQuery(store: store, knownObjects: known)
            .states(of: Set(items.map(\.key)), tellingRestores: true)
        let gone = try await gone(of: findings)
        let now = time.now()
        var outcomes: [RestoreOutcome: [Int64]] = [:]
        var unanswered: [ObjectKey: StoreError] = [:]
        for item in items {
            guard let finding = findings[item.key] else { continue }
            if let outcome = outcome(of: item, finding, gone[item.key], at: now) {
                outcomes[outcome, default: []].append(item.id)
            } else if case .failed(let error) = finding {
                unanswered[item.key] = error
            }
        }
        let found = outcomes
        try await ledger { ledger in
            for (outcome, items) in found { try ledger.note(outcome, of: items, at: now) }
        }
        return unanswered.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Those of the objects that were not found that a listing does not have either: one odd answer costs nobody the
    /// restore that was paid for.
    private func gone(
        of findings: [ObjectKey: ObjectStateQuery.Finding]
    ) async throws -> [ObjectKey: RestoreItem.Ruin] {
        let audit = ObjectAudit(store: store, ledger: ledger, time: time)
        var gone: [ObjectKey: RestoreItem.Ruin] = [:]
        for case (let key, .missing) in findings {
            let version = try await audit.recheck(key)
            let known = try await ledger { try $0.object(key) }
            if known == nil || known?.problem == .missing { gone[key] = version == nil ? .gone : .setAside }
        }
        return gone
    }

    /// What an answer says that is none, such as a refusal, counts only when the restore should be over for long: it may
    /// be the network's, and the store still works on what was asked of it. Its own record says the same each time.
    /// - Returns: `nil` as long as there is nothing new.
    private func outcome(
        of item: RestoreItem, _ finding: ObjectStateQuery.Finding, _ ruin: RestoreItem.Ruin?, at now: Date
    ) -> RestoreOutcome? {
        let isOverdue =
            item.requestedAt.map { schedule(item.tier, item.storageClass).isOverdue(now, requestedAt: $0) } ?? false
        switch finding {
        case .missing: return ruin.map { RestoreOutcome.failed(item.endWords($0)) }
        case .failed(let error):
            let isFinal = error.isOfRecord || isOverdue && !error.isTransient
            return isFinal ? .failed(item.words(of: error)) : nil
        case .found(let info):
            switch info.restore {
            case .restored(let until): return RestoreOutcome(state: .restored, expiresAt: until)
            case .inProgress: return nil
            case .none:
                if !info.storageClass.isArchive, !info.isInArchiveTier { return RestoreOutcome(state: .restored) }
                return isOverdue ? .failed("the store no longer knows of this restore; ask for it again") : nil
            }
        }
    }
}
