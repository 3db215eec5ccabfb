import SyncCore
import SyncTestSupport

/// A store whose own record of one object makes no sense: nobody can read it, and it is listed as such.
struct UnreadableRecord: WrappedStore {
    let base: any ObjectStore
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
