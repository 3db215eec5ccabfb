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

/// Whose own record of one object makes no sense: nobody can read it, and it is listed as such.
struct Unreadable: WrappedStore {
    let base: InMemoryStore
    private let key: ObjectKey

    init(_ base: InMemoryStore, _ key: ObjectKey) {
        self.base = base
        self.key = key
    }

    private func failure(_ operation: String) -> StoreError {
        StoreError(.badDigest, operation: operation, key: key.rawValue, message: "its record cannot be read")
    }

    func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        if key == self.key { throw failure("head") }
        return try await base.head(key)
    }

    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        var page = try await base.list(prefix: prefix, after: after, limit: limit)
        if page.objects.contains(where: { $0.key == key }) {
            page.objects.removeAll { $0.key == key }
            page.problems.append(ObjectProblem(key: key, error: failure("list")))
        }
        return page
    }
}
