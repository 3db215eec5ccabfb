import SyncCore
import SyncSystem

/// A store to look at, which counts the requests.
struct CountingStore: ReadableStore {
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    let base: any ReadableStore
    private let counter = Counter()

    var requests: Int { counter.count.withLock { $0 } }
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func ownID() async throws -> String? { try await base.ownID() }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        note()
        return try await base.head(key)
    }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        note()
        return try await base.get(key, range: range, into: sink)
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        note()
        return try await base.list(prefix: prefix, after: after, limit: limit)
    }

    private func note() { counter.count.withLock { $0 += 1 } }
}
