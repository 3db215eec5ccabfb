/// Objects that can be read, each by its key: a store, or the photos of somebody else's share.
///
/// All functions throw ``StoreError``, or `CancellationError` when the task was cancelled. None retries by itself.
package protocol ObjectSource: Sendable {
    /// What `status` shows: the type and place.
    var identity: StoreIdentity { get }

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
}

/// A store as those see it who only look: what takes one cannot change what is stored.
package protocol ReadableStore: ObjectSource {
    /// What is known of the store by now; it may learn more with every answer.
    var capabilities: StoreCapabilities { get }

    /// One page of the objects whose key begins with `prefix`, in byte order.
    /// - Parameter limit: at most so many, 1 to 1,000.
    func list(prefix: String, after: PageToken?, limit: Int) async throws -> ObjectPage
}

extension ReadableStore {
    package var capabilities: StoreCapabilities { StoreCapabilities() }
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
