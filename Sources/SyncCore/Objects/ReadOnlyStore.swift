/// A store that is only read, object by object: a share, by those it was shared with.
package protocol ReadOnlyStore: ObjectStore {}

extension ReadOnlyStore {
    package func check() async throws {}

    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        throw isReadOnly("put", key.rawValue)
    }

    package func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage {
        throw isReadOnly("list", prefix)
    }

    package func delete(_ key: ObjectKey) async throws {
        throw isReadOnly("delete", key.rawValue)
    }

    private func isReadOnly(_ operation: String, _ key: String) -> StoreError {
        StoreError(.unsupported, operation: operation, key: key, message: "a \(identity.type) can only be read")
    }
}
