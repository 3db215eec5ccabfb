import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Carries the rules for old objects out where the store does not: moves what is due to its class by a copy in place.
///
/// What is due is read from the ledger's index, so that a pass with nothing to do costs next to nothing. Nothing is read,
/// sent or removed: a copy in place changes the class alone.
package struct TierMover: Sendable {
    package struct Result: Hashable, Sendable {
        package var moved = 0
        /// What could not be moved, and why; at most ``namedFailures`` of them.
        package var failures: [StoreError] = []
        package var failed = 0

        package static let namedFailures = 10

        package init() {}
    }

    private static let copiesInFlight = 3
    private static let pageSize = 300

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let audit: ObjectAudit
    private let rules: [TierRule]
    private let time: TimeSource

    /// - Parameter rules: only their transitions are looked at.
    package init(store: any ObjectStore, ledger: LedgerQueue, rules: [TierRule], time: TimeSource) {
        self.store = store
        self.ledger = ledger
        audit = ObjectAudit(store: store, ledger: ledger, time: time)
        self.rules = rules
        self.time = time
    }

    /// - Throws: ``StoreError`` when the store is away as a whole or cannot do it at all; ``LedgerError``;
    ///   `CancellationError`.
    package func run() async throws -> Result {
        var result = Result()
        for rule in rules {
            guard let transition = rule.transition else { continue }
            let cutoff = time.now().addingTimeInterval(-Double(transition.afterDays) * 86_400)
            var last: ObjectKey?
            while true {
                let after = last
                let due = try await ledger { ledger in
                    try ledger.archiveCandidates(
                        classes: [.standard], storedBefore: cutoff, largerThan: rule.largerThan ?? 0,
                        prefix: rule.prefix, after: after, limit: Self.pageSize)
                }
                guard let end = due.last?.key else { break }
                last = end
                for failure in try await move(due, to: transition.storageClass, &result) {
                    result.failed += 1
                    if result.failures.count < Result.namedFailures { result.failures.append(failure) }
                }
            }
        }
        return result
    }

    private func move(
        _ objects: [ObjectRecord], to storageClass: StorageClass, _ result: inout Result
    ) async throws -> [StoreError] {
        let outcomes = try await objects.concurrently(Self.copiesInFlight) { object in
            do {
                try await store.copy(
                    object.key, to: object.key, storageClass: storageClass, condition: .overwrite)
            } catch let error as StoreError where !error.concernsWholeStore && error.code != .unsupported {
                guard try await isMoved(object.key, to: storageClass) else {
                    try await audit.recheck(object.key, after: error)
                    return error as StoreError?
                }
            }
            let now = time.now()
            try await ledger.finish { try $0.setStorageClass(storageClass, of: object.key, at: now) }
            return nil
        }
        let failures = outcomes.compactMap(\.self)
        result.moved += outcomes.count - failures.count
        return failures
    }

    /// A copy whose answer was lost has happened, and the next try meets an archived object.
    private func isMoved(_ key: ObjectKey, to storageClass: StorageClass) async throws -> Bool {
        do {
            return try await store.head(key)?.storageClass == storageClass
        } catch let error as StoreError where !error.concernsWholeStore {
            return false
        }
    }
}
