import SyncCore
import SyncTestSupport

/// A store in memory of which a test answers some calls itself.
protocol WrappedStore: ObjectStore {
    var base: InMemoryStore { get }
}

extension WrappedStore {
    var identity: StoreIdentity { base.identity }
    var capabilities: StoreCapabilities { base.capabilities }

    func check() async throws { try await base.check() }

    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await base.put(body, at: key, attributes: attributes, condition: condition)
    }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? { try await base.head(key) }

    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        try await base.get(key, range: range, into: sink)
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        try await base.list(prefix: prefix, after: after, limit: limit)
    }

    func delete(_ key: ObjectKey) async throws { try await base.delete(key) }
}
