import FoundationEssentials
import SyncCore
import SyncDigest

extension S3Call {
    private static let longestKey = 1_024

    func putObject(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        try checkKeyLength()
        try checkWriteConditions(bucket)
        let encryption = try ObjectAttributeHeaders.encryption(request.head)
        let object = StoredObject(
            bytes: body.bytes, etag: Self.etag("\(body.digest.md5)", encryption), modified: now,
            storageClass: try ObjectAttributeHeaders.storageClass(request.head, abilities),
            metadata: try ObjectAttributeHeaders.metadata(request.head),
            systemHeaders: ObjectAttributeHeaders.system(request.head), encryption: encryption,
            checksums: body.checksums, generation: 1)
        bucket.store(object, at: key)
        let checksums = body.checksums.sorted { $0.key < $1.key }.map {
            (name: RequestBody.checksumPrefix + $0.key, value: $0.value)
        }
        return ServerReply(
            status: 200,
            headers: [("ETag", "\"\(object.etag)\""), ("x-amz-server-side-encryption", encryption)] + checksums)
    }

    /// The MD5, unless a key of KMS encrypts the object: then 32 digits that mean nothing.
    static func etag(_ md5: String, _ encryption: String) -> String {
        encryption == "aws:kms" ? "\(ContentDigest(of: Array("kms \(md5)".utf8)).md5)" : md5
    }

    func checkKeyLength() throws(S3Failure) {
        guard key.bytes.count <= Self.longestKey else {
            throw S3Failure(
                400, "KeyTooLongError", "Your key is too long",
                details: [("Size", "\(key.bytes.count)"), ("MaxSizeAllowed", "\(Self.longestKey)")])
        }
    }

    /// If-None-Match and If-Match of a write.
    func checkWriteConditions(_ bucket: StoredBucket) throws(S3Failure) {
        let existing = bucket.objects[key]
        if let value = header("if-none-match") {
            switch abilities.conditionalPut {
            case .ignored: break
            case .refused: throw .notImplemented(header: "If-None-Match")
            case .honoured:
                guard value == "*" else { throw .notImplemented(header: "If-None-Match") }
                if existing != nil { throw .preconditionFailed("If-None-Match") }
            }
        }
        if let value = header("if-match") {
            guard let existing else { throw .noSuchKey(key) }
            guard Self.matches(value, existing) else { throw .preconditionFailed("If-Match") }
        }
    }

    /// Whether an ETag is named by an If-Match or If-None-Match, with quotes or without.
    static func matches(_ value: String, _ object: StoredObject) -> Bool {
        value.split(separator: ",").contains { item in
            let text = item.trimmingBlanks()
            return text == "*" || text == "\"\(object.etag)\"" || text == object.etag
        }
    }
}
