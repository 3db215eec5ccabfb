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
        // A link that was pasted may bring spaces and an end of line along.
        let trimmed = text.trimmingPrefix(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
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
        guard key.rawValue.hasPrefix(guestFolder), let slot = Int(key.lastSegment), guest(slot) == key else {
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
