import FoundationEssentials
import SyncCore
import SyncSystem

/// A store to look at, which counts the requests, and the bytes that come, also of a read that fails then.
struct CountingStore: ReadableStore {
    private final class Counter: Sendable {
        let count = Mutex((requests: 0, bytes: Int64(0)))
    }

    let base: any ReadableStore
    private let counter = Counter()

    var requests: Int { counter.count.withLock { $0.requests } }
    var bytes: Int64 { counter.count.withLock { $0.bytes } }
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func ownID() async throws -> String? { try await base.ownID() }

    func clockOffset() async throws -> TimeInterval { try await base.clockOffset() }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        note()
        return try await base.head(key)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        note()
        return try await base.get(key, range: range) { [counter] piece in
            counter.count.withLock { $0.bytes += Int64(piece.count) }
            try sink(piece)
        }
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        note()
        return try await base.list(prefix: prefix, after: after, limit: limit)
    }

    private func note() { counter.count.withLock { $0.requests += 1 } }
}
