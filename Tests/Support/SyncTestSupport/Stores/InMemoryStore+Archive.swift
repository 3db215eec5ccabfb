import FoundationEssentials
package import SyncCore
import SyncSystem

extension InMemoryStore {
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        try Task.checkCancellation()
        try entries.withLock { entries in
            if source != key { try requireAllowed(condition, at: key, over: entries[key], "copy") }
            var entry = try readable(source, in: entries, "copy")
            if source == key, entry.info.storageClass == storageClass { return }
            entry.info.key = key
            entry.info.storageClass = storageClass
            entry.restore = nil
            if source != key {
                entry.info.modified = now()
                entry.info.metadata = metadata ?? entry.info.metadata
            }
            entries[key] = entry
        }
    }

    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        try Task.checkCancellation()
        return try entries.withLock { entries in
            guard var entry = entries[key] else { throw Self.refused(.notFound, "restore", key) }
            guard entry.info.storageClass.isArchive else { throw Self.refused(.notArchived, "restore", key) }
            guard entry.info.storageClass.restoreTiers.contains(request.tier) else {
                throw Self.refused(.tierUnavailable, "restore", key)
            }
            let now = now()
            guard let end = request.end(askedAt: now) else { throw Self.refused(.invalidRequest, "restore", key) }
            switch entry.restoreState(at: now) {
            case .inProgress:
                guard let running = entry.restore?.tier, running < request.tier else { return .alreadyRetrieving }
                entry.restore?.tier = request.tier
            case .restored:
                entry.restore?.expiresAt = end
            case .none:
                let readyAt = now.addingTimeInterval(restoreDuration / .seconds(1))
                entry.restore = Entry.Restore(readyAt: readyAt, expiresAt: end, tier: request.tier)
            }
            entries[key] = entry
            return .accepted
        }
    }

    package func lifecycle() async throws -> LifecycleConfiguration {
        try Task.checkCancellation()
        guard let configuration = rules.withLock({ $0 }) else { throw Self.refused(.unsupported, "lifecycle", nil) }
        return configuration
    }

    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        try Task.checkCancellation()
        try rules.withLock { rules in
            guard rules != nil else { throw Self.refused(.unsupported, "lifecycle", nil) }
            rules = configuration
        }
    }

    func requireAllowed(
        _ condition: PutCondition, at key: ObjectKey, over current: Entry?, _ operation: String
    ) throws(StoreError) {
        guard let current else { return }
        if condition == .ifAbsent { throw Self.refused(.alreadyExists, operation, key) }
        if current.isArchived(at: now()) { throw Self.refused(.archived, operation, key) }
    }

    func readable(
        _ key: ObjectKey, in entries: [ObjectKey: Entry], _ operation: String
    ) throws(StoreError) -> Entry {
        guard let entry = entries[key] else { throw Self.refused(.notFound, operation, key) }
        if entry.isArchived(at: now()) { throw Self.refused(.archived, operation, key) }
        return entry
    }

    private static func refused(_ code: StoreError.Code, _ operation: String, _ key: ObjectKey?) -> StoreError {
        StoreError(code, operation: operation, key: key?.rawValue, message: "the store in memory says so")
    }
}

extension InMemoryStore.Entry {
    func restoreState(at now: Date) -> RestoreState {
        guard let restore else { return .none }
        if now < restore.readyAt { return .inProgress }
        if let end = restore.expiresAt, end <= now { return .none }
        return .restored(until: restore.expiresAt)
    }

    /// In an archive class or tier, and not restored.
    func isArchived(at now: Date) -> Bool {
        if case .restored = restoreState(at: now) { return false }
        return info.storageClass.isArchive || info.isInArchiveTier
    }

    func info(at now: Date) -> ObjectInfo {
        var info = info
        info.restore = restoreState(at: now)
        return info
    }
}
