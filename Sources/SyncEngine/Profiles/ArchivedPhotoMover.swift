import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger

/// Gives an archived photo another key, in which no telephone number is: the new object is proven before the old one goes.
///
/// It is read and put, not copied in the store: what is stored beside the bytes names the profile too.
struct ArchivedPhotoMover: Sendable {
    private static let mostBytes = 512 << 20

    enum Outcome: Hashable, Sendable {
        case moved
        /// Nothing has changed, and why.
        case left(String)
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let book: ProfileBook
    private let reader: ObjectReader
    private let time: TimeSource

    init(store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, book: ProfileBook, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.book = book
        self.time = time
        reader = ObjectReader(store, limit: Self.mostBytes, time: time)
    }

    /// - Parameter profile: as it is to stand in the key.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, ``LedgerError``, `CancellationError`.
    func move(_ place: ArchivedPhotoPlace, to profile: String, isDryRun: Bool) async throws -> Outcome {
        do {
            guard let old = try await store.head(place.key) else { return .left("the store no longer has it") }
            guard ArchivedGalleryPhoto(old, at: place).isReadable else {
                return .left("it is archived: bring it back with sync-agent restore, and migrate again")
            }
            return isDryRun ? .moved : try await move(old, at: place, to: profile)
        } catch let error as StoreError where !error.concernsWholeStore {
            return .left("\(error)")
        } catch let error as InvalidName {
            return .left("\(error)")
        }
    }

    private func move(_ old: ObjectInfo, at place: ArchivedPhotoPlace, to profile: String) async throws
        -> Outcome
    {
        let bytes = try await reader.read(place.key)
        let body = ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes))
        if let noted = old.metadata[MetadataName.sha256], noted != "\(body.digest.sha256)" {
            return .left("its bytes are not those that were stored; look at it")
        }
        let event = event(of: old, at: place)
        let key = try place.key(underProfile: profile, event: event.inKey, of: keys)
        var metadata = old.metadata
        metadata[MetadataName.profile] = profile
        if metadata[MetadataName.eventID] != nil { metadata[MetadataName.eventID] = event.id }
        if let user = metadata[MetadataName.user], !book.mayLeave(user) { metadata[MetadataName.user] = keys.user }
        if let type = metadata[MetadataName.eventType], !book.mayLeave(type) { metadata[MetadataName.eventType] = nil }
        if let title = metadata[MetadataName.taskTitle] { metadata[MetadataName.taskTitle] = book.title(title) }
        metadata[MetadataName.sha256] = "\(body.digest.sha256)"
        let type = old.contentType ?? MediaType.jpeg.name
        guard try await put(body, at: key, ObjectAttributes(contentType: type, metadata: metadata)) else {
            return .left("another photo is stored as \(key)")
        }
        let record = ObjectRecord(
            key: key, size: body.size, md5: metadata[MetadataName.md5].flatMap { MD5Digest(hex: $0) },
            sha256: body.digest.sha256, contentType: type,
            width: metadata[MetadataName.width].flatMap { Int($0) },
            height: metadata[MetadataName.height].flatMap { Int($0) }, storedAt: time.now())
        try await ledger.finish {
            try $0.moveArchivedPhoto(place.key, to: record, profile: profile)
        }
        try await store.delete(place.key)
        return .moved
    }

    /// The event's id as it may be told, and as the key ends with it: that of a second photo under one id is longer.
    private func event(of old: ObjectInfo, at place: ArchivedPhotoPlace) -> (id: String, inKey: String) {
        let id = old.metadata[MetadataName.eventID] ?? place.eventID
        let mayLeave = { book.mayLeave(eventID: $0, of: place.month) }
        guard !mayLeave(id) || !mayLeave(place.eventID) else { return (id, place.eventID) }
        let pseudonym = book.pseudonym(ofEvent: id)
        guard place.eventID.utf8.starts(with: id.utf8) else { return (pseudonym, pseudonym) }
        return (pseudonym, pseudonym + String(decoding: place.eventID.utf8.dropFirst(id.utf8.count), as: UTF8.self))
    }

    /// - Returns: whether the store proves that it holds these bytes under the key.
    private func put(_ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes) async throws -> Bool {
        do {
            let receipt = try await store.put(body, at: key, attributes: attributes, condition: .ifAbsent)
            if receipt.sha256 == body.digest.sha256 || receipt.md5 == body.digest.md5 || receipt.provesParts {
                return true
            }
        } catch let error as StoreError where error.code == .alreadyExists || error.code == .archived {
            // An earlier run came so far, or somebody else's photo is there.
        }
        guard let stored = try await store.head(key) else { return false }
        return try await ObjectReadback(store).holds(body, as: stored)
    }
}
