package import FoundationEssentials
package import SyncCore
import SyncDigest
import SystemPackage

/// A store in memory, with all the promises of ``ObjectStore``, and hands for tests to change what it holds.
package final class InMemoryStore: ObjectStore {
    private struct Entry {
        var bytes: [UInt8]
        var info: ObjectInfo
        /// Of the bytes as they were put: `bytes` may have been damaged since.
        var digest: ContentDigest
    }

    private let entries = Mutex<[ObjectKey: Entry]>([:])
    private let now: @Sendable () -> Date
    private let pool = BlockingPool(name: "memory-store", threads: 1)

    package init(now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 1_767_225_600) }) {
        self.now = now
    }

    package var identity: StoreIdentity { StoreIdentity(type: "memory", location: "this process") }

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
            if let current = entries[key]?.info {
                if condition == .ifAbsent {
                    throw StoreError(.alreadyExists, operation: "put", key: key.rawValue, message: "it exists")
                }
                if current.isArchived { throw Self.archived("put", key) }
            }
            let info = ObjectInfo(
                key: key, size: body.size, md5: digest.md5, sha256: digest.sha256,
                storageClass: attributes.storageClass, contentType: attributes.contentType,
                metadata: attributes.metadata, modified: now())
            entries[key] = Entry(bytes: bytes, info: info, digest: digest)
        }
        return PutReceipt(md5: digest.md5, sha256: digest.sha256)
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        try Task.checkCancellation()
        return info(key)
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        guard let entry = entries.withLock({ $0[key] }) else {
            throw StoreError(.notFound, operation: "get", key: key.rawValue, message: "nothing is stored there")
        }
        if entry.info.isArchived { throw Self.archived("get", key) }
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
            return entry.info
        }
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try Task.checkCancellation()
        guard (1...1_000).contains(limit) else {
            throw StoreError(.invalidRequest, operation: "list", key: prefix, message: "limit \(limit)")
        }
        let found = entries.withLock { entries in
            entries.values.map(\.info)
                .filter { $0.key.rawValue.utf8.starts(with: prefix.utf8) }
                .filter { info in
                    after.map { $0.rawValue.utf8.lexicographicallyPrecedes(info.key.rawValue.utf8) } ?? true
                }
                .sorted { $0.key < $1.key }
        }
        let objects = found.prefix(limit).map { info in
            var info = info
            info.contentType = nil
            info.metadata = [:]
            return info
        }
        let next = found.count > limit ? objects.last.map { PageToken(rawValue: $0.key.rawValue) } : nil
        return ObjectPage(objects: objects, next: next)
    }

    package func delete(_ key: ObjectKey) async throws {
        try Task.checkCancellation()
        entries.withLock { $0[key] = nil }
    }

    private static func archived(_ operation: String, _ key: ObjectKey) -> StoreError {
        StoreError(.archived, operation: operation, key: key.rawValue, message: "it is archived and not restored")
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
            return Array(data)
        }
    }
}

extension InMemoryStore {
    /// All keys, in order.
    package var keys: [ObjectKey] { entries.withLock { $0.keys.sorted() } }

    /// What is stored under a key, as `head` tells it.
    package func info(_ key: ObjectKey) -> ObjectInfo? { entries.withLock { $0[key]?.info } }

    package func content(_ key: ObjectKey) -> [UInt8]? { entries.withLock { $0[key]?.bytes } }

    /// Moves an object to another class, as a lifecycle rule does, with a restore state.
    package func setClass(_ storageClass: StorageClass, restore: RestoreState = .none, of key: ObjectKey) {
        entries.withLock { entries in
            entries[key]?.info.storageClass = storageClass
            entries[key]?.info.restore = restore
        }
    }

    /// Flips a bit of the stored bytes, as a bad disk does.
    package func damage(_ key: ObjectKey) {
        entries.withLock { entries in
            guard let count = entries[key]?.bytes.count, count > 0 else { return }
            entries[key]?.bytes[count / 2] ^= 1
        }
    }
}

extension ObjectInfo {
    /// In an archive class, and not restored.
    var isArchived: Bool {
        if case .restored = restore { return false }
        return storageClass.isArchive
    }
}
