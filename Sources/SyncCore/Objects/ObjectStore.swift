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
///
/// What not every store has (restores, classes, rules, links) throws `.unsupported` where it is missing: that is the
/// default of those functions. ``capabilities`` tells what is known before one asks.
package protocol ObjectStore: ReadableStore {
    /// Whether the store can be used at all now: it exists, is reachable and lets us in. One cheap request.
    func check() async throws

    /// Stores `body` under `key`.
    /// - Throws: `.alreadyExists` when `condition` is `.ifAbsent` and something is stored under the key.
    func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt

    /// Removes what is stored under `key`. Removing what is not there is no error.
    func delete(_ key: ObjectKey) async throws

    /// Removes many objects with few requests.
    /// - Returns: what could not be removed; one failure does not stop the rest.
    /// - Throws: when the store as a whole cannot be used.
    func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError]

    /// Copies an object inside the store, with its bytes, type and metadata; no byte passes through this machine. A copy
    /// onto itself moves the object to another storage class, and is always `.overwrite`.
    /// - Throws: `.notFound`; `.archived` when the source, or what is to be overwritten, is archived and not restored;
    ///   `.alreadyExists`; `.unsupported` when the store cannot copy or does not have the class.
    func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, condition: PutCondition
    ) async throws

    /// Asks for an archived object to be made readable, for a faster tier of a restore that is under way, or for another
    /// end of one that is done.
    /// - Throws: `.notFound`, `.notArchived`, `.tierUnavailable` (the store does not have this tier, or not now),
    ///   `.unsupported` (no restores at all).
    func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer

    /// The rules by which the store moves and removes objects by itself.
    func lifecycle() async throws -> LifecycleConfiguration

    /// Replaces all rules. Every one that is to stay has to be in `configuration`, as ``lifecycle()`` told it.
    func setLifecycle(_ configuration: LifecycleConfiguration) async throws

    /// An address at which anyone can read the object until it ends.
    /// - Parameter duration: how long it should last; the link's own end says how long it does.
    func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink

    /// Takes back what interrupted puts have left behind in the store. Cheap when there is nothing.
    func tidy() async throws

    /// Ends what is under way, and waits until threads and connections are gone. Nothing is asked for afterwards.
    func close() async
}

extension ObjectStore {
    package func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures: [ObjectKey: StoreError] = [:]
        for key in keys {
            do {
                try await delete(key)
            } catch let error as StoreError where !error.concernsWholeStore {
                failures[key] = error
            }
        }
        return failures
    }

    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, condition: PutCondition
    ) async throws {
        throw lacks("copy", "copies", key)
    }

    package func restore(_ key: ObjectKey, _ request: RestoreRequest) async throws -> RestoreAnswer {
        throw lacks("restore", "restores", key)
    }

    package func lifecycle() async throws -> LifecycleConfiguration {
        throw lacks("lifecycle", "lifecycle rules", nil)
    }

    package func setLifecycle(_ configuration: LifecycleConfiguration) async throws {
        throw lacks("lifecycle", "lifecycle rules", nil)
    }

    package func link(to key: ObjectKey, lasting duration: Duration) async throws -> StoreLink {
        throw lacks("link", "links", key)
    }

    package func tidy() async throws {}

    private func lacks(_ operation: String, _ what: String, _ key: ObjectKey?) -> StoreError {
        StoreError(
            .unsupported, operation: operation, key: key?.rawValue,
            message: "a store of type \(identity.type) has no \(what)")
    }
}
