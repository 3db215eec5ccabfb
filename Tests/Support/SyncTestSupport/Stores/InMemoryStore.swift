package import FoundationEssentials
package import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// A store in memory, with all the promises of ``ObjectStore``, and hands for tests to change what it holds.
package final class InMemoryStore: ObjectStore {
    struct Entry {
        /// A temporary copy: from when on, until when, and the tier that was asked for.
        struct Restore {
            var readyAt: Date
            var expiresAt: Date?
            var tier: RestoreTier
        }

        var bytes: [UInt8]
        /// All but the restore state, which follows from `restore` and the clock.
        var info: ObjectInfo
        /// Of the bytes as they were put: `bytes` may have been damaged since.
        var digest: ContentDigest
        var restore: Restore?
        /// What the store knows of the object cannot be read.
        /// What is told of it in place of all else.
        var unreadable: StoreError.Code?
    }

    /// What listings tell of an object's bytes besides their length.
    package enum ListedDigests: Sendable {
        case all
        /// ETags, which are no digests.
        case marks
        /// As the embedded store does of a file that somebody has touched.
        case none
    }

    let entries = Lock<[ObjectKey: Entry]>([:])
    let rules: Lock<LifecycleConfiguration?>
    let now: @Sendable () -> Date
    let restoreDuration: Duration
    private let restoresInLists: Bool
    private let listedDigests: ListedDigests
    private let tellsDuration: Bool
    private let hasDigests: Bool
    private let pool = BlockingPool(name: "memory-store", threads: 1)

    /// - Parameters:
    ///   - now: by which restores are done and expire. It stands still unless told otherwise.
    ///   - lifecycle: with `.byRules` the store keeps rules. It never carries one out: ``setClass(_:restore:of:)`` does.
    ///   - restoresInLists: `false` for a store whose listings tell nothing of restores.
    ///   - tellsDuration: `false` for a store that is taken for Amazon's: class and tier decide how long a restore takes.
    package init(
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_767_225_600) },
        restoreDuration: Duration = .seconds(12 * 3_600), lifecycle: StoreCapabilities.Lifecycle = .byAgent,
        restoresInLists: Bool = true, tellsDuration: Bool = true, listedDigests: ListedDigests = .all,
        hasDigests: Bool = true
    ) {
        self.now = now
        self.restoreDuration = restoreDuration
        self.restoresInLists = restoresInLists
        self.listedDigests = listedDigests
        self.tellsDuration = tellsDuration
        self.hasDigests = hasDigests
        rules = Lock(lifecycle == .byRules ? LifecycleConfiguration() : nil)
    }

    package var capabilities: StoreCapabilities {
        StoreCapabilities(
            lifecycle: rules.withLock { $0 == nil } ? .byAgent : .byRules,
            restoresInLists: restoresInLists ? true : nil,
            links: false, restoreDuration: tellsDuration ? restoreDuration : nil)
    }

    package var identity: StoreIdentity { StoreIdentity(type: "memory", location: "this process") }

    package func close() async { await pool.shutDown() }

    package func check() async throws {
        try Task.checkCancellation()
    }

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        let bytes = try await pool.run { try Self.bytes(of: body, key: key) }
        let digest = ContentDigest(of: bytes)
        guard digest == body.digest else {
            throw StoreError(
                .badDigest, operation: "put", key: key.rawValue, message: "the bytes do not have the body's digests")
        }
        try Task.checkCancellation()
        try entries.withLock { entries in
            try requireAllowed(condition, at: key, over: entries[key], "put")
            let info = ObjectInfo(
                key: key, size: body.size, md5: digest.md5, sha256: digest.sha256, etag: "\(digest.md5)",
                storageClass: attributes.storageClass, contentType: attributes.contentType,
                metadata: attributes.metadata, modified: now())
            entries[key] = Entry(bytes: bytes, info: info, digest: digest)
        }
        return PutReceipt(
            md5: digest.md5, sha256: digest.sha256, etag: "\(digest.md5)", storageClass: attributes.storageClass)
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        try Task.checkCancellation()
        if let code = entries.withLock({ $0[key]?.unreadable }) { throw Self.unreadable(key, "head", code) }
        var found = info(key)
        if !hasDigests { found?.sha256 = nil }
        return found
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        let entry = try entries.withLock { try readable(key, in: $0, "get") }
        let info = entry.info(at: now())
        let bounds = range ?? 0..<entry.info.size
        guard range == nil || (bounds.lowerBound >= 0 && !bounds.isEmpty && bounds.lowerBound < entry.info.size) else {
            throw StoreError(.invalidRange, operation: "get", key: key.rawValue, message: "\(bounds) is outside")
        }
        return try await pool.run {
            let part = bounds.clamped(to: 0..<entry.info.size)
            try entry.bytes[Int(part.lowerBound)..<Int(part.upperBound)].withUnsafeBytes(sink)
            guard ContentDigest(of: entry.bytes) == entry.digest else {
                throw StoreError(.badDigest, operation: "get", key: key.rawValue, message: "the bytes are damaged")
            }
            return info
        }
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try Task.checkCancellation()
        guard (1...1_000).contains(limit) else {
            throw StoreError(.invalidRequest, operation: "list", key: prefix, message: "limit \(limit)")
        }
        let time = now()
        let (page, isLast) = entries.withLock { entries in
            let keys = entries.keys.filter { key in
                key.rawValue.utf8.starts(with: prefix.utf8)
                    && after.map { $0.rawValue.utf8.lexicographicallyPrecedes(key.rawValue.utf8) } ?? true
            }
            return (keys.sorted().prefix(limit).compactMap { entries[$0] }, keys.count <= limit)
        }
        let objects = page.filter { $0.unreadable == nil }.map { entry in
            var info = entry.info(at: time)
            info.contentType = nil
            info.metadata = [:]
            info.isInArchiveTier = false
            if !restoresInLists { info.restore = .none }
            if listedDigests != .all { (info.md5, info.sha256) = (nil, nil) }
            if listedDigests == .none { info.etag = nil }
            return info
        }
        let problems = page.compactMap { entry in
            entry.unreadable.map {
                ObjectProblem(key: entry.info.key, error: Self.unreadable(entry.info.key, "list", $0))
            }
        }
        let next = isLast ? nil : page.last.map { PageToken(rawValue: $0.info.key.rawValue) }
        return ObjectPage(objects: objects, problems: problems, next: next)
    }

    private static func unreadable(_ key: ObjectKey, _ operation: String, _ code: StoreError.Code) -> StoreError {
        StoreError(code, operation: operation, key: key.rawValue, message: "its record cannot be read")
    }

    package func delete(_ key: ObjectKey) async throws {
        try Task.checkCancellation()
        entries.withLock { $0[key] = nil }
    }

    private static func bytes(of body: ObjectBody, key: ObjectKey) throws -> [UInt8] {
        switch body.source {
        case .bytes(let bytes): return bytes
        case .file(let path, let stamp):
            let changed = StoreError(
                .sourceChanged, operation: "put", key: key.rawValue, message: "\(path) is no longer the same file")
            guard let before = try? FileStamp(of: path), before == stamp,
                let data = try? Data(contentsOf: URL(filePath: path.string)),
                let after = try? FileStamp(of: path), after == stamp
            else { throw changed }
            var bytes = Array(data)
            bytes.withUnsafeMutableBytes { body.patches.apply(to: $0, at: 0) }
            return bytes
        }
    }
}
