import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SystemPackage

/// The page of one photo: its picture, what is known of it, and what else is stored of it.
extension GallerySite {
    /// Of one photo, the latest first; `sync-agent status` lists the others.
    private static let mostVersions = 50

    func photo(_ id: String, _ session: String) async throws -> WebResponse {
        let now = workspace.time.now()
        guard let md5 = MD5Digest(hex: id) else { return notFound("There is no such photo.", session) }
        let items = try await items(md5)
        guard let first = items.first else { return notFound("There is no such photo.", session) }
        let (badge, companions, original, versions) = try await ledger { [policy] ledger in
            let badge = try StreamBadge(first, policy: policy, in: ledger, now: now)
            let original = try items.original(in: ledger)
            guard case .photo(let photo) = first.source else {
                return (badge, [PhotoStatus](), original, [PhotoVersion]())
            }
            return (badge, try ledger.companions(of: photo), original, try ledger.versions(of: photo))
        }
        let object = first.object
        let isFilm = object.map { FilmType(contentType: $0.contentType) != nil } ?? false
        let file = try await file(of: md5, among: items)
        let stored = file == nil ? storedCopy(of: md5, among: items) : nil
        let isReadable = object?.canBeRead(at: now) ?? false
        var facts = try await facts(first)
        if let event = items.lazy.compactMap(\.event).first { facts += try await self.facts(of: event) }
        if !companions.isEmpty {
            let names = companions.compactMap { $0.path.lastComponent?.string.escapingControls }
            facts.append(.init("Goes with it", names.joined(separator: ", ")))
        }
        let content = SitePage.Photo(
            id: md5.description, name: first.name, badge: badge.symbol, state: badge.words, facts: facts,
            places: items.map(\.place),
            further: further(of: first, isHere: file != nil, original, versions, at: now),
            hasPicture: file != nil || isReadable && !isFilm || stored != nil && sharedFiles != nil, hasThumbnail: true,
            isFilm: isFilm, canBeRestored: !isReadOnly && items.objectToRestore(at: now) != nil,
            download: file != nil || stored != nil ? "/photo/\(md5)/file" : nil)
        return page(first.name, .photos, session, .photo(content))
    }

    /// What the store has beside the copy: the photo's own bytes, and copies of what its file was before.
    /// - Parameter isHere: the file is on this disk: nothing has to be brought back.
    private func further(
        of item: TimelineItem, isHere: Bool, _ original: ObjectRecord?, _ versions: [PhotoVersion],
        at now: Date
    ) -> [SitePage.Photo.Further] {
        var further: [SitePage.Photo.Further] = []
        if case .version(_, of: let photo) = item.source, let present = photo.md5 {
            further.append(
                .init(text: "Its file has other bytes now", links: [.init("The photo now", "/photo/\(present)")]))
        }
        if let original, let md5 = item.md5 {
            var words = ["The file itself", Quantities.bytes(original.size)]
            if original.encoding == .jxl { words[1] += " as JPEG XL" }
            words.append(StreamBadge(original, at: now).words)
            var links: [SitePage.Listing.Link] = []
            if canBeSent(original) { links.append(.init("Download the original", "/photo/\(md5)/original")) }
            if !isReadOnly, !isHere, original.canBeRestored(at: now) {
                links.append(.init("Bring the original back", "/restore?photo=\(OrderedPhoto(md5, isOriginal: true))"))
            }
            further.append(.init(text: words.joined(separator: ", "), links: links))
        }
        for version in versions.prefix(Self.mostVersions) {
            let words = [
                "Until \(Quantities.time(version.replacedAt))", Quantities.bytes(version.object.size),
                StreamBadge(version.object, at: now).words,
            ]
            // Of one of which only the original is whole there is no picture.
            let shown = version.object.key.copyOfOriginal == nil ? version.object.md5 : nil
            let link = shown.map { SitePage.Listing.Link("Earlier version \(version.number)", "/photo/\($0)") }
            further.append(.init(text: words.joined(separator: ", "), links: [link].compactMap(\.self)))
        }
        return further
    }

    private func facts(of event: EventPicture) async throws -> [SitePage.Fact] {
        let share = workspace.settings.share
        let name = try await ledger { try $0.profileBook(share).name(event.profile) }
        return [
            .init("Profile", (name ?? event.profile).escapingControls), .init("Event", event.type.escapingControls),
            .init("Day of the event", "\(CalendarDay(event.createdAt))"),
        ]
    }

    private func facts(_ item: TimelineItem) async throws -> [SitePage.Fact] {
        var facts: [SitePage.Fact] = []
        if let takenAt = item.object?.takenAt {
            facts.append(.init("Taken", "\(takenAt.day), \(takenAt.hourAndMinute)"))
        }
        if case .photo(let photo) = item.source {
            if let bytes = photo.bytesLocal { facts.append(.init("File", Quantities.bytes(bytes))) }
            if let why = photo.why { facts.append(.init("Why", try await places().removed(from: why))) }
        }
        if case .version(let version, _) = item.source {
            facts.append(.init("Stored copy of", "\(item.name) as it was until \(Quantities.time(version.replacedAt))"))
        }
        guard let object = item.object else { return facts }
        var copy = Quantities.bytes(object.size)
        if let width = object.width, let height = object.height { copy += ", \(width) × \(height) pixels" }
        facts.append(.init("Stored copy", copy))
        facts.append(.init("Stored since", Quantities.day(object.storedAt)))
        facts.append(.init("Storage class", object.storageClass.rawValue))
        let job = try await ledger { ledger in
            guard object.restore == .inProgress, let item = try ledger.openRestoreItem(for: object.key) else {
                return RestoreJobSummary?.none
            }
            return try ledger.restoreJob(item.job)
        }
        if case .restored(let until?) = object.restore.asOf(time.now()) {
            facts.append(.init("Can be read until", Quantities.time(until)))
        } else if let ready = job.flatMap({ $0.job.end(after: $0.job.estimatedHours) }) {
            facts.append(.init("Back by", Quantities.time(ready)))
        }
        if !object.dropped.isEmpty {
            facts.append(.init("Not in the copy", object.dropped.map(\.rawValue).joined(separator: ", ")))
        }
        return facts
    }
}

/// The files behind the pictures: those of this disk, and stored ones that can be read without a price.
extension GallerySite {
    static let zipName = "memories.zip"
    /// Bytes of an object that are taken into memory.
    static let mostRead = 64 << 20

    /// A film is shown from its file.
    func film(_ md5: MD5Digest) async throws -> WebResponse? {
        let items = try await items(md5)
        let type = items.lazy.compactMap { $0.object?.contentType }.first { FilmType(contentType: $0) != nil }
        if let type, let file = try await file(of: md5, among: items) {
            return Self.content(type, Self.askAgain, .file(file))
        }
        // Players ask for pieces, and only a file is sent in pieces.
        if let type, let object = storedCopy(of: md5, among: items),
            let found = try await sharedFiles?.store.file(of: object.key)
        {
            return Self.content(type, Self.askAgain, .file(found.path))
        }
        return nil
    }

    /// The file of a photo on this disk, else what is stored of it, to be kept.
    func file(_ id: String) async throws -> WebResponse {
        guard let md5 = MD5Digest(hex: id) else { return missing() }
        let items = try await items(md5)
        if let file = try await file(of: md5, among: items), let name = file.lastComponent?.string {
            return kept(name, .file(file))
        }
        // A rebuild names the photos of events as files, too: as memories they have better names.
        let named = items.filter { $0.event != nil } + items.filter { $0.event == nil }
        guard let object = storedCopy(of: md5, among: named),
            let name = named.first(where: { $0.object?.key == object.key })?.fileName(keys)
        else { return missing() }
        if let sharedFiles {
            guard let found = try await sharedFiles.store.file(of: object.key) else { return missing() }
            return kept(name, .file(found.path))
        }
        return kept(name, .bytes(Data(try await store.bytes(of: object.key, limit: Self.mostRead))))
    }

    /// The file of a photo as it was, from the original that is stored.
    func keptOriginal(_ id: String) async throws -> WebResponse {
        guard let md5 = MD5Digest(hex: id) else { return missing() }
        let items = try await items(md5)
        guard let object = try await ledger({ try items.original(in: $0) }), canBeSent(object),
            let name = items.lazy.compactMap(\.ownName).first
        else { return missing() }
        if object.encoding != .jxl, let sharedFiles {
            guard let found = try await sharedFiles.store.file(of: object.key) else { return missing() }
            return kept(name, .file(found.path))
        }
        let stored = try await store.bytes(of: object.key, limit: Self.mostRead)
        let recompressor = workspace.recompressor
        let bytes = try await workspace.threads.photos.run { try object.file(md5, of: stored, by: recompressor) }
        guard let bytes else {
            throw CommandFailure.failed(
                "What is stored as the original is not this photo. sync-agent verify tells more.")
        }
        return kept(name, .bytes(Data(bytes)))
    }

    /// It can be read now, for nothing.
    func canBeSent(_ object: ObjectRecord) -> Bool {
        object.canBeReadUnpriced(isFree: store.capabilities.lifecycle == .byAgent, at: time.now())
            && (sharedFiles != nil && object.encoding != .jxl || object.size <= Int64(Self.mostRead))
    }

    private func kept(_ name: String, _ body: WebResponse.Body) -> WebResponse {
        Self.content(
            "application/octet-stream", Self.askAgain, body,
            .init("Content-Disposition", "attachment; filename*=UTF-8''\(name.uriEncoded())"))
    }

    /// What is stored of a photo and can be read now without a price, as it is.
    func storedCopy(of md5: MD5Digest, among items: [TimelineItem]) -> ObjectRecord? {
        items.lazy.compactMap(\.object).first { object in
            object.md5 == md5 && object.encoding == nil && canBeSent(object)
        }
    }

    /// ZIP files that are made at one time, for all browsers together.
    static let mostZips = 4
    /// Photos in one file.
    private static let mostZipped = 5_000

    /// The memories of a filter that can be read without a price, the newest first, as one ZIP file.
    func memoriesZip(_ request: WebRequest, _ session: String) async throws -> WebResponse {
        guard let place = zips.take() else { return tooManyZips(session) }
        var filter = TimelineFilter(request)
        filter.kind = .memories
        let items = try await ledger { [filter] in
            try $0.timeline(filter, after: nil, limit: Self.mostZipped + 1)
        }
        let photos = items.prefix(Self.mostZipped).compactMap { item in
            item.event != nil ? item.md5.flatMap { zipped(storedCopy(of: $0, among: [item]), item) } : nil
        }
        return zip(
            photos, named: Self.zipName, place,
            leavingOut: items.count > Self.mostZipped ? ["what is older: choose a year"] : [])
    }

    /// The photos that were ticked, as one ZIP file: their files, else what is stored of them.
    func chosenZip(_ form: WebForm, _ session: String) async throws -> WebResponse {
        var seen: Set<MD5Digest> = []
        let chosen = form.all("photo").compactMap { MD5Digest(hex: $0) }.filter { seen.insert($0).inserted }
        guard (1...Self.mostPhotos).contains(chosen.count) else {
            return page(
                400, chosen.isEmpty ? "Nothing was chosen" : "Too many at once",
                "Go back, and tick 1 to \(Quantities.count(Self.mostPhotos)) photos.", session: session)
        }
        guard let place = zips.take() else { return tooManyZips(session) }
        var photos: [PhotoZip.Photo] = []
        var leftOut: [String] = []
        for md5 in chosen {
            let items = try await items(md5)
            guard let first = items.first else {
                leftOut.append("\(md5): no such photo is known any more")
                continue
            }
            if let file = try await file(of: md5, among: items) {
                photos.append(.init(source: .file(file), name: first.ownName ?? first.name, modified: first.modified))
            } else if let photo = zipped(storedCopy(of: md5, among: items), first) {
                photos.append(photo)
            } else {
                leftOut.append(
                    "\(first.name): its file is not on this disk, and what is stored of it cannot be read now")
            }
        }
        return zip(photos, named: "photos.zip", place, leavingOut: leftOut)
    }

    private func zipped(_ object: ObjectRecord?, _ item: TimelineItem) -> PhotoZip.Photo? {
        guard let object, object.size <= Int64(Self.mostRead), let name = item.fileName(keys) else { return nil }
        return .init(source: .object(object.key, size: object.size), name: name, modified: item.modified)
    }

    private func zip(
        _ photos: [PhotoZip.Photo], named name: String, _ place: PlaceLimit.Place, leavingOut rest: [String]
    ) -> WebResponse {
        let zip = PhotoZip(
            of: photos, from: store, disk: disk, within: .init(photo: Self.mostRead), leavingOut: rest,
            now: workspace.time.now())
        let stream = AsyncStream<Data> {
            defer { withExtendedLifetime(place) {} }
            return await zip.next()
        }
        return Self.content(
            "application/zip", Self.askAgain, .stream(stream),
            .init("Content-Disposition", "attachment; filename=\(name)"))
    }

    private func tooManyZips(_ session: String) -> WebResponse {
        var answer = page(
            503, "Another moment",
            "\(Quantities.count(Self.mostZips)) ZIP files are being made already: try again when one of them has come.",
            session: session)
        answer.headers.append(.init("Retry-After", "30"))
        return answer
    }

    /// A file on this disk that has these bytes, as far as its size and time tell.
    func file(of md5: MD5Digest, among items: [TimelineItem]) async throws -> FilePath? {
        let photos = items.compactMap { item -> PhotoStatus? in
            guard case .photo(let photo) = item.source, photo.state == .uploaded, photo.md5 == md5 else { return nil }
            return photo
        }
        if photos.isEmpty { return nil }
        return try await disk.run { photos.first { $0.isAsKnown }?.path }
    }
}

extension TimelineItem {
    var event: EventPicture? {
        if case .event(let picture) = source { picture } else { nil }
    }

    /// Of its file, or its event.
    fileprivate var modified: Date {
        switch source {
        case .photo(let photo), .version(_, of: let photo): photo.modified
        case .event(let picture): picture.createdAt
        }
    }

    /// Of the file, as it is or was called.
    fileprivate var ownName: String? {
        switch source {
        case .photo(let photo), .version(_, of: let photo): photo.path.lastComponent?.string
        case .event: nil
        }
    }

    /// What it is called when it is kept: by the file's name, or as `archive download` names it.
    fileprivate func fileName(_ keys: KeyLayout) -> String? {
        guard let object else { return nil }
        switch source {
        case .photo(let photo), .version(_, of: let photo):
            guard let name = photo.path.lastComponent else { return nil }
            // What is stored of it may be a JPEG.
            let ending = MediaType.ending(ofContentType: object.contentType)
            return name.extension?.lowercased() == ending ? name.string : "\(name.stem).\(ending)"
        case .event(let picture):
            if let place = ArchivedPhotoPlace(object.key, of: keys) {
                return ArchiveFileName.name(
                    of: place, createdAt: picture.createdAt, contentType: object.contentType
                ).string
            }
            return "\(CalendarDay(picture.createdAt)).\(MediaType.ending(ofContentType: object.contentType))"
        }
    }
}
