import Glibc
package import SyncCore

/// `<ListBucketResult>` of ListObjectsV2.
package struct ListReply: Hashable, Sendable {
    package let page: ObjectPage
    /// Whether it says of any object that it is or was being restored.
    package let tellsRestores: Bool

    /// - Parameter prefix: the store's own, which the keys of the page do not have.
    /// - Throws: ``InvalidReply``.
    package init(_ body: [UInt8], prefix: String) throws(InvalidReply) {
        var entries: [ListEntry] = []
        entries.reserveCapacity(1_000)
        var resolved: [UInt8] = []
        // Where an element is there twice, the first one counts.
        var (encoding, truncation, token): (String?, String?, String?)
        var scanner = XMLScanner(body)
        let root = try scanner.root("ListBucketResult")
        try scanner.children(of: root) { scanner, child throws(InvalidReply) in
            switch scanner.nameBytes(of: child) {
            case "Contents":
                entries.append(try ListEntry(&scanner, child, &resolved))
                // One entry follows the other.
                while let next = scanner.plainOpening("Contents") {
                    entries.append(try ListEntry(&scanner, next, &resolved))
                }
            case "EncodingType": try scanner.read(child, to: &encoding)
            case "IsTruncated": try scanner.read(child, to: &truncation)
            case "NextContinuationToken": try scanner.read(child, to: &token)
            default: try scanner.skip(child)
            }
        }
        try scanner.finish()
        let objects = try Self.objects(
            of: entries, in: body, resolved, isEncoded: encoding?.lowercased() == "url", below: Array(prefix.utf8))
        let next = token.flatMap { $0.isEmpty ? nil : PageToken(rawValue: $0) }
        let isTruncated = truncation?.lowercased() == "true"
        if isTruncated, next == nil {
            throw InvalidReply(reason: "it is cut off and has no token to go on with")
        }
        tellsRestores = entries.contains { $0.restore != nil }
        page = ObjectPage(objects: objects, next: isTruncated ? next : nil)
    }

    private static func objects(
        of entries: [ListEntry], in document: [UInt8], _ resolved: [UInt8], isEncoded: Bool, below prefix: [UInt8]
    ) throws(InvalidReply) -> [ObjectInfo] {
        try document.withUnsafeBufferPointer { (document) throws(InvalidReply) -> [ObjectInfo] in
            try resolved.withUnsafeBufferPointer { (resolved) throws(InvalidReply) -> [ObjectInfo] in
                var reader = EntryReader(document: document, resolved: resolved, isEncoded: isEncoded, prefix: prefix)
                var objects: [ObjectInfo] = []
                objects.reserveCapacity(entries.count)
                for entry in entries {
                    if let object = try reader.object(entry) { objects.append(object) }
                }
                return objects
            }
        }
    }
}

/// `<Contents>` of a listing: where its texts are. A page has 5,000, and of most no value of their own is needed.
private struct ListEntry {
    struct Place {
        let range: Range<Int>
        /// In the document, as it is written there. Else among the texts with references, and those in pieces.
        let isWritten: Bool
    }

    private(set) var key, size, eTag, storageClass, modified: Place?
    private(set) var restore: RestoreState?

    /// - Parameter resolved: gets the texts that are not written as they are.
    init(
        _ scanner: inout XMLScanner, _ content: XMLScanner.Opening, _ resolved: inout [UInt8]
    ) throws(InvalidReply) {
        if content.isEmpty { return }
        scanner.advance { bytes, offset in
            var offset = offset
            while let element = PlainXMLElement(bytes, at: offset), take(element, of: bytes) { offset = element.end }
            return offset
        }
        if scanner.takesEnd(of: content) { return }
        try scanner.children(of: content) { scanner, child throws(InvalidReply) in
            switch scanner.nameBytes(of: child) {
            case "Key": try scanner.read(child, to: &key, among: &resolved)
            case "LastModified": try scanner.read(child, to: &modified, among: &resolved)
            case "ETag": try scanner.read(child, to: &eTag, among: &resolved)
            case "Size": try scanner.read(child, to: &size, among: &resolved)
            case "StorageClass": try scanner.read(child, to: &storageClass, among: &resolved)
            case "RestoreStatus" where restore == nil: restore = try Self.restore(&scanner, child)
            default: try scanner.skip(child)
            }
        }
    }

    /// - Returns: whether all of it was understood. What has references is not, beside an ETag's quotes.
    private mutating func take(_ element: PlainXMLElement, of bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let isETag = "ETag" ~= element.name
        let range = isETag ? Self.withoutQuotes(element.text, of: bytes) : element.text
        guard !UnsafeBufferPointer(rebasing: bytes[range]).has(UInt8(ascii: "&")) else { return false }
        let place = Place(range: range, isWritten: true)
        switch element.name {
        case "Key": if key == nil { key = place }
        case "LastModified": if modified == nil { modified = place }
        case "ETag": if eTag == nil { eTag = place }
        case "Size": if size == nil { size = place }
        case "StorageClass": if storageClass == nil { storageClass = place }
        case "RestoreStatus": return false
        default: break
        }
        return true
    }

    /// Amazon writes an ETag's quotes as references. They are no part of it.
    private static func withoutQuotes(_ text: Range<Int>, of bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let quote: StaticString = "&quot;"
        let length = quote.utf8CodeUnitCount
        guard let document = bytes.baseAddress, text.count >= 2 * length,
            memcmp(document + text.lowerBound, quote.utf8Start, length) == 0,
            memcmp(document + text.upperBound - length, quote.utf8Start, length) == 0
        else { return text }
        return text.lowerBound + length..<text.upperBound - length
    }

    private static func restore(
        _ scanner: inout XMLScanner, _ status: XMLScanner.Opening
    ) throws(InvalidReply) -> RestoreState {
        var (progress, expiry): (String?, String?)
        try scanner.children(of: status) { scanner, child throws(InvalidReply) in
            switch scanner.nameBytes(of: child) {
            case "IsRestoreInProgress": try scanner.read(child, to: &progress)
            case "RestoreExpiryDate": try scanner.read(child, to: &expiry)
            default: try scanner.skip(child)
            }
        }
        return progress?.lowercased() == "true"
            ? .inProgress : .restored(until: expiry.flatMap(S3Date.iso8601))
    }
}

/// Makes objects of entries, where the texts of both kinds are.
private struct EntryReader {
    let document: UnsafeBufferPointer<UInt8>
    let resolved: UnsafeBufferPointer<UInt8>
    let isEncoded: Bool
    let prefix: [UInt8]
    /// Of the last entry that has one: most have the same.
    var lastClass: (name: UnsafeBufferPointer<UInt8>, storageClass: StorageClass)?
    /// Of the last entry that has a time.
    var lastDay = CaptureTime.WrittenDay()

    /// - Returns: `nil` for keys that we could not have written, such as the "folder/" of a console: they are not ours.
    mutating func object(_ entry: ListEntry) throws(InvalidReply) -> ObjectInfo? {
        guard let place = entry.key else { throw InvalidReply(reason: "its XML has no <Key>") }
        let written = bytes(place)
        var decoded: [UInt8]?
        if isEncoded, written.has(UInt8(ascii: "%")) || written.has(UInt8(ascii: "+")) {
            guard let text = Array(written).percentDecoded(plusIsSpace: true) else {
                throw InvalidReply(reason: "the key \"\(Self.text(written).escapingControls)\" cannot be decoded")
            }
            decoded = Array(text.utf8)
        }
        guard let digits = entry.size else { throw InvalidReply(reason: "its XML has no <Size>") }
        guard let size = Self.number(bytes(digits)), ObjectInfo.sizes.contains(size) else {
            let name = decoded.map { String(decoding: $0, as: UTF8.self) } ?? Self.text(written)
            throw InvalidReply(reason: "the size of \"\(name.escapingControls)\" is none that an object has")
        }
        let found = if let decoded { decoded.withUnsafeBufferPointer { ownKey($0) } } else { ownKey(written) }
        guard let key = found else { return nil }
        let tag = entry.eTag.flatMap { place in ObjectReply.withETag(utf8: bytes(place)) { ObjectTag(utf8: $0) } }
        let modified = entry.modified.flatMap { S3Date.iso8601(utf8: bytes($0), after: &lastDay) }
        return ObjectInfo(
            listed: key, size: size, tag: tag, storageClass: storageClass(entry.storageClass),
            restore: entry.restore ?? .none, modified: modified)
    }

    private func bytes(_ place: ListEntry.Place) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: (place.isWritten ? document : resolved)[place.range])
    }

    private func ownKey(_ name: UnsafeBufferPointer<UInt8>) -> ObjectKey? {
        guard name.count >= prefix.count else { return nil }
        if let start = name.baseAddress, memcmp(start, prefix, prefix.count) != 0 { return nil }
        return try? ObjectKey(Self.text(UnsafeBufferPointer(rebasing: name[prefix.count...])))
    }

    private mutating func storageClass(_ place: ListEntry.Place?) -> StorageClass {
        guard let name = place.map({ bytes($0) }), let start = name.baseAddress, !name.isEmpty else { return .standard }
        if let lastClass, let other = lastClass.name.baseAddress, lastClass.name.count == name.count,
            memcmp(start, other, name.count) == 0
        {
            return lastClass.storageClass
        }
        let storageClass = StorageClass(rawValue: Self.text(name))
        lastClass = (name, storageClass)
        return storageClass
    }

    /// As `Int64`'s own of a text, which is asked for all but a few digits.
    private static func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int64? {
        var number: Int64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10, digits.count < 18 else { return Int64(text(digits)) }
            number = number * 10 + Int64(digit)
        }
        return digits.isEmpty ? nil : number
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension XMLScanner {
    /// The text of the element whose tag was read last, where there was none of this name before.
    fileprivate mutating func read(
        _ element: Opening, to place: inout ListEntry.Place?, among resolved: inout [UInt8]
    ) throws(InvalidReply) {
        if place != nil { return try skip(element) }
        let text = try textBytes(of: element)
        place = ListEntry.Place(range: resolved.count..<resolved.count + text.count, isWritten: false)
        resolved += text
    }

    /// As above, of what stands once in a page.
    fileprivate mutating func read(_ element: Opening, to text: inout String?) throws(InvalidReply) {
        if text == nil { text = try self.text(of: element) } else { try skip(element) }
    }
}
