package import SyncCore

/// A share behind a link to its page, its manifest or its folder.
package struct LinkedShareSource: ShareSource {
    private let link: WebLink
    private let asked: ShareID?
    private let client: LinkClient

    package init(_ link: WebLink, transport: any HTTPTransport) {
        self.link = link
        asked = ShareReference.link(link).shareID
        client = LinkClient(transport: transport)
    }

    package func read(remembered: WebLink?) async throws -> ReadShare {
        do {
            return try await read()
        } catch let error as StoreError where error.code == .notFound {
            // A signed link ends before its share does; the manifest told a newer one.
            guard let remembered, link.admits(remembered) else {
                guard ShareReference.link(link).hasWrongID else { throw error }
                throw StoreError(.notFound, operation: "get", message: StoreError.wrongLink)
            }
            return try await manifest(at: remembered)
        }
    }

    private func read() async throws -> ReadShare {
        let answer: LinkClient.Answer
        do {
            answer = try await client.document(at: link, limit: ShareManifestRules.maximumBytes)
        } catch let error as StoreError where error.code == .notFound {
            guard let beside = manifestBelowFolder else { throw error }
            return try await manifest(at: beside)
        }
        switch answer.response.body.first(where: { !Self.blanks.contains($0) }) {
        case UInt8(ascii: "{"): return try share(answer)
        case UInt8(ascii: "<"): return try await share(ofPage: answer)
        default: throw ShareRefusal("what is at this link is neither the page nor the manifest of a share")
        }
    }

    private func share(ofPage page: LinkClient.Answer) async throws -> ReadShare {
        let told = PageScanner(page.response.body).manifestReference
        guard let target = page.link.resolving(told ?? "vacation.json") else {
            throw ShareRefusal("its page leads to a manifest that is no http(s) link")
        }
        guard page.link.admits(target) else {
            throw ShareRefusal(
                "its page leads to a manifest at another host, \(target.origin); only \(page.link.origin) is asked")
        }
        do {
            return try await manifest(at: target)
        } catch let error as StoreError where error.code == .notFound && told == nil {
            throw ShareRefusal("the page at this link is not that of a share")
        }
    }

    private func manifest(at link: WebLink) async throws -> ReadShare {
        try share(try await client.document(at: link, limit: ShareManifestRules.maximumBytes))
    }

    private func share(_ manifest: LinkClient.Answer) throws -> ReadShare {
        let share = try ShareManifestRules(asked: asked).check(manifest.response.body, foundAt: manifest.link)
        return ReadShare(
            share: share, photos: LinkedShareStore(share, foundAt: manifest.link, client: client),
            manifestLink: share.manifestLink ?? manifest.link)
    }

    /// Where the link leads to a folder: `…/shares/ID` and `…/shares/ID/`. Stores have no pages for folders.
    private var manifestBelowFolder: WebLink? {
        if link.path.hasSuffix("/") { return link.resolving("vacation.json") }
        guard let name = link.path.split(separator: "/").last, ShareID(String(name)) != nil else { return nil }
        return link.resolving("\(name)/vacation.json")
    }

    /// White space, and the byte order mark of UTF-8.
    private static let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0C, 0x0D, 0xEF, 0xBB, 0xBF]
}

/// The photos of a share behind links, as objects under the keys that they have in the sharer's store.
///
/// What is told of an object is what the manifest says; only ``get(_:range:into:)`` sends a request, for a signed link is
/// good for GET alone. A reading ends at the size in the manifest, however much the server sends.
package struct LinkedShareStore: ObjectSource {
    private struct Object: Sendable {
        let link: WebLink
        let size: Int64
    }

    package let identity: StoreIdentity
    private let client: LinkClient
    private let objects: [ObjectKey: Object]

    /// - Parameter link: that of the manifest: photos without a link of their own lie beside it, under their usual names.
    init(_ share: CheckedShare, foundAt link: WebLink, client: LinkClient) {
        identity = StoreIdentity(type: "link", location: link.origin)
        self.client = client
        let keys = ShareKeys(share.id)
        objects = share.photos.reduce(into: [:]) { objects, photo in
            let beside = link.resolving(ShareKeys.copyName(share.id, photo.orderIndex, film: photo.film))
            guard let link = photo.link ?? beside else { return }
            objects[keys.object(of: photo)] = Object(link: link, size: photo.size)
        }
    }

    package func head(_ key: ObjectKey) async throws -> ObjectInfo? {
        objects[key].map { ObjectInfo(key: key, size: $0.size) }
    }

    package func get(
        _ key: ObjectKey, range: Range<Int64>?, into sink: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ObjectInfo {
        guard let object = objects[key] else {
            throw StoreError(.notFound, operation: "get", key: key.rawValue, message: "the share has no such photo")
        }
        let info = ObjectInfo(key: key, size: object.size)
        guard range?.isEmpty != true else { return info }
        if let range, range.lowerBound >= object.size {
            throw StoreError(
                .invalidRange, operation: "get", key: key.rawValue,
                message: "the photo ends before the bytes that were asked for")
        }
        let read = LinkedRead(key, size: object.size, range: range, into: sink)
        let answer = try await client.get(
            object.link, range: range, key: key, target: .sink(accepts: read.begin, read.append))
        guard [200, 206].contains(answer.response.status) else {
            throw StoreError(answer.response, from: answer.link, key: key)
        }
        try read.end()
        return info
    }
}

/// Looks through a page for the link to its share's manifest:
/// `<link rel="alternate" type="application/vnd.sync-agent.share+json" href="…">`.
///
/// It forgives what browsers forgive, and reads each byte once. What stands in comments, scripts, styles and other texts
/// that are no markup does not count.
struct PageScanner {
    static let manifestType = "application/vnd.sync-agent.share+json"
    private static let rawTexts: Set = [
        "script", "style", "title", "textarea", "noscript", "iframe", "xmp", "template",
    ]

    private let page: [UInt8]
    private var position = 0

    init(_ page: [UInt8]) {
        self.page = page
    }

    /// The first such link, as it is written there; `nil` when there is none.
    var manifestReference: String? {
        var scanner = self
        while let tag = scanner.nextTag() {
            if tag.name == "link", let reference = tag.manifestReference { return reference }
        }
        return nil
    }

    private struct Tag {
        var name: String
        var attributes: [String: String] = [:]

        var manifestReference: String? {
            guard let relations = attributes["rel"], let type = attributes["type"], let reference = attributes["href"],
                relations.lowercased().split(whereSeparator: \.isWhitespace).contains("alternate"),
                type.lowercased().filter({ !$0.isWhitespace }) == PageScanner.manifestType
            else { return nil }
            let trimmed = reference.split(whereSeparator: \.isWhitespace)
            return trimmed.count == 1 ? String(trimmed[0]) : nil
        }
    }

    /// The next opening tag.
    private mutating func nextTag() -> Tag? {
        while skip(to: UInt8(ascii: "<")) {
            position += 1
            if starts(with: "!--") {
                position += 3
                guard skip(past: "-->") else { return nil }
                continue
            }
            guard let first = current, first.isLetter else { continue }
            var tag = Tag(name: text(until: { Self.isBlank($0) || $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "/") }))
            while let (name, value) = nextAttribute() {
                // The first of two with one name counts.
                if tag.attributes[name] == nil { tag.attributes[name] = value }
            }
            if Self.rawTexts.contains(tag.name), !skip(past: "</\(tag.name)") { return nil }
            return tag
        }
        return nil
    }

    /// The next attribute of the tag that the position is in; `nil` past its end.
    private mutating func nextAttribute() -> (String, String)? {
        skip { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
        guard let byte = current else { return nil }
        if byte == UInt8(ascii: ">") {
            position += 1
            return nil
        }
        // A stray "=" is the beginning of a name.
        let start = position
        position += 1
        skip { !Self.isBlank($0) && !"=>/".utf8.contains($0) }
        let name = lowercased(page[start..<position])
        skip(while: Self.isBlank)
        guard current == UInt8(ascii: "=") else { return (name, "") }
        position += 1
        skip(while: Self.isBlank)
        guard let quote = current, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            let start = position
            skip { !Self.isBlank($0) && $0 != UInt8(ascii: ">") }
            return (name, HTMLText.decoded(page[start..<position]))
        }
        position += 1
        let valueStart = position
        skip { $0 != quote }
        defer { position = min(position + 1, page.count) }
        return (name, HTMLText.decoded(page[valueStart..<position]))
    }

    private var current: UInt8? { position < page.count ? page[position] : nil }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while position < page.count, condition(page[position]) { position += 1 }
    }

    private mutating func skip(to byte: UInt8) -> Bool {
        skip { $0 != byte }
        return position < page.count
    }

    /// To behind the next place that has this text, in any case; `false`, at the end, when there is none.
    private mutating func skip(past text: String) -> Bool {
        let first = text.utf8.first
        while position < page.count {
            if page[position] == first, starts(with: text) {
                position += text.utf8.count
                return true
            }
            position += 1
        }
        return false
    }

    private func starts(with text: String) -> Bool {
        let end = position + text.utf8.count
        return end <= page.count && zip(page[position..<end], text.utf8).allSatisfy { Self.lowercased($0) == $1 }
    }

    private mutating func text(until isEnd: (UInt8) -> Bool) -> String {
        let start = position
        skip { !isEnd($0) }
        return lowercased(page[start..<position])
    }

    private func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.map(Self.lowercased), as: UTF8.self)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        byte.isUppercase ? byte | 0x20 : byte
    }

    /// In HTML, a form feed is blank, too.
    private static func isBlank(_ byte: UInt8) -> Bool { byte.isBlank || byte == 0x0C }
}

/// Text as it stands in an attribute of HTML.
enum HTMLText {
    /// Of the longest that is decoded, `#x10FFFF`.
    private static let maximumNameLength = 8
    private static let names: [String: String] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// The text with its character references replaced: the five that every page has to use, and numbers. Others stay as
    /// they are.
    static func decoded(_ bytes: some Sequence<UInt8>) -> String {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        guard text.contains("&") else { return text }
        var decoded = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            decoded += rest[..<start]
            rest = rest[start...].dropFirst()
            let name = rest.prefix(maximumNameLength + 1).prefix { $0 != ";" }
            let end = name.endIndex
            if end < rest.endIndex, rest[end] == ";", let character = character(name) {
                decoded += character
                rest = rest[end...].dropFirst()
            } else {
                decoded += "&"
            }
        }
        return decoded + rest
    }

    private static func character(_ name: Substring) -> String? {
        if let known = names[String(name)] { return known }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? digits.dropFirst() : digits
        // Integers may have a sign, references may not.
        guard let first = number.first, first.isHexDigit,
            let value = UInt32(number, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(value)
        else { return nil }
        return String(Character(scalar))
    }
}
