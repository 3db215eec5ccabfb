package import SyncCore
package import SyncLedger

/// Asks a store whether an object is what was stored.
package struct ObjectExaminer: Sendable {
    package enum Reading: Hashable, Sendable {
        /// What the store's digests leave open, or contradict, is read back.
        case inDoubt
        /// Whatever can be read is.
        case always
    }

    package enum Standing: Hashable, Sendable {
        /// As it is known now. Read is also what was held against the store's words because it is archived.
        case intact(ObjectRecord, isRead: Bool)
        case broken(ObjectFault)
    }

    private let store: any ReadableStore
    private let readback: ObjectReadback

    package init(_ store: any ReadableStore) {
        self.store = store
        readback = ObjectReadback(store)
    }

    /// - Parameter isUnlisted: whether a listing has just left it out. Else one is asked for before it is called missing: a
    ///   404 may come from a proxy that is being set up, too.
    /// - Throws: ``StoreError``, `CancellationError`: then nothing is known.
    package func look(
        at known: ObjectRecord, reading: Reading, isUnlisted: Bool = false
    ) async throws -> Standing {
        if reading == .always, !known.storageClass.isArchive, let standing = try await read(known, isUnlisted) {
            return standing
        }
        let answer: ObjectInfo?
        do {
            answer = try await store.head(known.key)
        } catch let error as StoreError where error.code == .badDigest {
            // The store itself says that nobody can read it: a put replaces it.
            return .broken(.damaged("what the store has noted of it cannot be read"))
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
        if let standing = try await read(known, isUnlisted) { return standing }
        throw StoreError(
            .conflict, operation: "get", key: known.key.rawValue,
            message: "the store says that it can be read and then that it is archived; it is looked at again later")
    }

    /// - Returns: `nil` when it cannot be read before it is restored.
    private func read(_ known: ObjectRecord, _ isUnlisted: Bool) async throws -> Standing? {
        switch try await readback.read(known.key) {
        case .archived: nil
        case .missing: try await absent(known, isUnlisted)
        case .damaged(let reason): .broken(.damaged(reason))
        case .read(let info, let digest): known.judged(by: digest, info)
        }
    }

    private func absent(_ known: ObjectRecord, _ isUnlisted: Bool) async throws -> Standing {
        if !isUnlisted {
            let page = try await store.list(prefix: known.key.rawValue, after: nil, limit: 1)
            if page.objects.contains(where: { $0.key == known.key }) {
                throw StoreError(
                    .conflict, operation: "head", key: known.key.rawValue,
                    message: "the store lists it, and says that it does not have it; it is looked at again later")
            }
        }
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
        return .other("the store tells another ETag than when it was stored")
    }

    /// What bytes that were read say. Another machine may have stored another copy of the same photo.
    func judged(by digest: ContentDigest, _ info: ObjectInfo) -> ObjectExaminer.Standing {
        var record = learning(info)
        record.storedMD5 = digest.md5
        if sha256 == digest.sha256 { return .intact(record, isRead: true) }
        let claimed = info.claimedSHA256
        let isOurs = sha256 == nil && size == info.size && claimed ?? digest.sha256 == digest.sha256
        let isReplaced = md5 != nil && md5 == info.photoMD5 && claimed == digest.sha256
        guard isOurs || isReplaced else {
            return .broken(.damaged("its bytes have another SHA-256 than those that were stored"))
        }
        record.size = info.size
        record.sha256 = digest.sha256
        if isReplaced {
            record.width = info.width ?? width
            record.height = info.height ?? height
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
