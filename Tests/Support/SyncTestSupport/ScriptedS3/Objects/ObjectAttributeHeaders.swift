import FoundationEssentials
import SyncCore

/// The headers of an object: those that came with it, and those that go with it.
enum ObjectAttributeHeaders {
    static let metadataPrefix = "x-amz-meta-"
    private static let system = [
        "content-type", "cache-control", "content-disposition", "content-encoding", "content-language", "expires",
    ]
    private static let metadataLimit = 2_048

    static func system(_ head: RequestHead) -> [String: String] {
        var headers = ["content-type": "binary/octet-stream"]
        for name in system { headers[name] = head[name] ?? headers[name] }
        return headers
    }

    /// - Throws: MetadataTooLarge above 2 KB of names and values.
    static func metadata(_ head: RequestHead) throws(S3Failure) -> [String: String] {
        var metadata: [String: String] = [:]
        for (name, _) in head.headers where name.hasPrefix(metadataPrefix) {
            metadata[String(name.dropFirst(metadataPrefix.count))] = head[name]
        }
        let size = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.latin1Bytes.count }
        guard size <= metadataLimit else {
            throw S3Failure(
                400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size",
                details: [("Size", "\(size)"), ("MaxSizeAllowed", "\(metadataLimit)")])
        }
        return metadata
    }

    static func storageClass(_ head: RequestHead, _ abilities: StoreAbilities) throws(S3Failure) -> StorageClass {
        let storageClass = StorageClass(rawValue: head["x-amz-storage-class"] ?? "STANDARD")
        guard abilities.storageClasses.contains(storageClass) else {
            guard abilities.namesRefusedClasses else { throw S3Failure(400, "InvalidArgument", "") }
            throw S3Failure(
                400, "InvalidStorageClass", "The storage class you specified is not valid",
                details: [("StorageClassRequested", storageClass.rawValue)])
        }
        return storageClass
    }

    static func encryption(_ head: RequestHead) throws(S3Failure) -> String {
        let encryption = head["x-amz-server-side-encryption"] ?? "AES256"
        guard encryption == "AES256" || encryption == "aws:kms" else {
            throw .invalidArgument(
                "The encryption method specified is not supported", name: "x-amz-server-side-encryption",
                value: encryption)
        }
        return encryption
    }

    /// All that a HEAD or GET tells of an object, but its length.
    static func of(_ object: StoredObject, at now: Date) -> [(name: String, value: String)] {
        var headers = object.systemHeaders.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        headers += object.metadata.sorted { $0.key < $1.key }.map { (metadataPrefix + $0.key, readable($0.value)) }
        headers += [
            ("ETag", "\"\(object.etag)\""), ("Last-Modified", ServerDate.http(object.modified)),
            ("Accept-Ranges", "bytes"), ("x-amz-server-side-encryption", object.encryption),
        ]
        if object.storageClass != .standard { headers.append(("x-amz-storage-class", object.storageClass.rawValue)) }
        if let tier = object.accessTier { headers.append(("x-amz-archive-status", tier.rawValue)) }
        if let restore = object.restore { headers.append(("x-amz-restore", text(restore, at: now))) }
        return headers
    }

    private static func text(_ restore: RestoreRecord, at now: Date) -> String {
        guard !restore.isOngoing(at: now), let expiry = restore.expiry else { return "ongoing-request=\"true\"" }
        return "ongoing-request=\"false\", expiry-date=\"\(ServerDate.http(expiry))\""
    }

    /// S3 takes the bytes of a value for ISO 8859-1 and gives what is not ASCII back in the form of RFC 2047: UTF-8 is
    /// then encoded twice (S3 User Guide, "Working with object metadata").
    private static func readable(_ value: String) -> String {
        guard value.unicodeScalars.contains(where: { !$0.isASCII }) else { return value }
        return "=?UTF-8?B?\(Data(value.utf8).base64EncodedString())?="
    }
}
