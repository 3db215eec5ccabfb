import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SystemPackage

/// What has to be done now and then for what is stored: leftovers taken back, the rules for old objects carried out where
/// nobody else does, and the ledger brought up to what the store reports.
package struct StoreUpkeep: Sendable {
    private static let refreshEvery: TimeInterval = 86_400
    /// Files that are read a day, at least, when there are so many that nobody has read here.
    private static let leastMatched = 1_000
    private static let problemsTold = 10

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let mover: TierMover?
    private let refresh: ClassRefresh
    private let keys: KeyLayout
    private let holdCatalog: CatalogHold
    private let verifier: Verifier
    private let repair: StoredCopyRepair
    private let verification: VerificationRule
    private let captureTimes: CaptureTimeMender?
    private let deletions: ObjectDeletions?
    private let jobs: UserJobs?
    private let time: TimeSource
    private let logger: Logger

    /// - Parameters:
    ///   - policy: whose rules are carried out here in the mode `agent`, and in `bucket` where the store keeps no rules.
    ///   - verification: how much is read back each day.
    ///   - captureTimes: reads those again that an older version noted.
    ///   - deletions: goes on with what `forget` did not come to the end of.
    ///   - jobs: what one machine a day does for all of the user's.
    ///   - moves: finds archived photos that another machine has moved.
    ///   - pruned: tells which earlier images of projects another machine has removed.
    ///   - copies: makes copies of photos anew from their originals.
    ///   - holdCatalog: takes the lock of the catalogue.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, policy: TierPolicy,
        verification: VerificationRule = .none, captureTimes: CaptureTimeMender? = nil,
        deletions: ObjectDeletions? = nil, jobs: UserJobs? = nil, moves: MergedPhotos? = nil,
        pruned: PrunedVersions? = nil, copies: CopyFromOriginal? = nil,
        holdCatalog: @escaping CatalogHold = { nil }, time: TimeSource, logger: Logger
    ) {
        self.deletions = deletions
        self.jobs = jobs
        self.captureTimes = captureTimes
        self.verification = verification
        verifier = Verifier(
            store: store, ledger: ledger, cost: verification.cost, moves: moves, pruned: pruned, time: time)
        repair = StoredCopyRepair(
            store: store, ledger: ledger, keys: keys, moves: moves, pruned: pruned, copies: copies,
            verification: verification, time: time)
        self.store = store
        self.ledger = ledger
        mover =
            policy.isCarriedOutHere(store)
            ? TierMover(
                store: store, ledger: ledger, keys: keys, rules: policy.archiveRules.compactMap(\.own),
                from: policy.movedClasses, time: time) : nil
        self.keys = keys
        self.holdCatalog = holdCatalog
        refresh = ClassRefresh(
            store: store, ledger: ledger, keys: keys, moves: moves, pruned: pruned, holdCatalog: holdCatalog,
            time: time)
        self.time = time
        self.logger = logger
    }

    /// Whether the ledger was held against a whole listing.
    package enum Inspection: Sendable {
        case whole
        /// Nothing is known to be stored.
        case unneeded
        case failed(StoreError)

        package var isWhole: Bool { if case .whole = self { true } else { false } }
    }

    /// Holds the ledger against the store's listing now, so that what a pass calls safe is so at its time. What the store
    /// has lost is in the queue after it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func inspect() async throws -> Inspection {
        try await finishDeletions()
        // An empty ledger calls nothing safe. It may have a catalogue in the store all the same.
        let isNew = try await ledger {
            try $0.overview().tiers.allSatisfy { $0.objects == 0 } && $0.catalogStatus().segments.isEmpty
        }
        if isNew { return .unneeded }
        do {
            try await compare()
            return .whole
        } catch let error as StoreError {
            return .failed(error)
        }
    }

    private func compare() async throws {
        let result = try await refresh.run()
        for problem in result.problems.prefix(Self.problemsTold) {
            logger.warning("cannot be looked at in the store: \(problem.key): \(problem.reason)")
        }
        if result.problemCount > Self.problemsTold {
            logger.warning("\(result.problemCount.counted("object")) cannot be looked at in the store")
        }
        if result.changed > 0 { logger.info("the store reports changes of \(result.changed.counted("object"))") }
        let broken = result.findings.broken
        if broken.objects > 0 {
            logger.warning(
                """
                \(broken.objects.counted("object")) no longer in the store as stored: \
                \(broken.pending.counted("photo")) to be stored again, \(broken.lost) lost
                """)
        }
        if result.findings.mended > 0 {
            logger.notice("in the store again: \(result.findings.mended.counted("object"))")
        }
        if result.manifests > 0 {
            logger.warning(
                """
                gone from the store or damaged there, and written again: \(result.manifests.counted("manifest")) of \
                vacations
                """)
        }
        logCatalog(result.catalogProblem)
        try await unlessItFails("look at what this machine tells the others") {
            switch try await OwnNote(store: store, ledger: ledger, keys: keys).check() {
            case .asTold: break
            case .lost:
                logger.notice("gone from the store, or damaged, and stored again: what this machine tells the others")
            case .ofLaterLedger:
                try await OlderLedger().note(in: ledger, leaving: "what this machine tells the others", logger)
            }
        }
        do {
            let left = try await CatalogLeftovers(store: store, ledger: ledger, keys: keys, hold: holdCatalog)
                .delete(result.catalogLeftovers)
            for problem in left.problems(removing: "what newer parts of the catalogue stand for") {
                logger.warning("\(problem)")
            }
        } catch let error as StoreError {
            // Nobody needs them: the next look finds them again.
            logger.debug("what newer parts of the catalogue stand for was not removed: \(error)")
        }
    }

    private func logCatalog(_ problem: String?) {
        if let problem { logger.warning("the catalogue in the store is not up to date: \(problem)") }
    }

    /// One round. What fails is logged, and tried again with the next one.
    /// - Returns: what was moved to another class.
    /// - Throws: ``LedgerError``, `CancellationError`.
    @discardableResult
    package func run() async throws -> TierMover.Summary {
        try await captureTimes?.run()
        try await finishDeletions()
        try await unlessItFails("take back what interrupted uploads have left") { try await store.removeLeftovers() }
        try await unlessItFails("ask for the classes of all objects") {
            let last = try await ledger { try $0.classesRefreshedAt() }
            let now = time.now()
            // A moment in the future is one from before the clock was set back.
            if let last, last <= now, now.timeIntervalSince(last) < Self.refreshEvery { return }
            try await compare()
        }
        try await unlessItFails("verify what is stored") { try await verify() }
        try await unlessItFails("store again what is damaged") { try await mend() }
        let moved = try await unlessItFails("move old photos to the archive") { try await mover?.run() }
        let result = (moved ?? nil) ?? TierMover.Summary()
        if result.moved > 0 { logger.notice("moved to the archive: \(result.moved.counted("photo"))") }
        for failure in result.failures { logger.warning("not moved to the archive: \(failure)") }
        // After this machine's own: what it verifies comes first where the month's money is short.
        try await unlessItFails("do what one machine a day does for all") {
            guard let result = try await jobs?.run() else { return }
            for line in result.done { logger.notice("\(line)") }
            for problem in result.problems { logger.warning("\(problem)") }
        }
        return result
    }

    /// What somebody has forgotten for good, and a process did not get to delete.
    private func finishDeletions() async throws {
        guard let deletions else { return }
        do {
            let result = try await deletions.run()
            if !result.deleted.isEmpty {
                logger.notice("deleted for good, as was asked for: \(result.deleted.count.counted("object"))")
            }
            for failure in result.failures.prefix(Self.problemsTold) {
                logger.warning("not deleted yet: \(failure.key): \(failure.reason)")
            }
        } catch let error as StoreError {
            logger.warning("cannot delete what was forgotten: \(error)")
        } catch is AgentLock.Held {
            // Whoever has it goes on.
        }
    }

    /// Once a day, so much of what was stored or looked at longest ago.
    private func verify() async throws {
        guard verification.percentPerDay > 0 else { return }
        let now = time.now()
        let (last, status) = try await ledger { ledger in
            (try ledger.verifiedAt(), try ledger.verificationStatus(at: now))
        }
        if let last, last <= now, now.timeIntervalSince(last) < Self.refreshEvery { return }
        let month = verification.maximumUSDPerMonth
        // What came today was proved today.
        let result = try await verifier.run(
            .percent(verification.percentPerDay), costingAtMost: nil, ofMonth: month,
            provedBefore: now.addingTimeInterval(-Self.refreshEvery))
        for broken in result.broken {
            let what = broken.path?.string.escapingControls ?? broken.key.rawValue
            switch broken.problem {
            case .missing: logger.warning("verified: \(what) is no longer in the store (\(broken.key))")
            case .damaged(let reason):
                logger.warning("verified: \(what) is damaged in the store (\(broken.key)): \(reason)")
            }
        }
        for failure in result.failures.first.prefix(Self.problemsTold) { logger.warning("not verified: \(failure)") }
        if result.undecided > Self.problemsTold {
            logger.warning("not verified: \(result.undecided.counted("object"))")
        }
        if result.checked > 0 {
            let unread = result.unread > 0 ? " (\(result.unread) archived, by size and ETag only)" : ""
            logger.info("verified: \(result.checked.counted("object")), \(result.intact) whole\(unread)")
        }
        // What a listing of it tells is what was noted with the bytes, and not what the disk has now.
        if store.capabilities.digestsInLists {
            do {
                let catalog = try await CatalogAudit.readBack(
                    store: store, ledger: ledger, keys: keys, hold: holdCatalog, cost: verification.cost,
                    costingAtMost: nil, ofMonth: month, time: time)
                // What was known before was told.
                if catalog.broken != nil { logCatalog(catalog.problem) }
            } catch let error as StoreError {
                logger.warning("not verified: the catalogue: \(error)")
            }
        }
        if result.isOverBudget { logger.info("verification has used up its budget of this month") }
        // Not on the first day: the pass after a rebuild reads nothing that it need not.
        if last != nil { try await readMatched(of: status.unread, at: now) }
        try await ledger.finish { try $0.noteVerified(at: now) }
    }

    /// After a rebuild, files are taken for what is stored by size and time: each day some of them are read.
    private func readMatched(of all: Int, at now: Date) async throws {
        if all == 0 { return }
        let part = Int((Double(all) * verification.percentPerDay / 100).rounded(.up))
        let count = try await ledger { try $0.requeueMatched(limit: max(part, Self.leastMatched), at: now) }
        logger.info(
            "read for the first time on this machine, and held against what is stored: \(count.counted("file"))")
    }

    /// Stores again what is of no file here, and is in the store a second time, or as its original.
    package func mend() async throws {
        try await mendFromTwins()
        try await repair.makeCopies().log(to: logger)
    }

    private func mendFromTwins() async throws {
        let mended = try await repair.run()
        if mended > 0 {
            logger.notice("stored again from objects of the same content: \(mended.counted("object"))")
        }
    }

    /// One job that fails keeps no other one from being done.
    @discardableResult
    private func unlessItFails<Value>(_ what: String, _ work: () async throws -> Value) async throws -> Value? {
        do {
            return try await work()
        } catch let error where !error.isOfLedgerOrStop {
            logger.warning("cannot \(what): \(error)")
            return nil
        }
    }
}

/// How much the agent reads back by itself.
package struct VerificationRule: Sendable {
    package static let none = VerificationRule(
        percentPerDay: 0, maximumUSDPerMonth: 0, cost: VerificationCost(prices: nil))

    /// Of all objects.
    package var percentPerDay: Double
    package var maximumUSDPerMonth: Double
    package var cost: VerificationCost

    package init(percentPerDay: Double, maximumUSDPerMonth: Double, cost: VerificationCost) {
        self.percentPerDay = percentPerDay
        self.maximumUSDPerMonth = maximumUSDPerMonth
        self.cost = cost
    }
}

/// Which objects get their turn on a day, where nobody remembers when they had it last: by their keys, so many of a hundred
/// each day, and all of them in `100 / percent` days.
package struct DayChoice: Sendable {
    /// Of all objects; 0 to 100.
    package let percent: Double
    /// Since 1970, UTC.
    package let day: Int

    package func contains(_ key: ObjectKey) -> Bool {
        if percent >= 100 { return true }
        // Each key has a place on a circle, and the hand goes on by a part of it each day: by the same sum at the end of a
        // day and at the beginning of the next one, so that it leaves nothing out.
        let place = Double(key.lastingHash >> 11) / Double(1 << 53)
        return (hand(day) - place).rounded(.down) != (hand(day + 1) - place).rounded(.down)
    }

    private func hand(_ day: Int) -> Double { Double(day) * percent / 100 }
}

/// ``StoreUpkeep`` as a service: at the start, then every hour.
package struct UpkeepService: Service {
    private static let interval = Duration.seconds(3_600)

    private let upkeep: StoreUpkeep
    private let work: Wakeup?
    private let loop: ServiceLoop

    /// - Parameter work: signalled after each round: what the store has lost is in the queue, also what another process
    ///   has found.
    package init(_ upkeep: StoreUpkeep, work: Wakeup? = nil, patience: LedgerPatience, time: TimeSource) {
        self.upkeep = upkeep
        self.work = work
        loop = ServiceLoop(name: "the upkeep of the store", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            try await upkeep.run()
            work?.signal()
            return .round(after: Self.interval)
        }
    }
}
