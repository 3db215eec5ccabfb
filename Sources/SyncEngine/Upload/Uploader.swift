package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Stores photos, each of them once, and proves that the store holds them.
package struct Uploader: Sendable {
    /// What came of it. Failures are errors.
    package struct Receipt: Sendable {
        package let object: ObjectRecord
        package var sent = SentCount()
    }

    private let ledger: LedgerQueue
    private let store: any ObjectStore
    private let examiner: ObjectExaminer
    private let readback: ObjectReadback
    private let setAside: SetAsideContent
    private let versions: ProjectVersions?
    private let now: @Sendable () -> Date
    private let keys = KeyedLock<ObjectKey>()
    private let underWay = ObjectsUnderWay()

    /// - Parameter versions: keeps what is replaced under the names of files; where there is none, that is gone.
    package init(
        ledger: LedgerQueue, store: any ObjectStore, versions: ProjectVersions? = nil,
        now: @escaping @Sendable () -> Date
    ) {
        self.ledger = ledger
        self.store = store
        examiner = ObjectExaminer(store)
        readback = ObjectReadback(store)
        setAside = SetAsideContent(store: store, ledger: ledger)
        self.versions = versions
        self.now = now
    }

    /// Stores a photo. What has the same key waits for its turn, and then finds the photo stored.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func upload(_ photo: PreparedPhoto) async throws -> Receipt {
        try await keys.withKey(photo.plan.key) {
            let known = photo.known ?? underWay.object(photo.plan.key)
            var problem = known?.problem
            // Its twin may have been stored while this one was prepared; or somebody has mended what was broken.
            if let known, known.md5 == photo.examined.digest.md5 {
                switch try await check(known) {
                case .intact(let object, _): return Receipt(object: object)
                case .broken(let found): problem = found
                }
            }
            let receipt = try await store(photo, replacing: problem?.isDamage == true)
            underWay.note(receipt.object)
            return receipt
        }
    }

    /// Asks the store about what the ledger knows: what has got lost there is not "already stored". Then the ledger learns
    /// it, too.
    /// - Returns: `nil` when it has to be sent.
    /// - Throws: as ``upload(_:)``.
    package func confirm(_ known: ObjectRecord) async throws -> ObjectRecord? {
        if case .intact(let object, _) = try await check(known) { object } else { nil }
    }

    private func check(_ known: ObjectRecord) async throws -> ObjectExaminer.Verdict {
        let verdict = try await examiner.examine(known, reading: .inDoubt)
        if case .broken(let problem) = verdict, try await setAside.find(known) == nil {
            _ = try await ledger { [now] in try $0.markBroken([BrokenObject(known, problem)], at: now()) }
        }
        return verdict
    }

    /// - Parameter replacing: whether what is stored under the key is known to be damaged.
    private func store(_ photo: PreparedPhoto, replacing: Bool) async throws -> Receipt {
        guard let versions, let file = VersionedFile(photo.plan.key) else {
            if replacing { return try await replace(photo, Self.damage) }
            return try await put(photo)
        }
        var signed = photo
        signed.metadata[MetadataName.machine] = try await ledger { try $0.machineID() }
        if replacing, try await !isAnother(than: photo) { return try await replace(signed, Self.damage) }
        return try await versions.store(signed, as: file, upload: put)
    }

    private static let damage = "what is stored under this key is damaged"

    /// Whether what is stored under the name of a file is whole, and of another file: that of another machine, to which it
    /// is no damage.
    private func isAnother(than photo: PreparedPhoto) async throws -> Bool {
        guard let stored = try await store.readableHead(photo.plan.key), let md5 = stored.photoMD5,
            md5 != photo.examined.digest.md5, case .proven = try await readback.claim(of: stored)
        else { return false }
        return true
    }

    /// Puts a photo, and asks only the store what is under its key: of what is in no folder, the ledger knows nothing.
    /// - Throws: as ``upload(_:)``.
    func put(_ photo: PreparedPhoto) async throws -> Receipt {
        do {
            return try await send(photo, photo.plan.condition)
        } catch let error as StoreError where error.code == .alreadyExists || error.code == .archived {
            var receipt = try await adopt(photo, after: error)
            receipt.sent.bytes += error.sentBytes
            return receipt
        }
    }

    private func send(_ photo: PreparedPhoto, _ condition: PutCondition) async throws -> Receipt {
        let (body, key) = (photo.body, photo.plan.key)
        switch try await ProvenPut(store)(body, at: key, photo.attributes, condition) {
        case .holds(let etag, let storageClass):
            return Receipt(
                object: ObjectRecord(of: photo, etag: etag, storageClass: storageClass, storedAt: now()),
                sent: SentCount(isStored: true, bytes: body.size))
        case .lacks:
            throw StoreError(
                .invalidResponse, operation: "verify", key: key.rawValue,
                message: "the store took the photo and does not have it; it will be sent again")
        case .holdsOther(let stored):
            // It may be another machine's: then whoever has answered the put was not the store.
            guard stored.claimedSHA256 == body.digest.sha256, !stored.isLocked else {
                throw StoreError(
                    .conflict, operation: "verify", key: key.rawValue,
                    message: "the answer said that the photo is stored, and the store holds another object under its "
                        + "key; that one was left as it is, and the photo will be sent again")
            }
            // We have just made this object and it is wrong. Left there, it would pass for the photo at the next try.
            try await store.delete(key)
            throw StoreError(
                .badDigest, operation: "verify", key: key.rawValue,
                message: "the store holds other bytes than were sent; they were removed and will be sent again")
        }
    }

    /// Puts the photo in the place of an object that is damaged.
    /// - Parameter reason: why, in plain words.
    private func replace(_ photo: PreparedPhoto, _ reason: String) async throws -> Receipt {
        do {
            return try await send(photo, .overwrite)
        } catch let error as StoreError where error.code == .archived {
            throw error.ofRuin(reason, what: "the photo")
        }
    }

    /// Something is stored under the key already. It is the photo when the store proves equal bytes, or bytes of which it
    /// was said when they were stored that they are made from this photo (by a machine with other settings). What was such
    /// a copy once, and is damaged, is replaced; nothing else is overwritten.
    private func adopt(_ photo: PreparedPhoto, after error: StoreError) async throws -> Receipt {
        let key = photo.plan.key
        // What the store says of it without reading it is what it said before it was damaged.
        let isRuin = try await knowsAsRuin(key)
        guard let stored = try await store.head(key) else {
            throw StoreError(
                .conflict, operation: "put", key: key.rawValue,
                message: "the store says that it has it and then that it has not; it will be tried again")
        }
        let isNamed = stored.photoMD5 == photo.examined.digest.md5
        if !isRuin, stored.proof(of: photo.body) == true { return adopted(photo, stored) }
        guard photo.plan.condition == .ifAbsent, isNamed else {
            if stored.proof(of: photo.body) != false,
                try await readback.holds(photo.body, as: stored, isRuin: isRuin)
            {
                return adopted(photo, stored)
            }
            throw Self.other(stored, error)
        }
        switch try await readback.claim(of: stored, isRuin: isRuin) {
        case .proven(let sha256):
            var object = ObjectRecord(stored)
            object.sha256 = sha256
            object.takenAt = photo.copy.takenAt
            (object.dropped, object.note) = (photo.copy.dropped, photo.copy.note)
            return Receipt(object: object)
        case .contradicted(let reason):
            return try await replace(photo, "the copy that is stored under this key is damaged (\(reason))")
        case .none where !stored.isLocked:
            return try await replace(photo, "the copy that is stored under this key does not tell its digest")
        case .unprovable, .none:
            throw StoreError.unproved(key, what: "a copy")
        }
    }

    /// As the ledger does.
    func knowsAsRuin(_ key: ObjectKey) async throws -> Bool { try await ledger.knowsAsRuin(key) }

    private func adopted(_ photo: PreparedPhoto, _ stored: ObjectInfo) -> Receipt {
        Receipt(
            object: ObjectRecord(
                of: photo, etag: stored.etag, storageClass: stored.storageClass, storedAt: now()))
    }

    private static func other(_ stored: ObjectInfo, _ error: StoreError) -> StoreError {
        StoreError(
            error.code == .archived ? .archived : .invalidRequest, operation: "put", key: stored.key.rawValue,
            message: error.code == .archived
                ? "another version is archived under this key, and archived objects are never rewritten"
                : "another object (\(stored.size) bytes) is stored under this key; it was left as it is, and may be the"
                    + " only copy of something: save it (sync-agent restore \(stored.key.rawValue) --output DIR) before you"
                    + " remove it from the store"
        )
    }
}

extension ObjectRecord {
    /// Of a photo that was stored as it was prepared.
    init(of photo: PreparedPhoto, etag: String? = nil, storageClass: StorageClass = .standard, storedAt: Date) {
        self.init(
            key: photo.plan.key, size: photo.body.size, md5: photo.examined.digest.md5,
            sha256: photo.copy.digest.sha256, contentType: photo.copy.type.name, storageClass: storageClass,
            width: photo.copy.width, height: photo.copy.height, duration: photo.copy.duration,
            takenAt: photo.copy.takenAt, storedAt: storedAt,
            storedMD5: photo.body.digest.md5, etag: etag, dropped: photo.copy.dropped, note: photo.copy.note)
    }
}

/// Objects that were proved a moment ago, and that the ledger does not know yet: whoever sent them commits them after the
/// key is free again.
private final class ObjectsUnderWay: Sendable {
    private struct State {
        var objects: [ObjectKey: ObjectRecord] = [:]
        /// Their keys, the one that was noted longest ago first.
        var keys: [ObjectKey] = []
    }

    /// More than are stored while one photo is prepared and waits for its turn, and than wait to be written down.
    private static let capacity = 4 * EndingQueue.capacity
    private let state = Lock(State())

    func object(_ key: ObjectKey) -> ObjectRecord? {
        state.withLock { $0.objects[key] }
    }

    func note(_ object: ObjectRecord) {
        state.withLock { state in
            // One that is stored again is among the latest.
            let isKnown = state.objects.updateValue(object, forKey: object.key) != nil
            if isKnown { state.keys.removeAll { $0 == object.key } }
            state.keys.append(object.key)
            if state.keys.count > Self.capacity { state.objects[state.keys.removeFirst()] = nil }
        }
    }
}

/// A photo that is ready to be sent: the place it goes to, and the bytes to store.
package struct PreparedPhoto: Sendable {
    /// The photo; its stamp is that of the file that it is or stands in.
    package let examined: PhotoFacts
    package var plan: PlannedUpload
    package let copy: StoredCopy
    /// The bytes of the copy with their digests.
    package let body: ObjectBody
    /// What the ledger knew under its key before it was prepared: it is looked up once.
    package let known: ObjectRecord?
    /// User metadata beside what is told of every photo.
    package var metadata: [String: String] = [:]
}

extension PreparedPhoto {
    /// A photo that is a file; a copy that is the file itself is sent from the disk.
    package init(
        _ file: FilePath, examined: PhotoFacts, plan: PlannedUpload, copy: StoredCopy, known: ObjectRecord? = nil
    ) {
        self.init(
            examined: examined, plan: plan, copy: copy, body: ObjectBody(copy, of: file, examined.stamp), known: known)
    }

    /// A photo in memory.
    package init(
        _ bytes: [UInt8], examined: PhotoFacts, plan: PlannedUpload, copy: StoredCopy, known: ObjectRecord? = nil
    ) {
        let body =
            switch copy.content {
            case .reduced(let bytes): ObjectBody(bytes: bytes, digest: copy.digest)
            case .patched: preconditionFailure("only files are patched")
            case .unchanged: ObjectBody(bytes: bytes, digest: copy.digest)
            }
        self.init(examined: examined, plan: plan, copy: copy, body: body, known: known)
    }

    package var attributes: ObjectAttributes {
        var metadata = [
            MetadataName.sha256: "\(copy.digest.sha256)",
            MetadataName.md5: "\(examined.id)",
            MetadataName.storedMD5: "\(copy.digest.md5)",
        ]
        metadata[MetadataName.width] = copy.width.map(String.init)
        metadata[MetadataName.height] = copy.height.map(String.init)
        metadata[MetadataName.duration] = copy.duration?.secondsText
        metadata[MetadataName.takenAt] = copy.takenAt?.description
        metadata.merge(self.metadata) { own, _ in own }
        return ObjectAttributes(contentType: copy.type.name, metadata: metadata)
    }
}
