import FoundationEssentials

/// What a manifest has to be before anything in it is believed. Whoever wrote it may mean harm: it can fill a disk, name
/// files that are not ours, and send us to other hosts.
package struct ShareManifestRules: Hashable, Sendable {
    package static let maximumBytes = 4 << 20
    package static let maximumPhotos = 10_000
    /// Bytes, of one photo, of one film, and of all together.
    package static let maximumPhotoSize: Int64 = 1 << 30
    package static let maximumFilmSize: Int64 = 16 << 30
    package static let maximumTotalSize: Int64 = 100 << 30
    private static let maximumDepth = 16
    private static let maximumOrderIndex = 999_999
    private static let maximumPixels = 1_000_000
    /// Seconds: three years.
    private static let longestFilm = 1e8
    /// From 2000-01-01 to 9999-12-31.
    private static let dates = Date(timeIntervalSince1970: 946_684_800)...Date(timeIntervalSince1970: 253_402_300_799)
    /// From 1826, when the first photo was taken. What a camera says beyond is not passed on.
    private static let captureYears = 1826...2199

    private let asked: ShareID?
    /// Bytes of a manifest.
    private let limit: Int

    /// - Parameters:
    ///   - asked: the share that it has to be about, where that is known.
    ///   - limit: of bytes; more than ``maximumBytes`` where it was read once, and is kept with its lines broken.
    package init(asked: ShareID?, limit: Int = Self.maximumBytes) {
        self.asked = asked
        self.limit = limit
    }

    /// - Parameter link: where the manifest was found. Its links count only there, and only within what that link admits.
    package func check(_ bytes: [UInt8], foundAt link: WebLink?) throws(ShareRefusal) -> CheckedShare {
        guard bytes.count <= limit else { throw .manifestTooLong }
        var manifest = try decode(bytes)
        guard let id = ShareID(manifest.shareId) else { throw ShareRefusal("its manifest names no share id") }
        guard asked == nil || asked == id else {
            throw ShareRefusal("its manifest is that of another share, \(id); check the link")
        }
        manifest.shareId = id.description
        try checkFrame(&manifest)
        let photos = try checkPhotos(manifest, foundAt: link)
        let newer = try manifest.manifestURL.map { url throws(ShareRefusal) in
            try Self.checked(url, "manifestURL", foundAt: link)
        }
        for index in manifest.photos.indices { manifest.photos[index].keep(photos[index]) }
        for (index, film) in photos.dropFirst(manifest.photos.count).enumerated() {
            manifest.films?[index].keep(film)
        }
        manifest.manifestURL = nil
        return CheckedShare(id: id, manifest: manifest, photos: photos, manifestLink: newer ?? nil)
    }

    private func checkFrame(_ manifest: inout ShareManifest) throws(ShareRefusal) {
        manifest.locationName = try Self.checkedText(manifest.locationName, "locationName")
        if let name = manifest.sharedBy { manifest.sharedBy = try Self.checkedText(name, "sharedBy") }
        guard manifest.startDate <= manifest.endDate else { throw ShareRefusal("it ends before it starts") }
        for (name, date) in [("expiresAt", manifest.expiresAt), ("updatedAt", manifest.updatedAt)] {
            guard Self.dates.contains(date) else { throw ShareRefusal("\(name) is no time of these days") }
        }
        let count = manifest.photos.count
        guard count + (manifest.films?.count ?? 0) <= Self.maximumPhotos, manifest.photoCount <= Self.maximumPhotos
        else {
            throw ShareRefusal("it has more than \(Self.maximumPhotos) photos")
        }
        guard manifest.photoCount == count else {
            throw ShareRefusal("it speaks of \(manifest.photoCount.counted("photo")) and names \(count)")
        }
    }

    private func checkPhotos(
        _ manifest: ShareManifest, foundAt link: WebLink?
    ) throws(ShareRefusal) -> [CheckedShare.Photo] {
        var places = ManifestPlaces()
        var checked: [CheckedShare.Photo] = []
        for (number, photo) in manifest.photos.enumerated() {
            checked.append(try Self.checked(photo, "photos[\(number)]", film: nil, &places, foundAt: link))
        }
        for (number, film) in (manifest.films ?? []).enumerated() {
            let name = "films[\(number)]"
            if let seconds = film.durationSeconds, !(seconds > 0 && seconds < Self.longestFilm) {
                throw ShareRefusal("\(name).durationSeconds is no time that a film lasts")
            }
            checked.append(try Self.checked(film, name, film: film.mediaType, &places, foundAt: link))
        }
        return checked
    }

    /// What those before have taken.
    private struct ManifestPlaces {
        var seen: Set<Int> = []
        var bytes: Int64 = 0
    }

    private static func checked(
        _ piece: some ManifestPiece, _ name: String, film: FilmType?, _ places: inout ManifestPlaces,
        foundAt link: WebLink?
    ) throws(ShareRefusal) -> CheckedShare.Photo {
        guard (0...maximumOrderIndex).contains(piece.orderIndex) else {
            throw ShareRefusal("\(name).orderIndex is not between 0 and \(maximumOrderIndex)")
        }
        guard places.seen.insert(piece.orderIndex).inserted else {
            throw ShareRefusal("two of its photos have the orderIndex \(piece.orderIndex)")
        }
        let limit = film == nil ? maximumPhotoSize : maximumFilmSize
        guard (1...limit).contains(piece.size) else {
            throw ShareRefusal("\(name).size is not between 1 byte and \(limit >> 30) GiB")
        }
        guard [piece.width, piece.height].allSatisfy((1...maximumPixels).contains) else {
            throw ShareRefusal("\(name) has a width or height that no photo has")
        }
        guard let sha256 = SHA256Digest(hex: piece.sha256) else {
            throw ShareRefusal("\(name).sha256 is not a SHA-256 in 64 hexadecimal digits")
        }
        places.bytes += piece.size
        guard places.bytes <= maximumTotalSize else {
            throw ShareRefusal("its photos have more than \(maximumTotalSize >> 30) GiB together")
        }
        let url = try piece.url.map { text throws(ShareRefusal) in
            try checked(text, "\(name).url", foundAt: link)
        }
        return CheckedShare.Photo(
            orderIndex: piece.orderIndex, size: piece.size, sha256: sha256,
            takenAt: piece.takenAt.flatMap { captureYears.contains($0.day.year) ? $0 : nil }, film: film,
            originalName: piece.name.flatMap { OriginalName($0, film: film) }, link: url ?? nil)
    }

    /// Version and depth first, so that a newer form is told as such and a deep one meets no recursion.
    private func decode(_ bytes: [UInt8]) throws(ShareRefusal) -> ShareManifest {
        guard Self.depth(of: bytes) <= Self.maximumDepth else {
            throw ShareRefusal("its manifest is nested too deeply")
        }
        do {
            let version = try ReadableJSON.version(bytes)
            guard version <= ShareManifest.currentVersion else {
                throw ShareRefusal("it was made by a newer sync-agent (version \(version)); update this one")
            }
            guard version == ShareManifest.currentVersion else {
                throw ShareRefusal("its manifest has version \(version), which never was")
            }
            return try ReadableJSON.note(bytes)
        } catch let error as ShareRefusal {
            throw error
        } catch let error as DecodingError {
            throw ShareRefusal(Self.words(for: error))
        } catch {
            throw ShareRefusal("its manifest cannot be read")
        }
    }

    /// A link in the manifest; `nil` where links do not count.
    private static func checked(
        _ url: String, _ name: String, foundAt link: WebLink?
    ) throws(ShareRefusal) -> WebLink? {
        guard let link else { return nil }
        guard let target = link.resolving(url) else { throw ShareRefusal("\(name) is no http(s) link") }
        guard link.admits(target) else {
            throw ShareRefusal("\(name) leads to another host, \(target.origin); only \(link.origin) is asked")
        }
        return target
    }
}

/// What a photo and a film of a manifest have in common.
private protocol ManifestPiece {
    var orderIndex: Int { get }
    var width: Int { get }
    var height: Int { get }
    var size: Int64 { get }
    var sha256: String { get set }
    var takenAt: CaptureTime? { get set }
    var name: String? { get set }
    var url: String? { get set }
}

extension ShareManifest.Photo: ManifestPiece {}
extension ShareManifest.Film: ManifestPiece {}

extension ManifestPiece {
    /// Makes it say what was checked, and nothing else.
    mutating func keep(_ checked: CheckedShare.Photo) {
        url = nil
        sha256 = checked.sha256.description
        takenAt = checked.takenAt
        name = checked.originalName?.text
    }
}

extension ShareManifestRules {
    private static let maximumCharacters = 500

    /// A text of one line without what moves the cursor, turns the direction of writing or cannot be seen. What a name in
    /// Persian or an emoji is put together with stays (ZWNJ, ZWJ).
    package static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .format where scalar.value == 0x200C || scalar.value == 0x200D: plain.append(scalar)
            case .format, .surrogate, .privateUse, .unassigned: continue
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if plain.last != " " { plain.append(" ") }
            default: plain.append(scalar)
            }
        }
        while plain.last == " " { plain.removeLast() }
        return String(plain.drop { $0 == " " })
    }

    static func checkedText(_ text: String, _ name: String) throws(ShareRefusal) -> String {
        guard text.unicodeScalars.count <= maximumCharacters else {
            throw ShareRefusal("\(name) is longer than \(maximumCharacters) characters")
        }
        return plain(text)
    }

    /// How deep arrays and objects stand in each other, by their brackets outside of texts.
    static func depth(of json: [UInt8]) -> Int {
        var depth = 0
        var deepest = 0
        var isText = false
        var bytes = json.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "\\") where isText: _ = bytes.next()
            case _ where isText: break
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                deepest = max(deepest, depth)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return deepest
    }

    static func words(for error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing in its manifest"
        case .typeMismatch(_, let context), .valueNotFound(_, let context): wrong(context)
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            // Foundation does not tell where.
            "its manifest is no JSON, or has a number or time in it that is none"
        case .dataCorrupted(let context): wrong(context)
        @unknown default: "its manifest cannot be read"
        }
    }

    private static func wrong(_ context: DecodingError.Context) -> String {
        context.codingPath.isEmpty
            ? "its manifest is no JSON object" : "\(path(context.codingPath)) in its manifest has no value of its kind"
    }

    /// `photos[3].size`: our own names only.
    private static func path(_ keys: [any CodingKey]) -> String {
        keys.reduce("") { path, key in
            if let index = key.intValue { return "\(path)[\(index)]" }
            return path.isEmpty ? key.stringValue : "\(path).\(key.stringValue)"
        }
    }
}
