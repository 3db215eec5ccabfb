/// A place for objects. Every adapter passes one contract suite (`ObjectStoreContract` in SyncTestSupport).
///
/// Promises, for every store:
/// - A put is atomic: a reader sees the whole old object or the whole new one, and nothing half-written is left behind. A
///   put that threw because the answer was lost, or that was cancelled when all bytes were sent, may have happened.
/// - Read after write: once `put` or `delete` has returned, `head`, `get` and `list` see it.
/// - An object in an archive class that is not restored is never overwritten: `put` throws `.archived`.
/// - Bytes are checked on the way: a put whose bytes do not have the body's digests throws `.badDigest` and stores
///   nothing; a `get` that ends early or differs from what was stored throws, and never returns normally.
///
/// All functions throw ``StoreError``, or `CancellationError` when the task was cancelled. None retries by itself.
package protocol ObjectStore: Sendable {
    /// What `status` shows: the store's type and place.
    var identity: StoreIdentity { get }

    /// Whether the store can be used at all now: it exists, is reachable and lets us in. One cheap request.
    func check() async throws

    /// Stores `body` under `key`.
    /// - Throws: `.alreadyExists` when `condition` is `.ifAbsent` and something is stored under the key.
    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt

    /// What is stored under `key`, or `nil` when nothing is.
    func head(_ key: ObjectKey) async throws -> ObjectInfo?

    /// Reads an object, whole or a part of it, into `sink`.
    /// - Parameters:
    ///   - range: bytes to read; `nil` for all. A range that begins past the end throws `.invalidRange`; one that ends
    ///     past it is cut there (RFC 9110, 14.1.2).
    ///   - sink: gets the bytes in order, never concurrently, on a thread of the store's; what it throws ends the read.
    /// - Throws: `.notFound`, `.archived` (not restored), `.badDigest` (the store's copy is damaged).
    func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo

    /// One page of the objects whose key begins with `prefix`, in byte order.
    /// - Parameter limit: at most so many, 1 to 1,000.
    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage

    /// Removes what is stored under `key`. Removing what is not there is no error.
    func delete(_ key: ObjectKey) async throws
}

/// What a store is and where, as `status` prints it.
package struct StoreIdentity: Hashable, Sendable {
    /// `directory` or `s3`, as in the configuration.
    package var type: String
    /// A folder's path, or `s3://bucket/prefix` and the endpoint where it is not Amazon's.
    package var location: String

    package init(type: String, location: String) {
        self.type = type
        self.location = location
    }
}
