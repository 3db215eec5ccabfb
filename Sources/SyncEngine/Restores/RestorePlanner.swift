import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// What a person wants restored, and how.
package struct RestoreOrder: Hashable, Sendable {
    /// Paths, wildcards, vacations, shares and object keys.
    package var names: [String]
    /// Which of what they name, and of which machine.
    package var scope: RestoreScope
    package var wish: TierChoice
    /// How long the copies stay.
    package var days: Int
    /// Whether what is readable already is to stay for `days` from now.
    package var extends: Bool
    /// Where files are saved when they are there, absolute.
    package var output: FilePath?
    /// Who asks, for the history.
    package var requestedBy: String

    package init(
        names: [String], scope: RestoreScope = RestoreScope(), wish: TierChoice, days: Int, extends: Bool = false,
        output: FilePath? = nil, requestedBy: String
    ) {
        self.scope = scope
        self.names = names
        self.wish = wish
        self.days = days
        self.extends = extends
        self.output = output
        self.requestedBy = requestedBy
    }
}

/// What an order would come to. Nothing has been asked of the store yet but how its objects stand.
package struct RestoreProposal: Sendable {
    package let order: RestoreOrder
    package let plan: RestorePlan
    /// Names of which nothing is known, and photos that are not stored yet.
    package let problems: [RestoreSelection.Problem]
    /// For the tiers as they were wished for.
    package let estimate: RestoreEstimate
    /// For every tier that all of the objects have, from the slowest to the fastest.
    package let options: [RestoreOption]
    /// Jobs that are bringing back some of the objects, the oldest first.
    package let runningJobs: [RestoreJobID]
    let objects: [ObjectKey: RestoreSelection.Object]

    /// What is to be sent.
    package var candidates: [RestoreCandidate] { plan.groups.flatMap(\.candidates) }
    /// What can be read without a request.
    var readable: [RestoreCandidate] {
        plan.groups.filter { $0.purpose == .longer }.flatMap(\.candidates)
            + plan.skipped.compactMap { skipped in
                switch skipped.reason {
                case .alreadyReadable, .notArchived: skipped.candidate
                case .alreadyRetrieving, .originalThere, .saved: nil
                }
            }
    }
    /// The tier that most people would call that of the order: the one wished for, else the fastest that is taken.
    package var tier: RestoreTier {
        switch order.wish {
        case .tier(let tier): tier
        case .rush: plan.groups.map(\.request.tier).max() ?? .standard
        }
    }
    /// How many photos are meant whose own bytes were asked for, and of which a copy comes.
    package var copiesOnly: Int {
        let there = plan.skipped.filter { skipped in
            switch skipped.reason {
            case .originalThere, .saved: false
            case .alreadyRetrieving, .alreadyReadable, .notArchived: true
            }
        }
        return (candidates + there.map(\.candidate)).count { note(of: $0.key) != nil }
    }
    package var hints: [WaitingHint] { WaitingHint.hints(for: estimate, tier: tier, among: options) }
}

extension RestoreProposal {
    /// Those below a folder of downloads that photos go into; an empty path is that folder itself.
    package var folders: Set<FilePath> {
        let places = objects.values.flatMap { [$0.destination] + $0.further.map(\.destination) }
        return Set(places.map { $0.removingLastComponent() })
    }

    /// In what an object differs from what was asked for.
    package func note(of key: ObjectKey) -> String? {
        objects[key]?.isCopyOnly == true
            ? "the stored copy, since the photo's own bytes are not kept, or are damaged" : nil
    }
}

/// Takes orders for restores: finds what is meant and what it would cost, and makes jobs of it.
package struct RestorePlanner: Sendable {
    private let store: any ReadableStore
    private let ledger: LedgerQueue
    private let prices: PriceTable
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameter pool: for what waits for the disk.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, prices: PriceTable, pool: BlockingPool, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.prices = prices
        self.pool = pool
        self.time = time
    }

    /// Finds out what an order would come to. The storage class of what it names is asked of the store: a bucket's rules
    /// may have moved it since it was last seen. A tier that a class does not have is refused before that, where the class
    /// is known.
    /// - Throws: ``TierNotOffered``, ``StoreError``, ``LedgerError``, `CancellationError`.
    package func propose(_ order: RestoreOrder, in places: RestoreSelection.Places) async throws -> RestoreProposal {
        let now = time.now()
        _ = try await ledger { try $0.expireRestores(at: now) }
        var selection = try await RestoreSelection(
            of: order.names, scope: order.scope, in: places, ledger: ledger, store: store)
        var there = try await status(where: selection.objects, wouldBeSavedIn: order.output)
        let known = selection.objects.map { there.told(of: $0.candidate(running: nil)) }
        _ = try RestorePlan(for: known, wish: order.wish, days: order.days, extends: order.extends, now: now)
        var weighed = try await weigh(selection.objects)
        if !weighed.moved.isEmpty {
            selection.follow(weighed.moved)
            there = try await status(where: selection.objects, wouldBeSavedIn: order.output)
            weighed = try await weigh(selection.objects)
        }
        let candidates = weighed.candidates.map { there.told(of: $0) }
        let plan = try RestorePlan(
            for: candidates, wish: order.wish, days: order.days, extends: order.extends, now: now)
        let loads = Dictionary(grouping: plan.groups.filter { $0.purpose != .longer }, by: \.storageClass)
            .map { storageClass, groups in
                ClassLoad(
                    storageClass: storageClass, objects: groups.reduce(0) { $0 + $1.candidates.count },
                    bytes: groups.reduce(0) { $0 + $1.bytes })
            }
        return RestoreProposal(
            order: order, plan: plan, problems: selection.problems + weighed.missing,
            estimate: RestoreEstimate(of: plan.groups.map(\.load), days: order.days, prices: prices),
            options: RestoreOption.all(for: loads, days: order.days, prices: prices), runningJobs: weighed.jobs,
            objects: Dictionary(uniqueKeysWithValues: selection.objects.map { ($0.record.key, $0) }))
    }

    /// Whether a job would be made of it.
    package func needsJob(_ proposal: RestoreProposal) -> Bool {
        proposal.plan.groups.contains { $0.purpose == .restore && !$0.candidates.isEmpty }
            || proposal.order.output != nil && !proposal.readable.isEmpty
    }

    /// Writes the job down. From here on it is carried out whatever happens to this process. Where photos are to be saved,
    /// those that can be read already belong to it too.
    /// - Parameter reservation: its number, and its place in the folder (``RestoreFolders/reserve(_:)``).
    /// - Returns: the job, `nil` when there is nothing to do; and what other jobs have taken meanwhile.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func accept(
        _ proposal: RestoreProposal, as reservation: RestoreReservation? = nil
    ) async throws -> (job: RestoreJob?, collided: [ObjectKey]) {
        let order = proposal.order
        var items = proposal.plan.groups.filter { $0.purpose == .restore }.flatMap { group in
            group.candidates.map { item($0, tier: group.request.tier, proposal) }
        }
        if order.output != nil {
            items += proposal.readable.map { candidate in
                var item = item(candidate, tier: proposal.tier, proposal)
                var outcome = RestoreOutcome(state: .restored)
                if case .restored(let end) = candidate.restoreState { outcome.expiresAt = end }
                item.outcome = outcome
                return item
            }
        }
        guard !items.isEmpty else { return (nil, []) }
        let draft = RestoreJobDraft(
            requestedBy: order.requestedBy, tier: proposal.tier, isRush: order.wish == .rush, days: order.days,
            output: order.output, estimatedCostUSD: proposal.estimate.totalUSD, estimatedHours: hours(of: proposal),
            items: items)
        return try await ledger { try $0.addRestoreJob(draft, as: reservation, at: time.now()) }
    }

    /// How long it takes at most: the store's own word, else that of class and tier.
    package func hours(of proposal: RestoreProposal) -> Double? {
        store.capabilities.restoreDuration.map { $0 / .seconds(3_600) } ?? proposal.estimate.hours
    }

    private func item(
        _ candidate: RestoreCandidate, tier: RestoreTier, _ proposal: RestoreProposal
    ) -> RestoreJobDraft.Item {
        var item = RestoreJobDraft.Item(
            key: candidate.key, path: candidate.path, destination: proposal.objects[candidate.key]?.destination,
            size: candidate.size, sha256: candidate.sha256, storageClass: candidate.storageClass, tier: tier)
        item.further = proposal.objects[candidate.key]?.further ?? []
        item.note = proposal.note(of: candidate.key)
        return item
    }

    /// What stands where copies would be saved.
    private struct Status: Sendable {
        /// Photos themselves.
        var originals: [ObjectKey: FilePath] = [:]
        /// Copies, by an earlier restore.
        var copies: Set<ObjectKey> = []

        func told(of candidate: RestoreCandidate) -> RestoreCandidate {
            var candidate = candidate
            candidate.original = originals[candidate.key]
            candidate.isSaved = copies.contains(candidate.key)
            return candidate
        }
    }

    /// Nothing is to be paid for a copy of what is there, and least of all put in its place.
    private func status(
        where objects: [RestoreSelection.Object], wouldBeSavedIn output: FilePath?
    ) async throws -> Status {
        guard let output else { return Status() }
        return try await pool.runChecking { flag in
            var status = Status()
            // With several names, whoever saves it looks at each.
            for object in objects where object.further.isEmpty {
                let place = output.pushing(object.destination)
                do {
                    guard let digest = try FileDigest.of(place, size: nil, flag) else { continue }
                    if digest.md5 == object.record.md5 { status.originals[object.record.key] = place }
                    if digest.sha256 == object.record.sha256 { status.copies.insert(object.record.key) }
                } catch is Errno {
                    // Nothing is there; or nobody can tell what, and whoever saves the copy will.
                }
            }
            return status
        }
    }

    /// Asks the store how objects stand.
    /// - Returns: those that are there, what is to be said of the others, and the jobs that they are in; and what is stored
    ///   as a version since another machine has put its own under the key: by it, all of them are to be weighed anew.
    private func weigh(_ objects: [RestoreSelection.Object]) async throws -> (
        candidates: [RestoreCandidate], missing: [RestoreSelection.Problem], jobs: [RestoreJobID],
        moved: [ObjectKey: ObjectRecord]
    ) {
        let keys = Set(objects.map(\.record.key))
        let known = try await ledger { try $0.overview().tiers.reduce(0) { $0 + $1.objects } }
        let askedAt = time.now()
        let running = try await ledger { try Self.running(keys, in: $0) }
        // Of what is being retrieved, as far as the ledger knows, the store may know more: it may be there by now. So it may
        // of what is restored, where listings do not tell: it may be in the archive again.
        let isTold = store.capabilities.restoresInLists == true
        let restored = objects.filter { !isTold && $0.record.restore != .none }.map(\.record.key)
        let restores = Set(restored).union(running.keys)
        let query = ObjectStateQuery(store: store, knownObjects: known)
        let others = try await query.states(of: keys.subtracting(restores), tellingRestores: false)
        let told = try await query.states(of: restores, tellingRestores: true)
        let findings = others.merging(told) { $1 }
        let (silent, telling) = (Self.reports(others), Self.reports(told))
        let audit = ObjectAudit(store: store, ledger: ledger, time: time)
        var moved: [ObjectKey: ObjectRecord] = [:]
        for object in objects where isSuspect(object.record, findings[object.record.key]) {
            moved[object.record.key] = try await audit.recheck(object.record.key)
        }
        let tellsRestores = store.capabilities.restoresInLists == true
        let open = try await ledger { ledger in
            for page in silent.grouped(atMost: 1_000) {
                _ = try ledger.mergeReport(page, tellsRestores: tellsRestores, at: askedAt)
            }
            for page in telling.grouped(atMost: 1_000) {
                _ = try ledger.mergeReport(page, tellsRestores: true, at: askedAt)
            }
            for info in telling {
                guard let item = running[info.key], item.state == .retrieving, case .restored(let end) = info.restore
                else { continue }
                try ledger.note(RestoreOutcome(state: .restored, expiresAt: end), of: [item.id], at: askedAt)
            }
            return try Self.running(keys, in: ledger)
        }
        var candidates: [RestoreCandidate] = []
        var missing: [RestoreSelection.Problem] = []
        for var object in objects {
            switch findings[object.record.key] {
            case .found(let info):
                object.record.storageClass = info.storageClass
                object.record.restore = info.restore
            case .missing:
                let name = object.path?.text ?? object.record.key.rawValue
                missing.append(
                    RestoreSelection.Problem(
                        name: name, reason: .notStored("the store no longer has \(object.record.key)")))
                continue
            case .failed, nil: break
            }
            var candidate = object.candidate(running: open[object.record.key])
            if case .found(let info) = findings[object.record.key], info.isInArchiveTier { candidate.isArchived = true }
            candidates.append(candidate)
        }
        return (candidates, missing, Set(open.values.map(\.job)).sorted(), moved)
    }

    /// Whether what the store tells of an object makes a look at it worthwhile, before anything of it is asked for: it is
    /// gone, or it may be another file's. What else may be wrong with it, whoever saves it finds out; of what is known to be
    /// broken, ``ObjectAudit/recheck(_:)`` finds nothing new.
    private func isSuspect(_ record: ObjectRecord, _ finding: ObjectStateQuery.Finding?) -> Bool {
        if record.problem != nil { return false }
        switch finding {
        case .missing: return true
        case .found(let info):
            guard record.key.versionedFile != nil, !info.isLocked else { return false }
            return record.isDoubted(by: info, isTold: store.capabilities.digestsInLists)
        case .failed, nil: return false
        }
    }

    private static func reports(_ findings: [ObjectKey: ObjectStateQuery.Finding]) -> [ObjectInfo] {
        findings.values.compactMap { finding in
            if case .found(let info) = finding { info } else { nil as ObjectInfo? }
        }
    }

    /// The open items of jobs that are bringing objects back.
    private static func running(_ keys: Set<ObjectKey>, in ledger: Ledger) throws -> [ObjectKey: RestoreItem] {
        try keys.reduce(into: [:]) { $0[$1] = try ledger.openRestoreItem(for: $1) }
    }
}

extension RestoreSelection.Object {
    /// - Parameter item: of the job that is restoring it.
    fileprivate func candidate(running item: RestoreItem?) -> RestoreCandidate {
        RestoreCandidate(
            key: record.key, storageClass: record.storageClass,
            restoreState: item == nil ? record.restore : .inProgress,
            running: item.map { RestoreRequest(days: $0.days, tier: $0.tier) }, size: record.size,
            sha256: record.sha256, path: path)
    }
}
