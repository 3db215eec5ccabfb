package import FoundationEssentials

/// What a share consists of, as `vacation.json` in the store tells it: docs/design.md, section 5. Whoever reads one from
/// elsewhere holds it against ``ShareManifestRules`` first: nothing in it can be trusted.
package struct ShareManifest: Hashable, Sendable, Codable {
    /// Of this form. Readers refuse a newer one.
    package static let currentVersion = 1

    package struct Photo: Hashable, Sendable, Codable {
        /// Its place in the names of objects, from 0. A photo keeps it when the share changes, so that it may skip some.
        package var orderIndex: Int
        /// Pixels, as it is to be seen.
        package var width: Int
        package var height: Int
        /// Bytes.
        package var size: Int64
        /// Of the bytes, hexadecimal.
        package var sha256: String
        @ExplicitNull package var takenAt: CaptureTime?
        /// Of its file, without any folder; `nil` unless whoever shares it wants names to be told.
        package var name: String?
        /// A signed link to the photo, where the share cannot be read without one.
        package var url: String?

        package init(
            orderIndex: Int, width: Int, height: Int, size: Int64, sha256: String, takenAt: CaptureTime?,
            name: String? = nil, url: String? = nil
        ) {
            self.orderIndex = orderIndex
            self.width = width
            self.height = height
            self.size = size
            self.sha256 = sha256
            self.name = name
            self.url = url
            self._takenAt = ExplicitNull(wrappedValue: takenAt)
        }
    }

    /// A film of the share. Readers that know of none pass over it.
    package struct Film: Hashable, Sendable, Codable {
        /// As that of a photo; no film has the number of a photo.
        package var orderIndex: Int
        package var mediaType: FilmType
        /// Pixels, as it is to be seen.
        package var width: Int
        package var height: Int
        @ExplicitNull package var durationSeconds: Double?
        /// Bytes.
        package var size: Int64
        /// Of the bytes, hexadecimal.
        package var sha256: String
        @ExplicitNull package var takenAt: CaptureTime?
        /// Whether there is a picture of it beside the thumbnails of the photos.
        package var hasPoster: Bool
        /// As that of a photo.
        package var name: String?
        /// A signed link to the film, where the share cannot be read without one.
        package var url: String?

        package init(
            orderIndex: Int, mediaType: FilmType, width: Int, height: Int, durationSeconds: Double?, size: Int64,
            sha256: String, takenAt: CaptureTime?, hasPoster: Bool, name: String? = nil, url: String? = nil
        ) {
            self.orderIndex = orderIndex
            self.mediaType = mediaType
            self.width = width
            self.height = height
            self.size = size
            self.sha256 = sha256
            self.hasPoster = hasPoster
            self.name = name
            self.url = url
            self._durationSeconds = ExplicitNull(wrappedValue: durationSeconds)
            self._takenAt = ExplicitNull(wrappedValue: takenAt)
        }
    }

    package var version: Int
    package var shareId: String
    package var locationName: String
    package var startDate: CalendarDay
    package var endDate: CalendarDay
    /// Without films.
    package var photoCount: Int
    @ExplicitNull package var sharedBy: String?
    package var expiresAt: Date
    /// When it was last written because the photos, or what is said of them, changed.
    package var updatedAt: Date
    /// In the order in which they are to be seen.
    package var photos: [Photo]
    /// In the order in which they are to be seen; `nil` where there are none.
    package var films: [Film]?
    /// A signed link to this manifest, newer than the one by which it was read.
    package var manifestURL: String?

    package init(
        shareId: ShareID, locationName: String, startDate: CalendarDay, endDate: CalendarDay, sharedBy: String?,
        expiresAt: Date, updatedAt: Date, photos: [Photo], films: [Film] = [], manifestURL: String? = nil
    ) {
        version = Self.currentVersion
        self.shareId = shareId.description
        self.locationName = locationName
        self.startDate = startDate
        self.endDate = endDate
        photoCount = photos.count
        self.expiresAt = expiresAt
        self.updatedAt = updatedAt
        self.photos = photos
        self.films = films.isEmpty ? nil : films
        self.manifestURL = manifestURL
        self._sharedBy = ExplicitNull(wrappedValue: sharedBy)
    }

    /// As it is stored: JSON with sorted keys, times in ISO 8601 (those of capture as ``CaptureTime`` has them).
    package func encoded() throws -> [UInt8] { try ReadableJSON.json(self) }
}

/// A value that is written as `null` when there is none, so that readers find every field.
@propertyWrapper
package struct ExplicitNull<Value: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedDecodingContainer {
    /// A field that is not there is as one that is `null`.
    package func decode<Value>(_ type: ExplicitNull<Value>.Type, forKey key: Key) throws -> ExplicitNull<Value> {
        try decodeIfPresent(type, forKey: key) ?? ExplicitNull(wrappedValue: nil)
    }
}

/// A share whose manifest keeps to ``ShareManifestRules``: what is in here can be worked with.
package struct CheckedShare: Hashable, Sendable {
    package struct Photo: Hashable, Sendable {
        /// 0 to 999,999; no two are equal.
        package let orderIndex: Int
        /// Bytes, from 1.
        package let size: Int64
        package let sha256: SHA256Digest
        package let takenAt: CaptureTime?
        /// What kind of film it is; `nil` for a photo.
        package var film: FilmType?
        /// Of its file, where the share tells one that does no harm.
        package var originalName: OriginalName?
        /// Where the manifest says that it is, of the origin that the person trusts.
        package let link: WebLink?
    }

    package let id: ShareID
    /// As it can be kept on a disk: texts for one line of a terminal, and no links.
    package let manifest: ShareManifest
    /// In the order in which they are to be seen: the photos, and behind them the films.
    package let photos: [Photo]
    /// A newer link to the manifest, of the same origin.
    package let manifestLink: WebLink?
}

extension ShareKeys {
    package func object(of photo: CheckedShare.Photo) -> ObjectKey { copy(photo.orderIndex, film: photo.film) }
}

/// Why a share is not read: what was found is no manifest, or one that no honest sharer writes.
package struct ShareRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, with the next step where there is one.
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    package static let manifestTooLong = ShareRefusal(
        "its manifest is longer than \(ShareManifestRules.maximumBytes >> 20) MiB")

    package var description: String { "this share is refused: \(reason)" }
}

/// Where a share is read from, by those it was shared with.
package protocol ShareSource: Sendable {
    /// The share as it is now, held against ``ShareManifestRules``.
    /// - Parameter remembered: a link to the manifest that an earlier reading told, for when the reference itself leads
    ///   nowhere any more.
    /// - Throws: ``ShareRefusal``; `StoreError`, `.notFound` when there is no such share, or none any more.
    func read(remembered: WebLink?) async throws -> ReadShare
}

/// A share, and how to read its photos.
package struct ReadShare: Sendable {
    package let share: CheckedShare
    /// Has the photos under the keys of the share, and ends every reading at the size that the manifest tells.
    package let photos: any ObjectSource
    /// Where the manifest is found next time, where that is a link.
    package let manifestLink: WebLink?

    package init(share: CheckedShare, photos: any ObjectSource, manifestLink: WebLink?) {
        self.share = share
        self.photos = photos
        self.manifestLink = manifestLink
    }
}

/// Which copies of its photos a share consists of.
package enum ShareQuality: String, Hashable, Sendable, CaseIterable {
    /// Reduced as stored photos are.
    case reduced
    /// The picture as it was taken, where the file is on this machine; else as it is stored.
    case full
}

/// A language in which the page of a share can be read.
package enum PageLanguage: String, Hashable, Sendable, CaseIterable {
    case en, de, es, fr, zh

    /// For `lang` (BCP 47). Chinese is in simplified characters.
    package var tag: String { self == .zh ? "zh-Hans" : rawValue }
}

/// How a person names a share: by its id, or by a link.
package enum ShareReference: Hashable, Sendable {
    /// In the store of the configuration.
    case id(ShareID)
    /// Its page or its manifest, for everybody who has the link.
    case link(WebLink)

    /// Why a text names no share, with what does.
    package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        package let text: String

        package var description: String {
            let text = WebLink.withoutSecrets(text)
            let shown = text.count > 80 ? "\(text.prefix(80))…" : text
            return
                "\"\(shown.escapingControls)\" names no share: give its id, vacationphotos://share/ID, or the http(s) "
                + "link of its page or manifest, without user and password"
        }
    }

    private static let appLink = "vacationphotos://share/"

    package init(_ text: String) throws(Invalid) {
        // A link that was pasted may bring spaces, an end of line, and characters that nobody sees along.
        let trimmed = text.trimmingPrefix(while: Self.isBlank).reversed().drop(while: Self.isBlank)
        let name = String(trimmed.reversed())
        if let id = ShareID(name) {
            self = .id(id)
        } else if name.lowercased().hasPrefix(Self.appLink) {
            let rest = name.dropFirst(Self.appLink.count).prefix { !"/?#".contains($0) }
            guard let id = ShareID(String(rest)) else { throw Invalid(text: text) }
            self = .id(id)
        } else if let link = WebLink(name) {
            self = .link(link)
        } else {
            throw Invalid(text: text)
        }
    }

    /// Whether a link that has the form of one to a share (`…/shares/ID/…`) has something else in the id's place. It may
    /// lead to a share all the same, for a web server has whatever names it likes.
    package var hasWrongID: Bool {
        guard case .link(let link) = self else { return false }
        let segments = link.path.split(separator: "/").map(String.init)
        guard let place = segments.dropLast().lastIndex(of: "shares") else { return false }
        return ShareID(segments[place + 1])?.description != segments[place + 1]
    }

    private static func isBlank(_ character: Character) -> Bool {
        character.isWhitespace || character.unicodeScalars.allSatisfy { $0.properties.generalCategory == .format }
    }

    /// The share, where the reference tells: a link does when it leads to the objects of one (`…/shares/ID/…`), or to where a
    /// gallery shows it (`…/s/ID/`).
    package var shareID: ShareID? {
        switch self {
        case .id(let id): return id
        case .link(let link):
            let segments = link.path.split(separator: "/")
            return zip(segments, segments.dropFirst()).reversed().lazy
                .filter { $0.0 == "shares" || $0.0 == "s" }.compactMap { ShareID(String($0.1)) }.first
        }
    }
}

/// The name of a share, and all that protects it where everybody can read it: a version 4 UUID (RFC 9562, 5.4), 122
/// random bits, in lower case.
package struct ShareID: Hashable, Sendable, LosslessStringConvertible {
    package let description: String

    /// `nil` unless the text is a UUID in its usual form, in either case.
    package init?(_ description: String) {
        let groups = description.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
            groups.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.isASCII && $0.properties.isASCIIHexDigit } })
        else { return nil }
        self.description = description.lowercased()
    }

    /// A new one.
    /// - Parameter generator: has to be fit for secrets, as the system's is (getrandom(2)).
    package init(using generator: inout some RandomNumberGenerator) {
        var bytes = (0..<2).flatMap { _ in
            withUnsafeBytes(of: generator.next() as UInt64) { Array($0) }
        }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += byte.padded(to: 2, radix: 16)
        }
        description = text
    }
}

/// Where the objects of one share live. They stand beside the users' folders, so that one rule and one policy fit them.
package struct ShareKeys: Hashable, Sendable {
    package static let prefix = "shares/"

    package let id: ShareID

    package init(_ id: ShareID) {
        self.id = id
    }

    /// The beginning of all keys of this share.
    package var folder: String { "\(Self.prefix)\(id)/" }
    /// Written last, so that a share is there when this is.
    package var manifest: ObjectKey { key("vacation.json") }
    package var page: ObjectKey { key("index.html") }

    /// - Parameter orderIndex: from 0.
    package func photo(_ orderIndex: Int) -> ObjectKey { copy(orderIndex, film: nil) }
    /// - Parameter film: `nil` for a photo.
    package func copy(_ orderIndex: Int, film: FilmType?) -> ObjectKey {
        key(Self.copyName(id, orderIndex, film: film))
    }
    /// Of a film: its poster.
    package func thumbnail(_ orderIndex: Int) -> ObjectKey { key(Self.thumbnailName(orderIndex)) }

    /// All that may be stored of a photo or a film.
    package func all(_ orderIndex: Int) -> [ObjectKey] {
        [photo(orderIndex), thumbnail(orderIndex)] + FilmType.allCases.map { copy(orderIndex, film: $0) }
    }

    /// Where guests put photos, and nothing that is shared: no page shows what is there.
    package var guestFolder: String { folder + Self.guestName + "/" }
    /// - Parameter slot: from 0.
    package func guest(_ slot: Int) -> ObjectKey { key("\(Self.guestName)/\(slot)") }
    /// The place of a guest's photo; `nil` for every other key.
    package func guestSlot(of key: ObjectKey) -> Int? {
        guard key.isBelow(guestFolder), let slot = Int(key.lastSegment), guest(slot) == key else {
            return nil
        }
        return slot
    }

    /// Names below ``folder``, as the page and the manifest's readers put them together.
    package static func copyName(_ id: ShareID, _ orderIndex: Int, film: FilmType?) -> String {
        "\(id)_\(orderIndex).\(film?.ending ?? "jpg")"
    }
    package static let guestName = "guests"
    package static func thumbnailName(_ orderIndex: Int) -> String { "thumbnails/\(orderIndex).jpg" }

    private func key(_ name: String) -> ObjectKey {
        // A UUID and our own names always make a key.
        guard let key = try? ObjectKey(folder + name) else { preconditionFailure("\(folder + name) is no key") }
        return key
    }
}

/// What guests may add to a share.
package enum GuestRules {
    /// In the life of a share.
    package static let mostPhotos = 100
    /// Of one photo.
    package static let mostBytes: Int64 = 32 << 20
    /// An object of so many bytes at most reserves a place, and is no photo.
    package static let claimBytes: Int64 = 64
    package static let upload = UploadRules(mostBytes: mostBytes, contentType: "image/")
}
