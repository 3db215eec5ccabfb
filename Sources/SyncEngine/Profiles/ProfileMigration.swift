import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncLedger

/// Gives events and archived photos that go by a telephone number the UUID of its profile, and photos whose key may tell
/// one in another way a key that does not.
///
/// It may be stopped at any point and run again: what is done stays done.
package struct ProfileMigration: Sendable {
    /// A telephone number that no profile has.
    package struct Orphan: Hashable, Sendable {
        /// As events or keys give it.
        package let profile: String
        package let phone: PhoneNumber
        package internal(set) var events = 0
        /// Archived under it.
        package internal(set) var photos = 0
    }

    /// What may be a telephone number, and cannot be read: as for an orphan's, nothing of it gets into a key.
    package struct Waiting: Hashable, Sendable {
        package let profile: String
        package internal(set) var events = 0
        /// Archived under it.
        package internal(set) var photos = 0
    }

    /// A photo that stays under its telephone number for now.
    package struct Left: Hashable, Sendable {
        package let key: ObjectKey
        package let reason: String
    }

    package struct Summary: Hashable, Sendable {
        /// Events.
        package internal(set) var mapped = 0
        package internal(set) var alreadyMapped = 0
        /// Archived photos that have got a key with the UUID.
        package internal(set) var moved = 0
        package internal(set) var left: [Left] = []
        /// In the order of their texts.
        package internal(set) var orphans: [Orphan] = []
        /// In the order of their texts.
        package internal(set) var waiting: [Waiting] = []
        /// Why they wait.
        package internal(set) var obstacle: ProfileObstacle
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let book: ProfileBook
    private let mover: ArchivedPhotoMover

    /// - Parameter store: with retries.
    package init(store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, book: ProfileBook, time: TimeSource) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.book = book
        mover = ArchivedPhotoMover(store: store, ledger: ledger, keys: keys, book: book, time: time)
    }

    /// - Parameters:
    ///   - isDryRun: finds out what would be done, and changes nothing. What the store denies is noted all the same:
    ///     the ledger has to be a copy.
    ///   - progress: how many photos were looked at by now, of those that go by a number.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, ``LedgerError``, `CancellationError`.
    package func run(isDryRun: Bool, progress: (Int, Int) -> Void = { _, _ in }) async throws -> Summary {
        var result = Summary(obstacle: book.obstacle)
        var orphans: [ByteString: Orphan] = [:]
        var waiting: [ByteString: Waiting] = [:]
        for use in try await ledger({ try $0.profileUses() }) {
            switch book.owner(of: use.profile) {
            case .id, .doubtful, .merged: continue
            // Its region was set when it was mapped.
            case .unread where use.uuid != nil: result.alreadyMapped += use.events
            case .unread: waiting[use.profile.inBytes, default: Waiting(profile: use.profile)].events += use.events
            // It is given by its UUID.
            case .known(let profile) where use.profile.lowercased().inBytes == profile.uuid.inBytes: continue
            case .known(let profile) where use.uuid == profile.uuid: result.alreadyMapped += use.events
            case .known(let profile):
                result.mapped += use.events
                if !isDryRun { _ = try await ledger { try $0.mapProfile(use.profile, to: profile) } }
            case .orphan(let phone):
                orphans[use.profile.inBytes, default: Orphan(profile: use.profile, phone: phone)].events += use.events
            }
        }
        let archived = try await archivedByNumber()
        result.left += archived.problems.map { Left(key: $0.key, reason: $0.reason) }
        for (place, phone) in archived.ownerless {
            orphans[place.profile.inBytes, default: Orphan(profile: place.profile, phone: phone)].photos += 1
        }
        for place in archived.unread {
            waiting[place.profile.inBytes, default: Waiting(profile: place.profile)].photos += 1
        }
        let earlier = try await EarlierDenials(of: .profiles, in: ledger, time: mover.time)
        let denied = DeniedObjects(earlier)
        for (index, (place, profile)) in earlier.order(archived.movable, by: { $0.0.key }).enumerated() {
            switch try await mover.move(place, to: profile, denied, isDryRun: isDryRun) {
            case .moved: result.moved += 1
            case .left(let reason): result.left.append(Left(key: place.key, reason: reason))
            }
            progress(index + 1, archived.movable.count)
        }
        result.orphans = orphans.values.sorted { $0.profile.inBytes < $1.profile.inBytes }
        result.waiting = waiting.values.sorted { $0.profile.inBytes < $1.profile.inBytes }
        return result
    }

    private struct Archived {
        /// With the profile as it is to stand in the key.
        var movable: [(ArchivedPhotoPlace, String)] = []
        var ownerless: [(ArchivedPhotoPlace, PhoneNumber)] = []
        var unread: [ArchivedPhotoPlace] = []
        var problems: [ObjectProblem] = []
    }

    /// The archived photos whose key may tell a telephone number: with what is to stand in its place, those that have no
    /// profile, and those of which it cannot be told.
    private func archivedByNumber() async throws -> Archived {
        var found = Archived()
        // Keys of one profile come one after the other.
        var last: (profile: String, owner: ProfileBook.Owner)?
        for try await page in store.listing(prefix: keys.galleryArchive) {
            found.problems += page.problems.filter { problem in
                guard let place = ArchivedPhotoPlace(problem.key, of: keys) else { return false }
                if case .id = book.owner(of: place.profile) { return !mayStay(place) }
                return true
            }
            for object in page.objects {
                guard let place = ArchivedPhotoPlace(object.key, of: keys) else { continue }
                let owner =
                    last?.profile.inBytes == place.profile.inBytes ? last?.owner ?? .id : book.owner(of: place.profile)
                last = (place.profile, owner)
                switch owner {
                case .known(let profile) where profile.uuid.inBytes != place.profile.inBytes:
                    found.movable.append((place, profile.uuid))
                case .doubtful(let pseudonym): found.movable.append((place, pseudonym))
                case .merged(let id): found.movable.append((place, id))
                case .known, .id: if !mayStay(place) { found.movable.append((place, place.profile)) }
                case .orphan(let phone): found.ownerless.append((place, phone))
                case .unread: found.unread.append(place)
                }
            }
        }
        return found
    }

    /// Whether the event's id in the key tells no telephone number.
    private func mayStay(_ place: ArchivedPhotoPlace) -> Bool { book.mayLeave(eventID: place.eventID, of: place.month) }
}

/// Gives an archived photo another key, that of its profile, in which no telephone number is: the new object is proven before
/// the old one goes.
///
/// It is read and put, not copied in the store: what is stored beside the bytes names the profile too.
struct ArchivedPhotoMover: Sendable {
    private static let mostBytes = 512 << 20

    enum Outcome: Hashable, Sendable {
        case moved
        /// Nothing has changed, and why.
        case left(String)
    }

    let store: any ObjectStore
    let ledger: LedgerQueue
    let keys: KeyLayout
    let book: ProfileBook
    let time: TimeSource

    /// - Parameters:
    ///   - profile: as it is to stand in the key.
    ///   - denied: of the whole run.
    /// - Throws: ``StoreError`` when the store as a whole cannot be used, or gives none; ``LedgerError``,
    ///   `CancellationError`.
    func move(
        _ place: ArchivedPhotoPlace, to profile: String, _ denied: DeniedObjects, isDryRun: Bool
    ) async throws -> Outcome {
        do {
            let answer = try await denied.ask(for: place.key) {
                try await moveIfReadable(place, to: profile, isDryRun: isDryRun)
            }
            switch answer {
            case .success(let outcome): return outcome
            case .failure(let error): return .left("\(error)")
            }
        } catch let error as InvalidName {
            return .left("\(error)")
        }
    }

    private func moveIfReadable(_ place: ArchivedPhotoPlace, to profile: String, isDryRun: Bool) async throws -> Outcome
    {
        guard let old = try await store.head(place.key) else { return .left("the store no longer has it") }
        guard ArchivedGalleryPhoto(old, at: place).isReadable else {
            return .left("it is archived: bring it back with sync-agent restore, then run sync-agent profiles migrate")
        }
        return isDryRun ? .moved : try await move(old, at: place, to: profile)
    }

    private func move(_ old: ObjectInfo, at place: ArchivedPhotoPlace, to profile: String) async throws
        -> Outcome
    {
        let bytes = try await ObjectReader(store: store, limit: Self.mostBytes, time: time).read(place.key)
        let body = ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes))
        if let claimed = old.claimedSHA256, claimed != body.digest.sha256 {
            return .left("its bytes are not those that were stored; look at it")
        }
        let event = event(of: old, at: place)
        var metadata = old.metadata
        metadata[MetadataName.profile] = profile
        if metadata[MetadataName.eventID] != nil { metadata[MetadataName.eventID] = event.id }
        if let user = metadata[MetadataName.user], !book.mayLeave(user) { metadata[MetadataName.user] = keys.user }
        if let type = metadata[MetadataName.eventType], !book.mayLeave(type) { metadata[MetadataName.eventType] = nil }
        if let title = metadata[MetadataName.taskTitle] { metadata[MetadataName.taskTitle] = book.title(title) }
        metadata[MetadataName.sha256] = "\(body.digest.sha256)"
        let type = old.contentType ?? MediaType.jpeg.name
        let attributes = ObjectAttributes(contentType: type, metadata: metadata)
        // What is there already is no copy of itself.
        let itself = Outcome.left("it has this profile's name already")
        var key = try keys.archivedPhoto(profile: profile, month: place.month, event: event.inKey)
        guard key != place.key else { return itself }
        var answer = try await put(body, at: key, attributes)
        // Both profiles have an event of this id, or this photo under another title.
        if answer == .otherTitle || (answer == .other && book.isMerged(place.profile)) {
            key = try keys.archivedPhoto(
                profile: profile, month: place.month, event: event.inKey, besides: old.photoMD5 ?? body.digest.md5)
            guard key != place.key else { return itself }
            answer = try await put(body, at: key, attributes)
        }
        let stored: (etag: String?, storageClass: StorageClass)
        switch answer {
        case .holds(let etag, let storageClass): stored = (etag, storageClass)
        case .otherTitle: return .left("it is stored as \(key) with another title, and stays for its own")
        case .other: return .left("another photo is stored as \(key)")
        }
        let record = ObjectRecord(
            key: key, size: body.size, md5: old.photoMD5, sha256: body.digest.sha256, contentType: type,
            storageClass: stored.storageClass, width: old.width, height: old.height, storedAt: time.now(),
            etag: stored.etag)
        try await ledger.finish {
            try $0.moveArchivedPhoto(place.key, to: record, profile: profile)
        }
        // Whatever took it away since, the old one may be the only one now.
        guard let new = try await store.head(record.key), try await ObjectReadback(store).holds(body, as: new) else {
            try await ledger.finish {
                try $0.moveArchivedPhoto(record.key, to: ObjectRecord(old), profile: place.profile)
            }
            return .left("what was stored as \(record.key) is not there any more; run it again")
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

    /// What a key holds after a put.
    private enum Answer: Equatable {
        case holds(etag: String?, StorageClass)
        /// The same photo of the same event, and not the title that this one has.
        case otherTitle
        /// Another photo, or one that the store does not prove to be this one.
        case other
    }

    private func put(_ body: ObjectBody, at key: ObjectKey, _ attributes: ObjectAttributes) async throws -> Answer {
        do {
            guard
                case .holds(let etag, let storageClass) = try await ProvenPut(store)(
                    body, at: key, attributes, .ifAbsent)
            else { return .other }
            return .holds(etag: etag, storageClass)
        } catch let error as StoreError where error.code == .alreadyExists || error.code == .archived {
            // An earlier run came so far, or somebody else's photo is there.
        }
        guard let stored = try await store.head(key),
            // One picture of two events.
            stored.metadata[MetadataName.originalCreatedAt] == attributes.metadata[MetadataName.originalCreatedAt],
            try await ObjectReadback(store).holds(body, as: stored, isRuin: ledger.knowsAsRuin(key))
        else { return .other }
        guard Self.holds(stored.metadata[MetadataName.taskTitle], title: attributes.metadata[MetadataName.taskTitle])
        else { return .otherTitle }
        return .holds(etag: stored.etag, stored.storageClass)
    }

    /// Whether nothing of a title is lost with the photo that has it. The end of one may have been cut.
    private static func holds(_ kept: String?, title: String?) -> Bool {
        guard let title else { return true }
        return kept?.utf8.starts(with: title.utf8) ?? false
    }
}
