import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SystemPackage

/// Brings the photo of one event into the archive, and proves that it is there.
struct EventArchiver: Sendable {
    /// Bytes. A stored photo that is larger is not brought here: it has to pass through memory.
    private static let mostBytes = 512 << 20

    enum Answer: Sendable {
        /// With the profile that its key has.
        case proven(ObjectRecord, profile: String)
        /// Nothing anywhere holds a photo of it.
        case noPhoto
        /// What is wrong with it; it quotes nothing of the event.
        case failed(String, FilePath?)
    }

    let store: any ObjectStore
    let uploader: Uploader
    let reducer: any PhotoReducer
    let beside: BesidePhotoCheck
    let pool: BlockingPool
    let policy: ReducePolicy
    let user: String
    let keepsTitles: Bool
    let words: ArchiveWords
    let time: TimeSource

    /// - Parameter moves: finds what another machine has moved.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    func archive(
        _ event: EventRecord, at place: EventArchiveKey, from occurrences: [EventOccurrence],
        moves: MergedPhotosLookup? = nil
    ) async throws -> Answer {
        let withPhoto = occurrences.filter { $0.event.photo != .none }
        // Its element is gone: most likely an earlier run came so far.
        if withPhoto.isEmpty {
            if let object = try await archived(event, at: place) { return .proven(object, profile: place.profile) }
            for profile in try await moves?.successors(of: place.profile) ?? [] {
                var other = place
                other.profile = profile
                if let object = try await archived(event, at: other) { return .proven(object, profile: profile) }
            }
        }
        var failure: Answer?
        for occurrence in withPhoto {
            do {
                let photo = try await pool.run { [self] in try self.photo(in: occurrence, of: event, at: place) }
                return .proven(try await put(photo, at: place), profile: place.profile)
            } catch let error as PhotoError {
                // What is in the pool may be less than the photo that would be cut out of the file.
                if error.isPermanent, case .inline = occurrence.event.photo {
                    return .failed(error.message, occurrence.file)
                }
                failure = failure ?? .failed(error.message, occurrence.file)
            }
        }
        guard let object = event.object else { return failure ?? .noPhoto }
        if let failure {
            let isTheirs = try await pool.run { [self] in try mayBePhoto(object, of: withPhoto) }
            if !isTheirs { return failure }
        }
        do {
            let photo = try await storedPhoto(object, of: event, title: title(in: occurrences), at: place)
            return .proven(try await put(photo, at: place), profile: place.profile)
        } catch let error as PhotoError {
            return .failed(error.message, occurrences.first?.file)
        }
    }

    /// Whether what is stored is the photo of one of these elements. What stands in a file is held against it when it
    /// is cut.
    private func mayBePhoto(_ object: ObjectRecord, of occurrences: [EventOccurrence]) throws -> Bool {
        guard let md5 = object.md5 else { return false }
        return try occurrences.contains { occurrence in
            switch occurrence.event.photo {
            case .none: false
            case .inline: true
            case .beside(let name): try beside.whyOther(than: md5, name, beside: occurrence.place) == nil
            }
        }
    }

    // MARK: The archive

    /// Stores a photo, under a key of its own where the photo of another event has the first one.
    private func put(_ photo: PreparedPhoto, at place: EventArchiveKey) async throws -> ObjectRecord {
        do {
            return try await uploader.put(photo).object
        } catch let error as StoreError where error.mayConcernOneObject {
            let md5 = photo.examined.digest.md5
            guard let other = try await store.readableHead(photo.plan.key),
                other.metadata[MetadataName.eventID]?.inBytes == place.event.inBytes,
                let theirs = other.photoMD5, theirs != md5
            else { throw error }
            var photo = photo
            photo.plan.key = try place.key(besides: md5)
            return try await uploader.put(photo).object
        }
    }

    /// The event's photo, if the store proves that it holds it.
    private func archived(_ event: EventRecord, at place: EventArchiveKey) async throws -> ObjectRecord? {
        if let object = try await archived(event, at: place, under: place.key()) { return object }
        guard let md5 = event.photoMD5 else { return nil }
        return try await archived(event, at: place, under: place.key(besides: md5))
    }

    private func archived(
        _ event: EventRecord, at place: EventArchiveKey, under key: ObjectKey
    ) async throws -> ObjectRecord? {
        // Of a second event under one id, the photo has to be known.
        if event.photoMD5 == nil, event.isOfUsedID { return nil }
        guard let info = try await store.readableHead(key), info.size > 0,
            info.metadata[MetadataName.eventID]?.inBytes == place.event.inBytes,
            case .proven(let sha256) = try await ObjectReadback(store)
                .claim(of: info, isRuin: uploader.knowsAsRuin(key)),
            let md5 = info.photoMD5, event.photoMD5 == nil || event.photoMD5 == md5
        else { return nil }
        var object = ObjectRecord(info)
        object.sha256 = sha256
        return object
    }

    // MARK: The photo

    /// - Throws: ``PhotoError``.
    private func photo(
        in occurrence: EventOccurrence, of event: EventRecord, at place: EventArchiveKey
    ) throws -> PreparedPhoto {
        let (element, start) = (occurrence.element, occurrence.element.lowerBound)
        let bytes = try reducer.eventText(of: occurrence.file, element, stamp: occurrence.stamp)
        let upload = PlannedUpload(key: try key(of: place), condition: .ifAbsent, type: .unknown)
        var photo: PreparedPhoto
        switch occurrence.event.photo {
        case .none: throw PhotoError(.missing, "it has no photo")
        case .inline(let range):
            let text = bytes[range.lowerBound - start..<range.upperBound - start]
            guard let decoded = Base64Text(text).decoded() else {
                throw PhotoError(.changed, "the file changed after it was read")
            }
            let copy = try whole(reducer.reduce(decoded, policy: policy), of: decoded)
            let examined = PhotoFacts(
                stamp: occurrence.stamp, type: copy.type, digest: ContentDigest(of: decoded))
            photo = PreparedPhoto(decoded, examined: examined, plan: upload, copy: copy)
        case .beside(let name):
            let file = occurrence.file.removingLastComponent().appending(name)
            let examined = try examine(beside: file)
            let copy = try reducer.reduce(file, examined: examined, policy: policy)
            photo = PreparedPhoto(file, examined: examined, plan: upload, copy: copy)
        }
        photo.metadata = metadata(of: event, title: Self.title(in: bytes), at: place, beside: photo.attributes.metadata)
        return photo
    }

    /// What a reduced copy of a picture that is no JPEG would lose for good.
    private static let lasting: Set<DroppedPart> = [.gainMap, .secondPicture, .motion, .alpha, .depth, .raw]

    /// The photo leaves its file for good: what a reduced copy would lose of it, but sharpness, is kept with all of it.
    private func whole(_ copy: StoredCopy, of photo: [UInt8]) throws(PhotoError) -> StoredCopy {
        guard case .reduced = copy.content, copy.type.kind == .jpeg else { return copy }
        let isJPEG = photo.starts(with: [0xFF, 0xD8, 0xFF])
        let extent = JPEGExtent(photo)
        guard isJPEG ? extent.holdsMore : !Self.lasting.isDisjoint(with: copy.dropped) else { return copy }
        guard !policy.stripLocation else {
            throw PhotoError(
                .unsupported,
                "its photo holds more than one picture, which only the file itself keeps, and photos.strip_location"
                    + " forbids to store that; it stays where it is")
        }
        if !isJPEG {
            var policy = policy
            policy.maximumDimension = .max
            return try reducer.reduce(photo, policy: policy)
        }
        var copy = copy
        copy.content = .unchanged
        copy.digest = ContentDigest(of: photo)
        copy.dropped = []
        (copy.width, copy.height) = (extent.width, extent.height)
        return copy
    }

    private func key(of place: EventArchiveKey) throws(PhotoError) -> ObjectKey {
        do {
            return try place.key()
        } catch {
            throw PhotoError(.unsupported, "\(error)")
        }
    }

    private func examine(beside file: FilePath) throws(PhotoError) -> PhotoFacts {
        do {
            return try reducer.examine(file)
        } catch {
            throw error.code == .missing ? PhotoError(.missing, BesidePhotoCheck.missing) : error
        }
    }

    /// The photo as it is in the pool. It was reduced when it came there, maybe before places were to be left out.
    private func storedPhoto(
        _ object: ObjectRecord, of event: EventRecord, title: String?, at place: EventArchiveKey
    ) async throws -> PreparedPhoto {
        let bytes = try await ObjectReader(store: store, limit: Self.mostBytes, time: time).read(object.key)
        return try await pool.run { [self] in
            let digest = ContentDigest(of: bytes)
            var copy = StoredCopy(
                content: .unchanged, type: MediaType(.image, object.contentType), digest: digest, width: object.width,
                height: object.height, takenAt: object.takenAt)
            if policy.stripLocation { copy = try reducer.reduce(bytes, policy: policy) }
            let type = copy.type
            // The photo itself is not at hand. What names it is its MD5.
            let examined = PhotoFacts(
                stamp: FileStamp(device: 0, inode: 0, size: 0, modified: 0), type: type,
                digest: ContentDigest(md5: object.md5 ?? digest.md5, sha256: digest.sha256))
            var photo = PreparedPhoto(
                bytes, examined: examined,
                plan: PlannedUpload(key: try key(of: place), condition: .ifAbsent, type: type), copy: copy)
            photo.metadata = metadata(of: event, title: title, at: place, beside: photo.attributes.metadata)
            return photo
        }
    }

    // MARK: The title

    private func title(in occurrences: [EventOccurrence]) async throws -> String? {
        try await pool.run {
            for occurrence in occurrences {
                guard
                    let bytes = try? reducer.eventText(
                        of: occurrence.file, occurrence.element, stamp: occurrence.stamp),
                    let title = Self.title(in: bytes)
                else { continue }
                return title
            }
            return nil
        }
    }

    private static func title(in element: [UInt8]) -> String? {
        JSONObject(element, at: 0..<element.count)?.firstText("taskTitle")
    }

    private func metadata(
        of event: EventRecord, title: String?, at place: EventArchiveKey, beside others: [String: String]
    ) -> [String: String] {
        var metadata = [
            MetadataName.user: place.user ?? user,
            MetadataName.profile: place.profile,
            MetadataName.eventID: place.event,
            MetadataName.originalCreatedAt: event.createdAt.formatted(.iso8601),
            MetadataName.archivedAt: time.now().formatted(.iso8601),
        ]
        metadata[MetadataName.eventType] = place.type?.rawValue
        if keepsTitles, let title = title.flatMap({ words.title($0) }) {
            let taken = MetadataSize.bytes(of: metadata) + MetadataSize.bytes(of: others)
            metadata[MetadataName.taskTitle] = MetadataSize.cut(title, as: MetadataName.taskTitle, beside: taken)
        }
        return metadata
    }
}

/// How much user metadata takes in a request: S3 allows 2 KB of it (S3 User Guide, "User-defined object metadata").
enum MetadataSize {
    /// Bytes, of 2,048; the rest is for whoever counts the names with their prefix or the line ends.
    static let limit = 1_900
    /// A value travels percent-encoded: a byte beyond printable ASCII takes three.
    static func bytes(of value: some StringProtocol) -> Int {
        value.utf8.reduce(0) { $0 + ((0x21...0x7E).contains($1) && $1 != UInt8(ascii: "%") ? 1 : 3) }
    }

    static func bytes(of metadata: [String: String]) -> Int {
        metadata.reduce(0) { $0 + $1.key.utf8.count + bytes(of: $1.value) }
    }

    /// As many whole characters of a value as there is room for; `nil` when there is room for none.
    /// - Parameter taken: bytes of the metadata that it stands beside.
    static func cut(_ value: String, as name: String, beside taken: Int) -> String? {
        var room = limit - taken - name.utf8.count
        let cut = value.prefix { character in
            room -= bytes(of: String(character))
            return room >= 0
        }
        return cut.isEmpty ? nil : String(cut)
    }
}

/// Decides what of an event's words may stand in a key, or beside an object.
struct ArchiveWords: Sendable {
    private static let day = 86_400.0

    let phones: any PhoneNumbers
    /// Whose telephone numbers may be written without a country code.
    let region: String?

    func mayLeave(_ text: String) -> Bool { !phones.mayTellNumber(text, region: region) }

    /// - Parameter month: any day of the month in which the event was created. Apps make ids of the clock, which may have
    ///   been in another zone.
    func mayLeave(eventID id: String, of month: CalendarDay) -> Bool {
        guard let first = CalendarDay("\(month.description.prefix(8))01") else { return mayLeave(id) }
        let start = Double(first.daysSince1970) * Self.day
        let times =
            Date(timeIntervalSince1970: start - 2 * Self.day)...Date(timeIntervalSince1970: start + 33 * Self.day)
        return !phones.mayTellNumber(id, region: region, times: times)
    }

    /// The title, without its digits where they may be a telephone number; `nil` when that does not help.
    func title(_ title: String) -> String? {
        if mayLeave(title) { return title }
        var text = String.UnicodeScalarView()
        for scalar in title.unicodeScalars {
            if scalar.properties.numericType == nil, !"+＋%".unicodeScalars.contains(scalar) {
                text.append(scalar)
            } else if text.last != "…" {
                text.append("…")
            }
        }
        let masked = String(text)
        return mayLeave(masked) ? masked : nil
    }
}
