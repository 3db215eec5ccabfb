import FoundationEssentials
package import SyncCore
package import SyncLedger

extension TierPolicy {
    /// Whether the agent carries the rules for old objects out: in the mode `agent`, and in `bucket` where the store keeps no
    /// rules.
    func isCarriedOutHere(_ store: any ObjectStore) -> Bool {
        switch mode {
        case .off: false
        case .agent: true
        case .bucket: store.capabilities.lifecycle == .byAgent
        }
    }
}

/// Carries the rules for old objects out where the store does not: moves what is due to its class by a copy in place.
///
/// What is due is read from the ledger's index, so that a pass with nothing to do costs next to nothing, and the store is
/// asked how old it is. Nothing is read, sent or removed: a copy in place changes the class alone.
package struct TierMover: Sendable {
    package struct Summary: Hashable, Sendable {
        package var moved = 0
        /// What could not be moved, and why; at most ``namedFailures`` of them.
        package var failures: [StoreError] = []
        package var failed = 0

        package static let namedFailures = 10

        package init() {}
    }

    private static let pageSize = 300
    private static let headsInFlight = 8

    private let store: any ObjectStore
    private let copies: ArchiveCopies
    private let ledger: LedgerQueue
    private let audit: ObjectAudit
    private let keys: KeyLayout
    private let rules: [TierRule]
    private let classes: [StorageClass]
    private let time: TimeSource

    /// - Parameters:
    ///   - keys: where the store tells that a move has made it.
    ///   - rules: only their transitions are looked at.
    ///   - classes: from which objects are moved.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, rules: [TierRule],
        from classes: [StorageClass] = [.standard], time: TimeSource
    ) {
        self.keys = keys
        self.store = store
        copies = ArchiveCopies(store: store)
        self.ledger = ledger
        audit = ObjectAudit(store: store, ledger: ledger, time: time)
        self.rules = rules
        self.classes = classes
        self.time = time
    }

    /// - Throws: ``StoreError`` when the store is away as a whole or cannot do it at all; ``LedgerError``;
    ///   `CancellationError`.
    package func run() async throws -> Summary {
        var result = Summary()
        let earlier = try await EarlierDenials(of: .archive, in: ledger, time: time)
        let denied = DeniedObjects(earlier)
        var putOff: [ArchiveCopies.Move] = []
        var offset: TimeInterval?
        var move = LastMove.unasked
        for rule in rules {
            guard let transition = rule.transition else { continue }
            let age = Double(transition.afterDays) * 86_400
            var last: (storedAt: Date, key: ObjectKey)?
            while true {
                let after = last
                let cutoff = time.now().addingTimeInterval((offset ?? 0) - age)
                let due = try await ledger { ledger in
                    try ledger.archiveCandidates(
                        classes: classes, storedBefore: cutoff, largerThan: rule.largerThan ?? 0,
                        prefix: rule.prefix, after: after, limit: Self.pageSize)
                }
                guard let end = due.last else { break }
                // A class in the archive is paid for months: what is due by this machine's clock alone is not.
                if offset == nil {
                    let told = try await store.clockOffset()
                    offset = told
                    if told != 0 { continue }
                }
                last = (storedAt: end.storedAt, key: end.key)
                let old = try await ripe(due, storedBefore: cutoff, now: cutoff.addingTimeInterval(age), &move)
                let moves = old.map { ArchiveCopies.Move(key: $0.key, storageClass: transition.storageClass) }
                let (next, later) = earlier.split(moves, by: \.key)
                try await carryOut(next, denied, &result)
                putOff += later
            }
        }
        for moves in earlier.longestAgoFirst(putOff, by: \.key).grouped(atMost: Self.pageSize) {
            try await carryOut(moves, denied, &result)
        }
        return result
    }

    /// When all was moved to this store, by its clock. It is asked for once in a run, and only where it matters.
    private enum LastMove {
        case unasked
        /// `nil` where no move has made the store what it is.
        case told(Date?)
    }

    private func lastMove(_ known: inout LastMove) async throws -> Date? {
        if case .told(let end) = known { return end }
        let end = try await StoreRecognition(store: store, ledger: ledger, keys: keys).movedAt()
        known = .told(end)
        return end
    }

    /// Those that are not younger in the store than in the ledger. What was stored while this machine's clock was behind
    /// is as old as the store says, and the ledger learns it. What a move has copied is as old as it was before.
    /// - Parameters:
    ///   - cutoff: by the store's clock.
    ///   - now: as well. By a clock that is still behind, what the ledger has learned would be due again at once, and
    ///     the run would not end.
    private func ripe(
        _ due: [ObjectRecord], storedBefore cutoff: Date, now: Date, _ move: inout LastMove
    ) async throws -> [ObjectRecord] {
        let moments = try await due.concurrently(Self.headsInFlight) { [store] record -> Date? in
            do {
                return try await store.head(record.key)?.modified
            } catch let error as StoreError where error.mayConcernOneObject {
                // Its copy meets the same, and tells it.
                return nil
            }
        }
        // It may be younger in the store than in the ledger: no two clocks are the same.
        let latest = cutoff.addingTimeInterval(ClockTolerance.toAct)
        var old: [ObjectRecord] = []
        var younger: [(key: ObjectKey, noted: Date, storedAt: Date)] = []
        for (record, moment) in zip(due, moments) {
            var isYounger = false
            if let moment, moment > latest {
                isYounger = try await lastMove(&move).map { moment > $0 } ?? true
            }
            if let moment, isYounger {
                younger.append((key: record.key, noted: record.storedAt, storedAt: min(moment, now)))
            } else {
                old.append(record)
            }
        }
        let learned = younger
        try await ledger { try $0.noteStoredLater(learned) }
        return old
    }

    private func carryOut(
        _ moves: [ArchiveCopies.Move], _ denied: DeniedObjects, _ result: inout Summary
    ) async throws {
        let outcomes = try await moves.concurrently(ArchiveCopies.inFlight) { move in
            if let failure = try await copies.carryOut(move, denied) {
                try await audit.recheck(move.key, after: failure)
                return failure as StoreError?
            }
            try await ledger.finish { try $0.setStorageClass(move.storageClass, of: move.key, at: time.now()) }
            return nil
        }
        let failures = outcomes.compactMap(\.self)
        result.moved += outcomes.count - failures.count
        result.failed += failures.count
        result.failures += failures.prefix(max(Summary.namedFailures - result.failures.count, 0))
    }
}

/// Moves objects to another class, each by a copy in place.
struct ArchiveCopies: Sendable {
    static let inFlight = 3

    struct Move: Sendable {
        let key: ObjectKey
        let storageClass: StorageClass
    }

    let store: any ObjectStore

    /// - Parameter denied: of the whole run.
    /// - Returns: why it was not moved.
    /// - Throws: ``StoreError`` when the store is away as a whole, cannot do it at all or moves none; ``LedgerError``,
    ///   `CancellationError`.
    func carryOut(_ move: Move, _ denied: DeniedObjects) async throws -> StoreError? {
        let key = move.key
        do {
            try await store.copy(key, to: key, storageClass: move.storageClass, condition: .overwrite)
        } catch let error as StoreError where error.mayConcernOneObject && error.code != .unsupported {
            if try await isDone(move) { return nil }
            try await denied.note(error, of: key)
            return error
        }
        try await denied.noteGiven(key)
        return nil
    }

    /// A copy whose answer was lost has happened, and the next try meets an archived object.
    private func isDone(_ move: Move) async throws -> Bool {
        do {
            return try await store.head(move.key)?.storageClass == move.storageClass
        } catch let error as StoreError where error.mayConcernOneObject {
            return false
        }
    }
}
