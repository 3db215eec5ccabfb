package import FoundationEssentials
package import SyncCore

/// The page by which friends see a share: one static HTML file, no script or picture from another origin, the photos
/// as plain links for browsers without JavaScript.
package struct SharePage: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// As in ``ShareManifest/Photo/orderIndex``.
        package var orderIndex: Int
        /// Relative to the page, or absolute on the page's own origin; the same holds for every link here.
        package var link: String
        /// A JPEG of at most 320 pixels in each direction.
        package var thumbnailLink: String
        /// Pixels of the photo, as it is to be seen.
        package var width: Int
        package var height: Int
        /// Bytes.
        package var size: Int64
        /// The camera's clock as UTC.
        package var takenAt: CaptureTime?
        /// What the file is called on the friend's disk. The page makes a plain name of it, and tells equal ones apart.
        package var downloadName: String

        package init(
            orderIndex: Int, link: String, thumbnailLink: String, width: Int, height: Int, size: Int64,
            takenAt: CaptureTime?,
            downloadName: String
        ) {
            (self.orderIndex, self.link, self.thumbnailLink, self.width) = (orderIndex, link, thumbnailLink, width)
            (self.height, self.size, self.takenAt, self.downloadName) = (height, size, takenAt, downloadName)
        }
    }

    package struct Film: Hashable, Sendable {
        /// As in ``ShareManifest/Film/orderIndex``.
        package var orderIndex: Int
        package var link: String
        /// A JPEG; `nil` where there is none.
        package var posterLink: String?
        /// Pixels of the film, as it is to be seen.
        package var width: Int
        package var height: Int
        package var duration: Duration?
        /// Bytes.
        package var size: Int64
        package var takenAt: CaptureTime?
        /// As that of a photo.
        package var downloadName: String

        package init(
            orderIndex: Int, link: String, posterLink: String?, width: Int, height: Int, duration: Duration?,
            size: Int64, takenAt: CaptureTime?, downloadName: String
        ) {
            (self.orderIndex, self.link, self.posterLink, self.width) = (orderIndex, link, posterLink, width)
            (self.height, self.duration, self.size) = (height, duration, size)
            (self.takenAt, self.downloadName) = (takenAt, downloadName)
        }
    }

    package var location: String
    package var startDate: CalendarDay
    package var endDate: CalendarDay
    package var sharedBy: String?
    /// `nil` for files on a disk, which have no end.
    package var expiresAt: Date?
    /// In the order in which they are to be seen.
    package var photos: [Photo]
    /// In the order in which they are to be seen, below the photos.
    package var films: [Film]
    /// A picture for who shows one beside a link (https://ogp.me), absolute; `nil` where no address is known.
    package var previewLink: String?
    /// When the links of the page end, where that is before the share does.
    package var linksEndAt: Date?
    /// `nil` where there is none.
    package var manifestLink: String?
    /// What `sync-agent mirror` takes for this share: an id or a link; `nil` where there is nothing to mirror.
    package var mirrorReference: String?
    /// `nil` where nobody may add photos.
    package var guests: Guests?
    /// Of the page without its script, and of what others show beside a link. The script takes the reader's.
    package var language = PageLanguage.en

    package init(
        location: String, startDate: CalendarDay, endDate: CalendarDay, sharedBy: String?, expiresAt: Date? = nil,
        photos: [Photo], films: [Film] = [], manifestLink: String? = nil, mirrorReference: String? = nil
    ) {
        (self.location, self.startDate, self.endDate, self.sharedBy) = (location, startDate, endDate, sharedBy)
        (self.expiresAt, self.photos, self.films) = (expiresAt, photos, films)
        (self.manifestLink, self.mirrorReference) = (manifestLink, mirrorReference)
    }

    /// What each page allows, as it says itself: for servers that say it, too (CSP level 3).
    package static var policy: String { PageTemplate.share.policy }

    /// - Parameter head: the beginning of a page: its policy stands there.
    package static func isOfThisVersion(_ head: [UInt8]) -> Bool {
        String(decoding: head, as: UTF8.self).contains(PageEscaping().escapeText(policy))
    }

    /// The whole page as UTF-8 text. The same value gives the same bytes.
    package func html() throws(PageError) -> String {
        let template = PageTemplate.share
        return try template.render(try SharePageFields(self, template))
    }
}

/// What `share.mustache` reads, by the names of these properties.
struct SharePageFields: Sendable {
    struct Photo: Sendable {
        let number: Int
        let link: String
        let thumbnail: String
        let alt: String
        /// ISO 8601, for the times in an archive.
        let taken: String?
        let name: String
        let size: Int64
        /// Pixels.
        let width: Int
        let height: Int
        let thumbnailWidth: Int
        let thumbnailHeight: Int
        /// The style sheet's class for how wide it is: ten times width by height.
        let shape: Int
    }

    struct Film: Sendable {
        let number: Int
        let link: String
        let poster: String?
        let label: String
        /// `0:12, 34 MB`
        let facts: String
        let when: String?
        /// As that of a photo, for the script; so are the two below.
        let taken: String?
        let length: String?
        let size: Int64
        let name: String
        let width: Int
        let height: Int
    }

    /// A moment, in a sentence.
    struct End: Sendable {
        let iso: String
        let moment: String

        init(_ date: Date, _ language: PageLanguage) {
            moment = PageDates.moment(date, language) + " UTC"
            iso = PageDates.machine(date)
        }
    }

    /// Where photos can be added.
    struct Guests: Sendable {
        let json: String
        let person: Person?
    }

    /// Somebody, in a sentence.
    struct Person: Sendable {
        let before: String
        let person: String
        let after: String

        init(_ name: String, _ sentence: PageWords.Around) {
            (before, person, after) = (sentence.before, name, sentence.after)
        }
    }

    /// What the button says that fetches all photos, and by which key.
    struct Download: Sendable {
        let key: String
        let sentence: String
    }

    let policy: String
    let style: String
    let script: String
    let language: String
    let words: [String: String]
    let location: String
    let isUnnamed: Bool
    let title: String
    let description: String
    let from: String
    let to: String
    let dates: String
    let count: String
    /// Both `nil` where nobody is named.
    let sharedBy: Person?
    let newLinkBy: Person?
    let guests: Guests?
    /// `nil` for files on a disk.
    let end: End?
    let openUntil: PageWords.Around
    let endsOn: PageWords.Around
    let withoutScript: String
    /// `nil` where links end with the share.
    let linksEnd: End?
    let linksEndWords: PageWords.Around
    let preview: String?
    let manifest: String?
    let mirrorLine: String?
    /// Whether it lies on a disk: pictures are then of the origin `file:`, which is not always what a browser calls its own.
    let isOnDisk: Bool
    let archive: String
    /// `nil` when there is nothing to put into one archive, or too much for its 32-bit sizes.
    let download: Download?
    /// Without one, browsers ask the origin for /favicon.ico, which a store refuses.
    let icon: String
    let isFew: Bool
    let photos: [Photo]
    let films: [Film]
    let hasFilms: Bool
    let isEmpty: Bool

    /// Below 4 GiB, with room for the archive's own records.
    private static let mostArchiveBytes: Int64 = 4_200_000_000
    private static let thumbnailSide = 320

    init(_ page: SharePage, _ template: PageTemplate) throws(PageError) {
        isOnDisk = page.expiresAt == nil
        policy = isOnDisk ? template.policyOnDisk : template.policy
        (style, script) = (template.style, template.script ?? "")
        let language = page.language
        let words = try PageWords(language)
        (self.language, self.words) = (language.tag, words.plain)
        let place = PageText.line(page.location)
        isUnnamed = place.isEmpty
        location = isUnnamed ? words.text("photos") : place
        (from, to) = ("\(page.startDate)", "\(page.endDate)")
        dates = PageDates.range(page.startDate, page.endDate, language)
        title = words.joined(location, dates)
        count = Self.count(page, words)
        let name = page.sharedBy.map { PageText.line($0) }.flatMap { $0.isEmpty ? nil : $0 }
        sharedBy = name.map { Person($0, words.around("name", "sharedBy")) }
        newLinkBy = name.map { Person($0, words.around("name", "newLinkBy")) }
        guests = try page.guests.map { form throws(PageError) in
            Guests(json: try GuestForm(form).json, person: name.map { Person($0, words.around("name", "guestsHowBy")) })
        }
        description = words.joined(count, name.map { words.text("sharedBy", ["name": $0]) })
        end = page.expiresAt.map { End($0, language) }
        (openUntil, endsOn) = (words.around("moment", "openUntil"), words.around("moment", "endsOn"))
        withoutScript = words.text(
            "withoutScript", ["day": page.expiresAt.map { PageDates.day(CalendarDay($0), language) } ?? ""])
        linksEnd = page.linksEndAt.flatMap { $0 < page.expiresAt ?? .distantFuture ? End($0, language) : nil }
        linksEndWords = words.around("moment", "linksEnd")
        preview = try page.previewLink.map { link throws(PageError) in try PageLink(link).text }
        archive = PageText.fileName("\(location)_\(page.startDate)_\(page.endDate)") + ".zip"
        mirrorLine = try Self.mirrorLine(page)

        var origins: Set<String> = []
        func checked(_ text: String) throws(PageError) -> String {
            let link = try PageLink(text)
            if let origin = link.origin { origins.insert(origin) }
            return link.text
        }
        manifest = try page.manifestLink.map(checked)
        var names: Set<String> = []
        func unique(_ name: String, _ orderIndex: Int) -> String {
            var name = PageText.fileName(name)
            // Names that differ in case only are one file on many disks.
            if !names.insert(name.lowercased()).inserted {
                name = "\(orderIndex + 1)_\(name)"
                names.insert(name.lowercased())
            }
            return name
        }
        let photos = try page.photos.enumerated().map { index, photo throws(PageError) in
            Self.photo(
                photo, number: index + 1, of: page.photos.count, words, link: try checked(photo.link),
                thumbnail: try checked(photo.thumbnailLink), name: unique(photo.downloadName, photo.orderIndex))
        }
        films = try page.films.enumerated().map { index, film throws(PageError) in
            Self.film(
                film, number: index + 1, of: page.films.count, words, link: try checked(film.link),
                poster: try film.posterLink.map(checked), name: unique(film.downloadName, film.orderIndex))
        }
        guard origins.count <= 1 else {
            throw PageError(
                .origin, "the links of one page lead to \(origins.sorted().joined(separator: " and ")): one is allowed")
        }
        self.photos = photos
        (hasFilms, isEmpty) = (!films.isEmpty, films.isEmpty && photos.isEmpty)
        icon = photos.first?.thumbnail ?? films.lazy.compactMap(\.poster).first ?? manifest ?? "data:,"
        isFew = photos.count <= 6
        let bytes = photos.reduce(0) { $0 + $1.size }
        // On a disk they are all there.
        let key = films.isEmpty ? "downloadAll" : "downloadPhotos"
        download =
            isOnDisk || photos.isEmpty || bytes > Self.mostArchiveBytes
            ? nil : Download(key: key, sentence: words.text(key, ["size": PageText.size(bytes, language)]))
    }

    /// `3 photos`, `3 photos, 1 film`, `1 film`
    private static func count(_ page: SharePage, _ words: PageWords) -> String {
        let (photos, films) = (page.photos.count, page.films.count)
        return words.joined(
            photos == 0 && films > 0 ? nil : words.text("photoCount", count: photos),
            films == 0 ? nil : words.text("filmCount", count: films))
    }

    private static func photo(
        _ photo: SharePage.Photo, number: Int, of count: Int, _ words: PageWords, link: String, thumbnail: String,
        name: String
    ) -> Photo {
        let (width, height) = (max(photo.width, 1), max(photo.height, 1))
        let longest = max(width, height)
        let side = min(thumbnailSide, longest)
        let when = photo.takenAt.map { PageDates.moment($0, words.language) }
        return Photo(
            number: number, link: link, thumbnail: thumbnail,
            alt: words.joined(words.text("photo", count: count, ["n": "\(number)"]), when),
            taken: photo.takenAt?.description, name: name, size: max(photo.size, 0), width: width,
            height: height, thumbnailWidth: scaled(width, side, longest),
            thumbnailHeight: scaled(height, side, longest),
            // Narrower and wider ones are cut in the grid, not in the viewer.
            shape: min(max((width * 10 + height / 2) / height, 6), 18))
    }

    private static func film(
        _ film: SharePage.Film, number: Int, of count: Int, _ words: PageWords, link: String, poster: String?,
        name: String
    ) -> Film {
        let when = film.takenAt.map { PageDates.moment($0, words.language) }
        let length = film.duration?.clockText
        return Film(
            number: number, link: link, poster: poster,
            label: words.joined(words.text("film", count: count, ["n": "\(number)"]), when, length),
            facts: words.joined(length, PageText.size(max(film.size, 0), words.language)), when: when,
            taken: film.takenAt?.description, length: length, size: max(film.size, 0),
            name: name, width: max(film.width, 1), height: max(film.height, 1))
    }

    private static func scaled(_ length: Int, _ side: Int, _ longest: Int) -> Int {
        max((length * side + longest / 2) / longest, 1)
    }

    /// People paste this into a shell: the reference is quoted, the folder's name has nothing that a shell reads.
    private static func mirrorLine(_ page: SharePage) throws(PageError) -> String? {
        guard let reference = page.mirrorReference else { return nil }
        guard !reference.isEmpty, reference == PageText.line(reference, limit: .max) else {
            throw PageError(.reference, "what stands for a share is a text of one line, its id or a link to it")
        }
        let folder = PageText.fileName("\(page.location)_\(page.startDate)")
        return "sync-agent mirror \(reference.shellWord) ~/Pictures/\(folder)"
    }
}
