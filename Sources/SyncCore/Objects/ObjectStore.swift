package import FoundationEssentials

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
    /// - Parameter metadata: what a copy under another key has in place of the source's; `nil` for that.
    /// - Throws: `.notFound`; `.archived` when the source, or what is to be overwritten, is archived and not restored;
    ///   `.alreadyExists`; `.unsupported` when the store cannot copy or does not have the class.
    func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
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

    /// Forms by which anyone can put one object under each of some keys, and read none, until they end.
    /// - Parameters:
    ///   - keys: siblings: they differ in their last segment only.
    ///   - duration: as for links.
    func uploadForm(for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration) async throws -> UploadForm

    /// Takes back what interrupted puts have left behind in the store. Cheap when there is nothing.
    func removeLeftovers() async throws

    /// Takes back what interrupted puts of anybody's, a week ago or longer, have left behind below a prefix of keys. Where no
    /// such thing outlives its writer, or ``removeLeftovers()`` takes back everybody's, there is nothing to do.
    func takeBackUploads(below prefix: String) async throws

    /// Ends what is under way, and waits until threads and connections are gone. Nothing is asked for afterwards.
    func close() async
}

extension [ObjectKey: StoreError] {
    /// What could not be removed of many, in plain words: the first of them, and how many more.
    package func problems(removing what: String) -> [String] {
        guard let first = self.min(by: { $0.key < $1.key })?.value else { return [] }
        return ["\(what) cannot be removed: \(first)" + (count > 1 ? "; nor \(count - 1) more of them" : "")]
    }
}

extension ObjectStore {
    package func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        try await deleteOneByOne(keys)
    }

    /// Removes many objects with a request for each.
    /// - Returns: what could not be removed; one failure does not stop the rest.
    /// - Throws: when the store as a whole cannot be used, or removes none.
    package func deleteOneByOne(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        var failures: [ObjectKey: StoreError] = [:]
        var denied = DenialStreak()
        for key in keys {
            do {
                try await delete(key)
                denied.noteGiven()
            } catch let error as StoreError where error.mayConcernOneObject {
                try denied.note(error)
                failures[key] = error
            }
        }
        return failures
    }

    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, metadata: [String: String]?,
        condition: PutCondition
    ) async throws {
        throw lacks("copy", "copies", key)
    }

    /// With the metadata of the source.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, condition: PutCondition
    ) async throws {
        try await copy(source, to: key, storageClass: storageClass, metadata: nil, condition: condition)
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

    package func uploadForm(
        for keys: [ObjectKey], _ rules: UploadRules, lasting duration: Duration
    ) async throws -> UploadForm {
        throw lacks("form", "forms", keys.first)
    }

    package func removeLeftovers() async throws {}

    package func takeBackUploads(below prefix: String) async throws {}

    private func lacks(_ operation: String, _ what: String, _ key: ObjectKey?) -> StoreError {
        StoreError(
            .unsupported, operation: operation, key: key?.rawValue,
            message: "a store of type \(identity.type) has no \(what)")
    }
}

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

    /// The id that tells this store from every other one, where the store keeps it beside its objects (the embedded one).
    /// - Returns: `nil` where it has none yet, or where an object has to tell it (``StoreMarker``).
    func ownID() async throws -> String?

    /// Seconds that have to be added to this machine's clock to get the store's. Asked before something is done for its age that
    /// cannot be undone: one of the two clocks is looked after.
    ///
    /// S3 refuses requests whose time is 15 minutes off ("RequestTimeTooSkewed"), and tells its own; within that it is 0.
    /// So it is where the store has no clock but this machine's.
    func clockOffset() async throws -> TimeInterval
}

extension ReadableStore {
    package func ownID() async throws -> String? { nil }

    package func clockOffset() async throws -> TimeInterval { 0 }

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

/// What a store can do, as far as it is known.
package struct StoreCapabilities: Hashable, Sendable {
    /// Who carries lifecycle rules out.
    package enum Lifecycle: Hashable, Sendable {
        /// The store does, by rules that are kept in it.
        case byRules
        /// Whoever uses the store: it keeps no rules (the embedded store).
        case byAgent
    }

    package var lifecycle: Lifecycle
    /// Whether listings tell of restores: `true` once one did, `nil` as long as none has.
    package var restoresInLists: Bool?
    /// Whether listings tell a digest of every object that is whole: one without is in doubt.
    package var digestsInLists: Bool
    /// Whether ``ObjectStore/link(to:lasting:)`` gives links.
    package var links: Bool
    /// How long every restore takes, where the store fixes that itself; `nil` where class and tier decide.
    package var restoreDuration: Duration?
    /// Bytes of the largest object that is put in a group with others that come at the same time: of small ones, many
    /// at once cost less. 0 where each is put by itself.
    package var largestGrouped: Int64

    package init(
        lifecycle: Lifecycle = .byAgent, restoresInLists: Bool? = nil, digestsInLists: Bool = false,
        links: Bool = false,
        restoreDuration: Duration? = nil, largestGrouped: Int64 = 0
    ) {
        self.lifecycle = lifecycle
        self.restoresInLists = restoresInLists
        self.digestsInLists = digestsInLists
        self.links = links
        self.restoreDuration = restoreDuration
        self.largestGrouped = largestGrouped
    }
}

/// An address that lets whoever has it read one object, such as the page of a share.
package struct StoreLink: Hashable, Sendable {
    /// Absolute, percent-encoded. It is a secret while it lasts.
    package var url: String
    /// When it stops to work; where nobody knows (``isEndKnown``), until when it is relied on.
    package var endsAt: Date
    /// `false` where it was signed by credentials that are temporary and do not tell their end.
    package var isEndKnown: Bool
    /// Why it ends earlier than was asked for (of a share: before it does), in plain words; `nil` when it does not.
    package var limit: String?

    package init(url: String, endsAt: Date, limit: String? = nil, isEndKnown: Bool = true) {
        self.url = url
        self.isEndKnown = isEndKnown
        self.endsAt = endsAt
        self.limit = limit
    }
}

/// How often and how soon a request is sent again: exponential backoff with full jitter.
///
/// Source: the standard retry mode of the AWS SDKs (SDKs and Tools Reference Guide, "Retry behavior").
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts in all, the first included.
    package var maximumAttempts: Int
    package var base: Duration
    package var ceiling: Duration

    package init(maximumAttempts: Int = 3, base: Duration = .seconds(1), ceiling: Duration = .seconds(20)) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.ceiling = ceiling
    }

    /// How long to wait after a failed attempt.
    /// - Parameters:
    ///   - attempt: the attempt that failed, from 1.
    ///   - random: uniform in 0..<1; the jitter.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        return min(base * (1 << doublings), ceiling) * random
    }

    /// For a photo whose upload failed for now: from half a minute to an hour, for ever.
    package static let queue = RetryPolicy(maximumAttempts: .max, base: .seconds(30), ceiling: .seconds(3_600))
    /// No photo waits longer for its next try. A moment in the ledger that is further away is of a clock that was wrong.
    package static let longestPause = Duration.seconds(86_400)
    /// From this attempt on an hour is too often: what a server has refused so many times it will refuse again.
    private static let manyAttempts = 10

    /// How long a photo waits that a server has refused: as ``queue``, and after ten attempts up to a day.
    package static func pause(afterRefusal attempt: Int, random: Double) -> Duration {
        guard attempt > manyAttempts else { return queue.delay(afterAttempt: attempt, random: random) }
        return min(queue.ceiling * (1 << min(attempt - manyAttempts, 5)), longestPause) * random
    }
    /// For the queue as a whole while the store is away: from a second to five minutes, for ever.
    package static let outage = RetryPolicy(maximumAttempts: .max, base: .seconds(1), ceiling: .seconds(300))
}

/// A token bucket that stops a client from retrying into an outage: when it is empty, a failure is final.
///
/// Figures of the AWS SDKs' standard mode (botocore, `retries/quota.py`): 500 tokens; a retry costs 5, after a timeout
/// 10; a success gives back what its last retry cost, or 1.
package struct RetryBudget: Hashable, Sendable {
    package static let capacity = 500
    package static let retryCost = 5
    package static let timeoutCost = 10

    package private(set) var tokens: Int

    package init(tokens: Int = RetryBudget.capacity) {
        self.tokens = tokens
    }

    /// Takes the cost of one retry. `nil` when there is not enough left: do not retry.
    package mutating func take(afterTimeout: Bool) -> Int? {
        let cost = afterTimeout ? Self.timeoutCost : Self.retryCost
        guard tokens >= cost else { return nil }
        tokens -= cost
        return cost
    }

    /// Notes a success.
    /// - Parameter lastCost: what the retry that led to it had cost; `nil` when it succeeded at once.
    package mutating func refund(lastCost: Int?) {
        tokens = min(tokens + (lastCost ?? 1), Self.capacity)
    }
}
