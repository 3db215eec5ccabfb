package import FoundationEssentials
package import SyncCore
package import SyncLedger

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
        let due = try await openJobs(job).filter { isUrgent || nextLook($0, at: now) <= now }
        var items: [RestoreItem] = []
        for job in due {
            let open = try await ledger { try $0.retrievingItems(of: job.id) }
            if isUrgent {
                items += open
            } else if try await isWorthALook(job, open) {
                items += open
            }
        }
        let unanswered = items.isEmpty ? [] : try await look(at: items)
        let looked = due.map(\.id)
        if !looked.isEmpty {
            try await ledger { ledger in
                for job in looked { try ledger.noteLook(at: job, now) }
            }
        }
        if let refusal { throw refusal }
        let next = try await openJobs(job).map { min(nextLook($0, at: now), $0.claimableAt ?? .distantFuture) }.min()
        return Outlook(next: next, unanswered: unanswered)
    }

    private func openJobs(_ job: RestoreJobID?) async throws -> [OpenRestoreJob] {
        try await ledger { try $0.openRestoreJobs() }.filter { job == nil || $0.id == job }
    }

    // MARK: When

    private func nextLook(_ job: OpenRestoreJob, at now: Date) -> Date {
        schedule(job.slowest.tier, job.slowest.storageClass)
            .nextPoll(requestedAt: job.requestedAt, lastPolled: job.lookedAt, now: now)
    }

    private func schedule(_ tier: RestoreTier, _ storageClass: StorageClass) -> PollSchedule {
        store.capabilities.restoreDuration.map { PollSchedule(expected: $0, interval: interval) }
            ?? PollSchedule(tier, of: storageClass, interval: interval)
    }

    /// Long before its usual time a job is looked at by one object of each class and tier: as long as none of them is
    /// there, the others are not asked for.
    private func isWorthALook(_ job: OpenRestoreJob, _ items: [RestoreItem]) async throws -> Bool {
        let slowest = schedule(job.slowest.tier, job.slowest.storageClass)
        guard slowest.isEarly(time.now(), requestedAt: job.requestedAt) else { return true }
        let kinds = Dictionary(grouping: items) { OpenRestoreJob.Kind(storageClass: $0.storageClass, tier: $0.tier) }
        let samples = kinds.values.compactMap(\.first)
        let findings = try await ObjectStateQuery(store: store, knownObjects: 0).sample(samples.map(\.key))
        let now = time.now()
        return samples.contains { sample in
            findings[sample.key].map { outcome(of: sample, $0, isGone: true, at: now) != nil } ?? false
        }
    }

    // MARK: Looking

    /// - Returns: what the store has said where it should have told.
    private func look(at items: [RestoreItem]) async throws -> [StoreError] {
        let known = try await ledger { try $0.overview().tiers.reduce(0) { $0 + $1.objects } }
        let findings = try await ObjectStateQuery(store: store, knownObjects: known)
            .look(at: Set(items.map(\.key)), tellingRestores: true)
        let gone = try await gone(of: findings)
        let now = time.now()
        var outcomes: [RestoreOutcome: [Int64]] = [:]
        var unanswered: [ObjectKey: StoreError] = [:]
        for item in items {
            guard let finding = findings[item.key] else { continue }
            if let outcome = outcome(of: item, finding, isGone: gone.contains(item.key), at: now) {
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
    private func gone(of findings: [ObjectKey: ObjectStateQuery.Finding]) async throws -> Set<ObjectKey> {
        let audit = ObjectAudit(store: store, ledger: ledger, time: time)
        var gone: Set<ObjectKey> = []
        for case (let key, .missing) in findings {
            try await audit.recheck(key)
            let known = try await ledger { try $0.object(key) }
            if known == nil || known?.problem == .missing { gone.insert(key) }
        }
        return gone
    }

    /// What an answer says that is none, such as a refusal, counts only when the restore should be over for long: it may
    /// be the network's, and the store still works on what was asked of it.
    /// - Returns: `nil` as long as there is nothing new.
    private func outcome(
        of item: RestoreItem, _ finding: ObjectStateQuery.Finding, isGone: Bool, at now: Date
    ) -> RestoreOutcome? {
        let isOverdue =
            item.requestedAt.map { schedule(item.tier, item.storageClass).isOverdue(now, requestedAt: $0) } ?? false
        switch finding {
        case .missing: return isGone ? .failed("nothing is stored under \(item.key) any more") : nil
        case .failed(let error): return isOverdue && !error.isTransient ? .failed("\(error)") : nil
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
