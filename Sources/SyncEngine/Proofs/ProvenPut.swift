import SyncCore

/// Puts bytes into a store and has it prove that it holds them. What was put counts as stored only by the store's own
/// words: the digest in its answer, or what it tells when it is asked, or the bytes that it gives back.
struct ProvenPut: Sendable {
    /// What the store says of the key after it took the bytes.
    enum Answer: Hashable, Sendable {
        /// The bytes, with their ETag.
        case holds(etag: String?)
        case lacks
        case holdsOther
    }

    private let store: any ObjectStore

    init(_ store: any ObjectStore) {
        self.store = store
    }

    /// - Throws: ``StoreError``, `CancellationError`: what `put` and `get` throw.
    func callAsFunction(
        _ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes, _ condition: PutCondition
    ) async throws -> Answer {
        let receipt = try await store.put(body, at: key, attributes: attributes, condition: condition)
        if receipt.sha256 == body.digest.sha256 || receipt.md5 == body.digest.md5 || receipt.provesParts {
            return .holds(etag: receipt.etag)
        }
        guard let stored = try await store.head(key) else { return .lacks }
        return try await ObjectReadback(store).holds(body, as: stored) ? .holds(etag: stored.etag) : .holdsOther
    }
}
