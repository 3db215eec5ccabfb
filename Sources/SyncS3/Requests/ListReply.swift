import FoundationEssentials
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
        // Where an element is there twice, the first one counts.
        var (encoding, truncation, token): (String?, String?, String?)
        var scanner = XMLScanner(body)
        let root = try scanner.root("ListBucketResult")
        try scanner.children(of: root) { scanner, child throws(InvalidReply) in
            switch scanner.nameBytes(of: child) {
            case "Contents": entries.append(try ListEntry(&scanner, child))
            case "EncodingType": try scanner.read(child, to: &encoding)
            case "IsTruncated": try scanner.read(child, to: &truncation)
            case "NextContinuationToken": try scanner.read(child, to: &token)
            default: try scanner.skip(child)
            }
        }
        try scanner.finish()
        let isEncoded = encoding?.lowercased() == "url"
        var objects: [ObjectInfo] = []
        objects.reserveCapacity(entries.count)
        for entry in entries {
            if let object = try entry.object(isEncoded: isEncoded, below: prefix) { objects.append(object) }
        }
        let next = token.flatMap { $0.isEmpty ? nil : PageToken(rawValue: $0) }
        let isTruncated = truncation?.lowercased() == "true"
        if isTruncated, next == nil {
            throw InvalidReply(reason: "it is cut off and has no token to go on with")
        }
        tellsRestores = entries.contains { $0.restore != nil }
        page = ObjectPage(objects: objects, next: isTruncated ? next : nil)
    }
}

/// `<Contents>` of a listing, as it is written.
private struct ListEntry {
    private struct Texts {
        var key, size, eTag, storageClass, modified: String?
    }

    private let texts: Texts
    let restore: RestoreState?

    init(_ scanner: inout XMLScanner, _ content: XMLScanner.Opening) throws(InvalidReply) {
        var texts = Texts()
        var restore: RestoreState?
        try scanner.children(of: content) { scanner, child throws(InvalidReply) in
            switch scanner.nameBytes(of: child) {
            case "Key": try scanner.read(child, to: &texts.key)
            case "LastModified": try scanner.read(child, to: &texts.modified)
            case "ETag": try scanner.read(child, to: &texts.eTag)
            case "Size": try scanner.read(child, to: &texts.size)
            case "StorageClass": try scanner.read(child, to: &texts.storageClass)
            case "RestoreStatus" where restore == nil: restore = try Self.restore(&scanner, child)
            default: try scanner.skip(child)
            }
        }
        self.texts = texts
        self.restore = restore
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

    /// - Returns: `nil` for keys that we could not have written, such as the "folder/" of a console: they are not ours to see.
    func object(isEncoded: Bool, below prefix: String) throws(InvalidReply) -> ObjectInfo? {
        guard let written = texts.key else { throw InvalidReply(reason: "its XML has no <Key>") }
        guard let name = isEncoded ? written.percentDecoded(plusIsSpace: true) : written else {
            throw InvalidReply(reason: "the key \"\(written.escapingControls)\" cannot be decoded")
        }
        guard let digits = texts.size else { throw InvalidReply(reason: "its XML has no <Size>") }
        guard let size = Int64(digits) else {
            throw InvalidReply(reason: "the size of \"\(name.escapingControls)\" is no number")
        }
        guard let rest = name.below(prefix), let key = try? ObjectKey(rest) else { return nil }
        let etag = texts.eTag.flatMap(ObjectReply.etag)
        let storageClass = texts.storageClass.flatMap { $0.isEmpty ? nil : StorageClass(rawValue: $0) }
        return ObjectInfo(
            key: key, size: size, md5: etag.flatMap { MD5Digest(hex: $0) }, etag: etag,
            storageClass: storageClass ?? .standard, restore: restore ?? .none,
            modified: texts.modified.flatMap(S3Date.iso8601))
    }
}

extension XMLScanner {
    /// The text of the element whose tag was read last, where there was none of this name before.
    fileprivate mutating func read(_ element: Opening, to text: inout String?) throws(InvalidReply) {
        if text == nil { text = try self.text(of: element) } else { try skip(element) }
    }
}
