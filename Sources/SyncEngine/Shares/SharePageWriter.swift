package import FoundationEssentials
package import SyncCore
import SyncLedger
import SyncPages
import SystemPackage

/// Writes what others see of a share: first the page, and last the manifest, which is the commit.
package struct SharePageWriter: Sendable {
    /// How the page and the manifest of a share are reached.
    struct Written: Sendable {
        let link: StoreLink
        /// When the first of the links inside them ends; `nil` when they have no end of their own.
        let linksEndAt: Date?
        /// Page and manifest.
        let objects: [ShareObject]
    }

    private static let pageType = "text/html; charset=utf-8"

    private let store: any ObjectStore
    private let storage: ShareStorage
    package let links: ShareLinks
    private let language: PageLanguage

    package init(store: any ObjectStore, links: ShareLinks, language: PageLanguage = .en) {
        self.store = store
        self.links = links
        self.language = language
        storage = ShareStorage(store: store)
    }

    /// - Parameters:
    ///   - photos: those that are seen, all of them in the store.
    ///   - updatedAt: when what is seen changed.
    /// - Throws: ``StoreError``, ``ShareRefusal`` when our own readers would refuse the manifest, `CancellationError`.
    func write(_ share: ShareRecord, _ photos: [SharePhoto], updatedAt: Date) async throws -> Written {
        let manifest = Self.manifest(of: share, photos, updatedAt: updatedAt)
        let checked = try ShareManifestRules(asked: share.id).check(try manifest.encoded(), foundAt: nil)
        guard let link = links.address(of: share.id) else { return try await writeSigned(checked, manifest, share) }
        var page = Self.page(of: checked, share, reference: link)
        switch links.kind {
        case .open:
            let folder = link.dropLast(share.keys.page.lastSegment.count)
            page.previewLink = Self.preview(of: page).map { folder + $0 }
        case .gallery:
            page.previewLink = Self.preview(of: page).map { link + $0 }
            if share.takesGuests { page.guests = .gallery(ShareKeys.guestName) }
        case .byID, .signed: break
        }
        let objects = try await put(page: page, manifest, share)
        return Written(link: StoreLink(url: link, endsAt: share.expiresAt), linksEndAt: nil, objects: objects)
    }

    /// A link to an object that is not there cannot be had. The manifest holds one to itself, so that where it is not there it is
    /// written without links before: whoever reads it by the share's id finds all of its photos even then.
    private func writeSigned(
        _ checked: CheckedShare, _ manifest: ShareManifest, _ share: ShareRecord
    ) async throws -> Written {
        let keys = share.keys
        let old = share.publishedAt == nil ? nil : try await store.readableHead(keys.manifest)
        if old == nil {
            try await storage.put(text: try manifest.encoded(), at: keys.manifest)
        }
        let films = manifest.films ?? []
        let pictured = manifest.photos.map(\.orderIndex) + films.filter(\.hasPoster).map(\.orderIndex)
        let signed = try await links.signed(
            [keys.manifest] + checked.photos.map(keys.object) + pictured.map(keys.thumbnail), until: share.expiresAt)
        func url(_ key: ObjectKey) -> String { signed[key]?.url ?? "" }
        var manifest = manifest
        manifest.manifestURL = url(keys.manifest)
        for index in manifest.photos.indices {
            manifest.photos[index].url = url(keys.photo(manifest.photos[index].orderIndex))
        }
        for (index, film) in films.enumerated() {
            manifest.films?[index].url = url(keys.copy(film.orderIndex, film: film.mediaType))
        }
        var page = Self.page(of: checked, share, reference: url(keys.manifest))
        page.manifestLink = url(keys.manifest)
        for index in page.photos.indices {
            page.photos[index].link = url(keys.photo(page.photos[index].orderIndex))
            page.photos[index].thumbnailLink = url(keys.thumbnail(page.photos[index].orderIndex))
        }
        for (index, film) in films.enumerated() {
            page.films[index].link = url(keys.copy(film.orderIndex, film: film.mediaType))
            if film.hasPoster { page.films[index].posterLink = url(keys.thumbnail(film.orderIndex)) }
        }
        page.previewLink = Self.preview(of: page)
        var ends = signed.values.map(\.endsAt)
        if share.takesGuests {
            let form = try await links.form((0..<GuestRules.mostPhotos).map(keys.guest), until: share.expiresAt)
            page.guests = .store(form)
            ends.append(form.endsAt)
        }
        page.linksEndAt = ends.min()
        let objects = try await put(page: page, manifest, share)
        guard let link = try await links.signed([keys.page], until: share.expiresAt)[keys.page] else {
            preconditionFailure("a link for each key")
        }
        return Written(link: link, linksEndAt: ends.min(), objects: objects)
    }

    /// The first small picture that the page has.
    private static func preview(of page: SharePage) -> String? {
        page.photos.first?.thumbnailLink ?? page.films.lazy.compactMap(\.posterLink).first
    }

    private func put(page: SharePage, _ manifest: ShareManifest, _ share: ShareRecord) async throws -> [ShareObject] {
        var page = page
        page.language = language
        let written = try await storage.put(text: Array(try page.html().utf8), type: Self.pageType, at: share.keys.page)
        return [
            written,
            try await storage.put(text: try manifest.encoded(), at: share.keys.manifest),
        ]
    }

    private static func manifest(of share: ShareRecord, _ photos: [SharePhoto], updatedAt: Date) -> ShareManifest {
        func name(_ photo: SharePhoto) -> String? {
            share.tellsNames && photo.path.isText ? photo.path.lastComponent?.string : nil
        }
        let entries: [ShareManifest.Entry] = photos.compactMap { photo in
            photo.copy.map { (photo.slot, $0, photo.takenAt, name(photo)) }
        }
        return ShareManifest(
            shareId: share.id, locationName: share.location, startDate: share.startDate, endDate: share.endDate,
            sharedBy: share.sharedBy, expiresAt: share.expiresAt, updatedAt: updatedAt,
            photos: ShareManifest.photos(of: entries), films: ShareManifest.films(of: entries))
    }

    /// With relative links.
    private static func page(of checked: CheckedShare, _ share: ShareRecord, reference: String) -> SharePage {
        let names = MirrorName(checked)
        var page = SharePage(of: checked) {
            names.name(of: $0).string
        } link: {
            ShareKeys.copyName(share.id, $0.orderIndex, film: $0.film)
        }
        page.expiresAt = checked.manifest.expiresAt
        page.manifestLink = String(share.keys.manifest.lastSegment)
        page.mirrorReference = reference
        return page
    }
}

extension ShareManifest {
    /// A copy that others see, under its number.
    typealias Entry = (index: Int, copy: SharePhoto.Copy, takenAt: CaptureTime?, name: String?)

    static func photos(of entries: [Entry]) -> [Photo] {
        entries.filter { $0.copy.film == nil }.map { index, copy, takenAt, name in
            Photo(
                orderIndex: index, width: copy.width, height: copy.height, size: copy.size, sha256: "\(copy.sha256)",
                takenAt: takenAt, name: name)
        }
    }

    static func films(of entries: [Entry]) -> [Film] {
        entries.compactMap { index, copy, takenAt, name in
            copy.film.map { type in
                Film(
                    orderIndex: index, mediaType: type, width: copy.width, height: copy.height,
                    durationSeconds: copy.duration.map { $0 / .seconds(1) }, size: copy.size,
                    sha256: "\(copy.sha256)", takenAt: takenAt, hasPoster: copy.hasThumbnail, name: name)
            }
        }
    }
}

extension SharePage {
    /// - Parameters:
    ///   - name: what a photo or a film is called on a disk.
    ///   - link: leads to it from the page. The small pictures are beside the page, as in the store.
    init(of share: CheckedShare, name: (CheckedShare.Photo) -> String, link: (CheckedShare.Photo) -> String) {
        let manifest = share.manifest
        self.init(
            location: manifest.locationName, startDate: manifest.startDate, endDate: manifest.endDate,
            sharedBy: manifest.sharedBy,
            photos: zip(manifest.photos, share.photos).map { photo, checked in
                Photo(
                    orderIndex: photo.orderIndex, link: link(checked),
                    thumbnailLink: ShareKeys.thumbnailName(photo.orderIndex), width: photo.width,
                    height: photo.height, size: photo.size, takenAt: photo.takenAt, downloadName: name(checked))
            },
            films: zip(manifest.films ?? [], share.photos.dropFirst(manifest.photos.count)).map { film, checked in
                Film(
                    orderIndex: film.orderIndex, link: link(checked),
                    posterLink: film.hasPoster ? ShareKeys.thumbnailName(film.orderIndex) : nil, width: film.width,
                    height: film.height, duration: film.durationSeconds.map { .seconds($0) }, size: film.size,
                    takenAt: film.takenAt, downloadName: name(checked))
            })
    }
}

/// Under which addresses a share is seen.
package struct ShareLinks: Sendable {
    package enum Kind: Hashable, Sendable {
        /// Everybody can read what is below an address, which does not end in a slash.
        case open(String)
        /// The store signs a link for each object.
        case signed
        /// The gallery of this machine shows it, at an address that does not end in a slash.
        case gallery(String)
        /// By its id, in this store only.
        case byID
    }

    /// How many links are asked of the store at once.
    private static let requestsInFlight = 8

    /// Seconds. A store signs whole seconds, from the last whole one on: so much may be missing at the end of a link.
    private static let slack: TimeInterval = 2

    /// Why nobody could send anything to the page of a share, with what to do.
    package enum NoGuests: Hashable, Sendable, CustomStringConvertible {
        case open
        case byID

        package var description: String {
            switch self {
            case .open:
                "share.public_base_url leads to pages that cannot take anything. Without it, pages have signed links, and take photos"
            case .byID:
                "nobody but this machine can open it. Let the gallery listen beyond it (serve.enabled, serve.listen, serve.base_url)"
            }
        }
    }

    private let store: any ObjectStore
    package let kind: Kind
    private let time: TimeSource

    /// `nil` where guests can add photos.
    package var noGuests: NoGuests? {
        switch kind {
        case .open: .open
        case .byID: .byID
        case .signed, .gallery: nil
        }
    }

    /// - Parameters:
    ///   - publicBaseURL: where everybody can read the store's objects; `nil` when nobody can.
    ///   - galleryURL: where the gallery shows the shares of a store that has no links.
    package init(store: any ObjectStore, publicBaseURL: URL?, galleryURL: URL? = nil, time: TimeSource) {
        self.store = store
        self.time = time
        if let base = publicBaseURL?.absoluteString {
            kind = .open(Self.withoutShares(base))
        } else {
            kind =
                store.capabilities.links
                ? .signed : galleryURL.map { .gallery(Self.withoutSlashes($0.absoluteString)) } ?? .byID
        }
    }

    /// Whether a live share is reached in the way in which shares are reached now: the configuration may have changed.
    func fit(_ share: ShareRecord) -> Bool {
        guard share.state == .live else { return true }
        // Of one that was taken up from a catalogue, nobody here has ever had one.
        guard let link = share.link else { return false }
        return address(of: share.id).map { link.url == $0 } ?? (share.linksEndAt != nil)
    }

    /// Under which address a live share is seen that another machine has written.
    /// - Throws: ``StoreError`` when a link cannot be signed.
    package func link(to share: OtherShare) async throws -> StoreLink {
        let end = share.expiresAt
        if let url = address(of: share.id) { return StoreLink(url: url, endsAt: end) }
        let life = Duration.seconds(max(end.timeIntervalSince(time.now()), 1))
        var link = try await store.link(to: ShareKeys(share.id).page, lasting: life)
        // The links inside the page are those of the machine that wrote it.
        link.endsAt = min(link.endsAt, share.linksEndAt ?? end, end)
        return link
    }

    /// Where a share is seen; `nil` where the store has to sign that.
    func address(of id: ShareID) -> String? {
        switch kind {
        case .open: openAddress(of: ShareKeys(id).page)
        case .gallery(let base): "\(base)/s/\(id)/"
        case .byID: RestoreSelection.shareScheme + id.description
        case .signed: nil
        }
    }

    /// Where everybody can read an object; `nil` where nobody can without a signed link.
    package func openAddress(of key: ObjectKey) -> String? {
        guard case .open(let base) = kind else { return nil }
        return "\(base)/\(key.rawValue)"
    }

    /// Links that last until `end`, or as long as the store allows. None is said to end later.
    func signed(_ keys: [ObjectKey], until end: Date) async throws -> [ObjectKey: StoreLink] {
        let life = life(until: end)
        let links = try await keys.concurrently(Self.requestsInFlight) { [store] key in
            var link = try await store.link(to: key, lasting: life)
            if link.endsAt.addingTimeInterval(Self.slack) >= end, link.isEndKnown { link.endsAt = end }
            return (key, link)
        }
        return Dictionary(links, uniquingKeysWith: { $1 })
    }

    /// A form for guests, which lasts as links do.
    func form(_ keys: [ObjectKey], until end: Date) async throws -> UploadForm {
        var form = try await store.uploadForm(for: keys, GuestRules.upload, lasting: life(until: end))
        if form.endsAt.addingTimeInterval(Self.slack) >= end { form.endsAt = end }
        return form
    }

    private func life(until end: Date) -> Duration {
        .seconds(max(end.timeIntervalSince(time.now()), 1).rounded(.up) + Self.slack)
    }

    /// The base may name the store's top or its `shares/`: both mean the same objects.
    private static func withoutShares(_ base: String) -> String {
        let base = withoutSlashes(base)
        let shares = "/" + ShareKeys.prefix.dropLast()
        return base.hasSuffix(shares) ? String(base.dropLast(shares.count)) : base
    }

    private static func withoutSlashes(_ base: String) -> String {
        var base = base
        while base.hasSuffix("/") { base.removeLast() }
        return base
    }
}
