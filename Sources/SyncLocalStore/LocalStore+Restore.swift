import FoundationEssentials
package import SyncCore

extension LocalStore {
    /// It takes as long as the store was told, whatever the tier; the rest is as S3 has it. A faster tier is accepted
    /// while it lasts, and makes nothing faster.
    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        try await perform("restore", key.rawValue) { store, flag in
            try store.locked(key) {
                try store.settle(key)
                var record = try store.existingRecord(key, "restore")
                let end = try Self.requireRestorable(key, record, request, at: store.now())
                try store.requireWhole(record, at: key, "restore", flag)
                switch record.restoreState(at: store.clock) {
                case .inProgress:
                    let tier = record.restore?.tier.flatMap(RestoreTier.init)
                    guard request.tier > tier ?? .standard else { return .alreadyRetrieving }
                    record.restore?.tier = request.tier.rawValue
                case .restored:
                    record.restore?.expiresAt = end
                case .none:
                    record.restore = store.newRestore(request, end: end)
                }
                try store.rewrite(record, at: key, "restore")
                return .accepted
            }
        }
    }

    var clock: RestoreClock { RestoreClock(now: now(), duration: restoreDuration) }

    /// - Returns: when the copy ends that is asked for now.
    private static func requireRestorable(
        _ key: ObjectKey, _ record: CommitRecord, _ request: RestoreRequest, at now: Date
    ) throws(StoreError) -> Date {
        let storageClass = StorageClass(rawValue: record.storageClass)
        guard storageClass.isArchive else {
            throw StoreError(
                .notArchived, operation: "restore", key: key.rawValue,
                message: "the object is in \(storageClass) and can be read at once")
        }
        let tiers = storageClass.restoreTiers
        guard tiers.contains(request.tier) else {
            throw StoreError(
                .tierUnavailable, operation: "restore", key: key.rawValue,
                message: "\(storageClass) has no tier \(request.tier.rawValue), but "
                    + tiers.map(\.rawValue).joined(separator: " and "))
        }
        guard let end = request.end(askedAt: now) else {
            throw StoreError(
                .invalidRequest, operation: "restore", key: key.rawValue,
                message: "a restore from \(storageClass) needs a number of days, 1 or more")
        }
        return end
    }

    /// Records hold whole seconds: what takes time is ready no earlier than it should be.
    private func newRestore(_ request: RestoreRequest, end: Date) -> CommitRecord.Restore {
        let seconds = (now().timeIntervalSince1970 + restoreDuration / .seconds(1))
            .rounded(restoreDuration > .zero ? .up : .down)
        let readyAt = Date(timeIntervalSince1970: seconds)
        // A restore may take days here too, and must not end before it is done.
        let lastEnd = end > readyAt ? end : request.end(askedAt: readyAt)
        return CommitRecord.Restore(readyAt: readyAt, expiresAt: lastEnd, tier: request.tier.rawValue)
    }
}
