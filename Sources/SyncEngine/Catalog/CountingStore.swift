import FoundationEssentials
import SyncCore
import SyncSystem

/// A store to look at, which counts the requests, and the bytes that come, also of a read that fails then.
struct CountingStore: ReadableStore {
    let base: any ReadableStore
    private let requestCount = Mutex(0)
    private let byteCount = Mutex(0)

    var requests: Int { requestCount.withLock { $0 } }
    var bytes: Int64 { Int64(byteCount.withLock { $0 }) }
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func ownID() async throws -> String? { try await base.ownID() }

    func clockOffset() async throws -> TimeInterval { try await base.clockOffset() }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        requestCount.add()
        return try await base.head(key)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        requestCount.add()
        return try await base.get(key, range: range) { [byteCount] piece in
            byteCount.add(piece.count)
            try sink(piece)
        }
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        requestCount.add()
        return try await base.list(prefix: prefix, after: after, limit: limit)
    }
}
