package import SyncCore
import SyncDigest
package import SyncLedger
import SyncSystem

/// Asks a store whether an object is what was stored.
package struct ObjectExaminer: Sendable {
    package enum Reading: Hashable, Sendable {
        /// What the store's digests leave open, or contradict, is read back.
        case inDoubt
        /// Whatever can be read is.
        case always
    }

    package enum Verdict: Hashable, Sendable {
        /// As it is known now. Read is also what was held against the store's words because it is archived.
        case intact(ObjectRecord, isRead: Bool)
        case broken(ObjectFault)
    }

    /// The store itself says that nobody can read it: a put replaces it.
    static let unreadable = ObjectFault.damaged(unreadableReason)
    fileprivate static let unreadableReason = "what the store has noted of it cannot be read"

    private let store: any ReadableStore
    private let readback: ObjectReadback

    package init(_ store: any ReadableStore) {
        self.store = store
        readback = ObjectReadback(store)
    }

    /// - Parameter isUnlisted: whether a listing has just left it out. Else one is asked for before it is called missing: a
    ///   404 may come from a proxy that is being set up, too.
    /// - Throws: ``StoreError``, `CancellationError`: then nothing is known.
    package func examine(_ known: ObjectRecord, reading: Reading, isUnlisted: Bool = false) async throws -> Verdict {
        if reading == .always, !known.storageClass.isArchive, let verdict = try await read(known, isUnlisted) {
            return verdict
        }
        let answer: ObjectInfo?
        do {
            answer = try await store.head(known.key)
        } catch let error as StoreError where error.code == .badDigest {
            return .broken(Self.unreadable)
        }
        guard let info = answer else { return try await absent(known, isUnlisted) }
        let word = known.judged(by: info)
        let isDamaged = known.problem?.isDamage == true
        if info.isLocked {
            if case .other(let reason) = word { return .broken(.damaged(reason)) }
            if let problem = known.problem, problem.isDamage { return .broken(problem) }
            return .intact(known.learning(info), isRead: true)
        }
        if reading == .inDoubt, !isDamaged, word == .same { return .intact(known.learning(info), isRead: false) }
        if let verdict = try await read(known, isUnlisted) { return verdict }
        throw StoreError(
            .conflict, operation: "get", key: known.key.rawValue,
            message: "the store says that it can be read and then that it is archived; it is looked at again later")
    }

    /// - Returns: `nil` when it cannot be read before it is restored.
    private func read(_ known: ObjectRecord, _ isUnlisted: Bool) async throws -> Verdict? {
        switch try await readback.read(known.key) {
        case .archived: nil
        case .missing: try await absent(known, isUnlisted)
        case .damaged(let reason): .broken(.damaged(reason))
        case .read(let info, let digest): known.judged(by: digest, info)
        }
    }

    private func absent(_ known: ObjectRecord, _ isUnlisted: Bool) async throws -> Verdict {
        if !isUnlisted { try await store.confirmAbsence(of: known.key) }
        return .broken(.missing)
    }
}

extension ObjectRecord {
    enum Word: Hashable {
        /// The store proves the bytes.
        case same
        case other(String)
        /// It says nothing that could be held against what is known.
        case silent
    }

    /// What a store's answer says of the bytes. A listing does not tell which ETags are digests: what it contradicts has to
    /// be asked for.
    func judged(by info: ObjectInfo) -> Word {
        guard info.size == size else { return .other("it has \(info.size) bytes, and \(size) were stored") }
        if let etag, etag == info.etag { return .same }
        if let theirs = info.sha256, let ours = sha256 {
            return theirs == ours ? .same : .other("the store tells another SHA-256 than that of what was stored")
        }
        if let theirs = info.md5, let ours = storedMD5 {
            return theirs == ours ? .same : .other("the store tells another MD5 than that of what was stored")
        }
        guard etag != nil, info.etag != nil else { return .silent }
        // By a copy in place an object comes into another class, and has another ETag where that is no digest (of parts, or
        // with a key of KMS). It keeps what was written with it.
        if storageClass != info.storageClass, let sha256, sha256 == info.claimedSHA256 { return .silent }
        return .other("the store tells another ETag than when it was stored")
    }

    /// What bytes that were read say. Another machine may have stored another copy of the same photo.
    func judged(by digest: ContentDigest, _ info: ObjectInfo) -> ObjectExaminer.Verdict {
        var record = learning(info)
        record.storedMD5 = digest.md5
        if sha256 == digest.sha256 { return .intact(record, isRead: true) }
        let claimed = info.claimedSHA256
        if sha256 == nil, key.isNamedByFile, let md5, let told = info.photoMD5, told != md5 {
            return .broken(.damaged("it was stored as the copy of another file"))
        }
        // Of what was found damaged, bytes that nothing speaks for are the ruin's.
        let isUnsaid = claimed == nil && problem?.isDamage != true
        let isOurs = sha256 == nil && size == info.size && (isUnsaid || claimed == digest.sha256)
        let isReplaced = md5 != nil && md5 == info.photoMD5 && claimed == digest.sha256
        guard isOurs || isReplaced else {
            return .broken(.damaged("its bytes have another SHA-256 than those that were stored"))
        }
        record.size = info.size
        record.sha256 = digest.sha256
        if isReplaced {
            record.width = info.width ?? width
            record.height = info.height ?? height
            record.duration = info.duration ?? duration
        }
        return .intact(record, isRead: true)
    }

    /// With what an answer about the same bytes tells beside them.
    func learning(_ info: ObjectInfo) -> ObjectRecord {
        var record = self
        record.etag = info.etag ?? etag
        record.storageClass = info.storageClass
        return record
    }
}

extension LedgerQueue {
    /// Whether an object was found damaged, and nobody has stored it again or read it as whole since.
    func knowsAsRuin(_ key: ObjectKey) async throws -> Bool {
        try await callAsFunction { try $0.object(key) }?.problem?.isDamage == true
    }
}

/// Reads stored objects back through a hasher, and proves by it what a store's answers do not. A piece of an object is in
/// memory at a time.
package struct ObjectReadback: Sendable {
    enum Finding: Sendable {
        case read(ObjectInfo, ContentDigest)
        case missing
        /// It has to be restored first.
        case archived
        case damaged(String)
    }

    /// What an object's own metadata says of its bytes, held against the bytes.
    enum Claim: Sendable {
        case proven(SHA256Digest)
        case contradicted(String)
        /// It is archived, and the store tells no digest of it.
        case unprovable
        /// It says nothing.
        case none
    }

    private let store: any ObjectSource

    package init(_ store: any ObjectSource) {
        self.store = store
    }

    /// What is damaged or was cut on the way is read once more: the way may be to blame.
    /// - Throws: ``StoreError`` that says nothing of the object; `CancellationError`.
    func read(_ key: ObjectKey) async throws -> Finding {
        do {
            return try await readOnce(key)
        } catch let error as StoreError where error.code == .badDigest || error.code == .connectionLost {
            do {
                return try await readOnce(key)
            } catch let error as StoreError where error.code == .badDigest {
                return .damaged(error.badDigestReason)
            }
        }
    }

    private func readOnce(_ key: ObjectKey) async throws -> Finding {
        let hasher = Lock(ContentHasher())
        do {
            let info = try await store.get(key, range: nil) { bytes in hasher.withLock { $0.update(bytes) } }
            return .read(info, hasher.withLock { $0.finalize() })
        } catch let error as StoreError where error.code == .notFound {
            return .missing
        } catch let error as StoreError where error.code == .archived {
            return .archived
        }
    }

    /// Whether the store holds these bytes: by a digest that it computed, else by reading them back.
    /// - Parameters:
    ///   - info: as `head` tells it.
    ///   - isRuin: whether the ledger knows it as damaged: what the store tells of it unread proves nothing.
    func holds(_ body: ObjectBody, as info: ObjectInfo, isRuin: Bool = false) async throws -> Bool {
        if !isRuin, let proof = info.proof(of: body) { return proof }
        if info.isLocked { return false }
        guard case .read(_, let digest) = try await read(info.key) else { return false }
        return digest == body.digest
    }

    /// Holds an object against the SHA-256 that its own metadata claims. The claim alone proves nothing: it was written
    /// with the object, and stays as it is whatever becomes of the bytes.
    /// - Parameters:
    ///   - info: as `head` tells it.
    ///   - isRuin: as of ``holds(_:as:isRuin:)``.
    func claim(of info: ObjectInfo, isRuin: Bool = false) async throws -> Claim {
        guard let claimed = info.claimedSHA256 else { return .none }
        if !isRuin, let sha256 = info.sha256 {
            return sha256 == claimed ? .proven(claimed) : .contradicted("the store tells another SHA-256")
        }
        if !isRuin, let md5 = info.md5, let claimedMD5 = info.claimedMD5 {
            return md5 == claimedMD5 ? .proven(claimed) : .contradicted("the store tells another MD5")
        }
        if info.isLocked { return .unprovable }
        switch try await read(info.key) {
        case .read(_, let digest):
            return digest.sha256 == claimed ? .proven(claimed) : .contradicted("its bytes have another SHA-256")
        case .damaged(let reason): return .contradicted(reason)
        case .archived: return .unprovable
        case .missing: return .none
        }
    }
}

extension ObjectSource {
    /// What is under a key that is written where it is not what it should be. What nobody can read, as the store itself
    /// says, is nothing there: a put replaces it.
    /// - Throws: what `head` does, but for `.badDigest`.
    func readableHead(_ key: ObjectKey) async throws -> ObjectInfo? {
        do {
            return try await head(key)
        } catch let error as StoreError where error.code == .badDigest {
            return nil
        }
    }
}

extension StoreError {
    /// What is wrong with an object that was read with `.badDigest`.
    var badDigestReason: String {
        isOfRecord ? ObjectExaminer.unreadableReason : "its bytes are not those that were stored"
    }

    /// - Parameter what: what is archived there: "a copy".
    static func unproved(_ key: ObjectKey, what: String) -> StoreError {
        StoreError(
            .archived, operation: "put", key: key.rawValue,
            message: "\(what) of this photo is archived under this key, and nothing proves its bytes before it is "
                + "restored. Restore it (sync-agent restore \(key)), and it is tried again")
    }

    /// Of a put that was to replace what is damaged, and is archived.
    /// - Parameters:
    ///   - reason: what is wrong with it, in plain words.
    ///   - what: what was put: "the photo".
    func ofRuin(_ reason: String, what: String) -> StoreError {
        StoreError(
            .archived, operation: "put", key: key,
            message: "\(reason), and archived objects are never rewritten. Remove it from the store by hand, and "
                + "\(what) is stored again", detail: detail)
    }
}

extension ObjectInfo {
    /// What the store proves of these bytes, by the size or a digest that it computed; `nil` when it tells none.
    func proof(of body: ObjectBody) -> Bool? {
        guard size == body.size else { return false }
        if let sha256 { return sha256 == body.digest.sha256 }
        return md5.map { $0 == body.digest.md5 }
    }

    /// Whether it has to be restored before anything can be done with it.
    var isLocked: Bool { !restore.allowsReading(ofArchived: storageClass.isArchive || isInArchiveTier) }
}

/// Puts bytes into a store and has it prove that it holds them. What was put counts as stored only by the store's own
/// words: the digest in its answer, or what it tells when it is asked, or the bytes that it gives back.
struct ProvenPut: Sendable {
    /// What the store says of the key after it took the bytes.
    enum Answer: Hashable, Sendable {
        /// The bytes, with their ETag, in a class.
        case holds(etag: String?, StorageClass)
        case lacks
        /// What it tells of them: they may have been there before.
        case holdsOther(ObjectInfo)
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
            return .holds(etag: receipt.etag, receipt.storageClass)
        }
        guard let stored = try await store.head(key) else { return .lacks }
        return try await ObjectReadback(store).holds(body, as: stored)
            ? .holds(etag: stored.etag, stored.storageClass) : .holdsOther(stored)
    }

    /// The same, where with `.ifAbsent` nothing may be but these.
    /// - Throws: as the others; with this message when the store does not prove that it holds them.
    func callAsFunction(
        _ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes, _ condition: PutCondition,
        orSay message: String
    ) async throws -> (etag: String?, storageClass: StorageClass) {
        let answer =
            condition == .ifAbsent
            ? try await whereNothingElseIs(body, at: key, attributes)
            : try await self(body, at: key, attributes, condition)
        guard case .holds(let etag, let storageClass) = answer else {
            throw StoreError(.badDigest, operation: "verify", key: key.rawValue, message: message)
        }
        return (etag, storageClass)
    }

    /// Puts bytes where nothing may be but these: a request whose answer was lost, or that somebody on the way has sent
    /// twice, has left them there itself.
    /// - Throws: as the other; `.alreadyExists` when other bytes are there.
    func whereNothingElseIs(
        _ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes
    ) async throws -> Answer {
        do {
            return try await self(body, at: key, attributes, .ifAbsent)
        } catch let error as StoreError where error.code == .alreadyExists {
            guard let stored = try await store.head(key), try await ObjectReadback(store).holds(body, as: stored) else {
                throw error
            }
            return .holds(etag: stored.etag, stored.storageClass)
        }
    }
}

/// Puts what a share consists of into the store, and proves it.
struct ShareStorage: Sendable {
    let store: any ObjectStore

    /// - Throws: ``StoreError``, also when the store does not hold what it took.
    @discardableResult
    func put(
        _ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes, _ condition: PutCondition = .overwrite
    ) async throws -> ShareObject {
        guard case .holds(let etag, _) = try await ProvenPut(store)(body, at: key, attributes, condition) else {
            throw StoreError(
                .badDigest, operation: "verify", key: key.rawValue,
                message: "the store does not hold what it took; it will be sent again")
        }
        return ShareObject(key: key, sha256: body.digest.sha256, etag: etag)
    }

    @discardableResult
    func put(
        text: [UInt8], type: String = MediaType.json.name, at key: ObjectKey, _ condition: PutCondition = .overwrite
    ) async throws -> ShareObject {
        let body = ObjectBody(bytes: text, digest: ContentDigest(of: text))
        return try await put(
            body, at: key,
            ObjectAttributes(contentType: type, metadata: [MetadataName.sha256: "\(body.digest.sha256)"]),
            condition)
    }

    /// Copies an object of the same bytes inside the store, so that none of them has to be sent.
    /// - Parameter metadata: that of the copy, and nothing else: whoever may read it sees that.
    /// - Returns: `nil` where that does not work, for whatever reason that a put would not meet too.
    func copy(
        _ source: ObjectKey, to key: ObjectKey, _ body: ObjectBody, metadata: [String: String]
    ) async throws -> ShareObject? {
        do {
            try await store.copy(
                source, to: key, storageClass: .standard, metadata: metadata, condition: .overwrite)
            guard let copy = try await store.head(key), copy.metadata == metadata,
                try await ObjectReadback(store).holds(body, as: copy)
            else { return nil }
            return ShareObject(key: key, sha256: body.digest.sha256, etag: copy.etag)
        } catch let error as StoreError where error.mayConcernOneObject {
            return nil
        }
    }
}
