import SyncCore
import SyncDigest

extension S3Call {
    /// Within one bucket.
    func copyObject(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        let source = try copySource(bucket)
        let original = try readable(source, bucket)
        try checkWriteConditions(bucket)
        let storageClass = try ObjectAttributeHeaders.storageClass(request.head, abilities)
        let encryption = try ObjectAttributeHeaders.encryption(request.head)
        let replaces = header("x-amz-metadata-directive") == "REPLACE"
        let changes = replaces || storageClass != original.storageClass || encryption != original.encryption
        guard source != key || changes else {
            throw S3Failure(
                400, "InvalidRequest",
                "This copy request is illegal because it is trying to copy an object to itself without changing the "
                    + "object's metadata, storage class, website redirect location or encryption attributes.")
        }
        var copy = original
        copy.modified = now
        copy.storageClass = storageClass
        copy.encryption = encryption
        copy.etag = Self.etag("\(ContentDigest(of: original.bytes).md5)", encryption)
        copy.restore = nil
        copy.accessTier = nil
        copy.generation = 1
        if replaces {
            copy.metadata = try ObjectAttributeHeaders.metadata(request.head)
            copy.systemHeaders = ObjectAttributeHeaders.system(request.head)
        }
        bucket.store(copy, at: key)
        return ServerReply(
            XMLElement(
                "CopyObjectResult",
                [XMLElement("LastModified", ServerDate.xml(now)), XMLElement("ETag", "\"\(copy.etag)\"")]))
    }

    /// The source of a copy, as it is asked for.
    private func readable(_ source: ObjectName, _ bucket: StoredBucket) throws(S3Failure) -> StoredObject {
        let original = try bucket.object(source, at: now)
        if original.isArchived(at: now) {
            throw S3Failure(
                403, "ObjectNotInActiveTierError",
                "The source object of the COPY action is not in the active tier and is only stored in Amazon S3 "
                    + "Glacier."
            )
        }
        if let value = header("x-amz-copy-source-if-match"), !Self.matches(value, original) {
            throw .preconditionFailed("x-amz-copy-source-If-Match")
        }
        return original
    }

    /// What UploadPartCopy takes of an object.
    func copiedRange(_ bucket: StoredBucket) throws(S3Failure) -> [UInt8] {
        let bytes = try readable(copySource(bucket), bucket).bytes
        let text = header("x-amz-copy-source-range") ?? ""
        let ends = text.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        guard text.hasPrefix("bytes="), ends.count == 2, ends[0] <= ends[1], ends[1] < bytes.count else {
            throw .invalidArgument(
                "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the "
                    + "zero-based offsets of the first and last bytes to copy", name: "x-amz-copy-source-range",
                value: text)
        }
        return Array(bytes[ends[0]...ends[1]])
    }

    private func copySource(_ bucket: StoredBucket) throws(S3Failure) -> ObjectName {
        let text = header("x-amz-copy-source") ?? ""
        let path = try S3Request.decode(text.hasPrefix("/") ? text.dropFirst() : text[...])
        guard path.starts(with: Array("\(bucket.name)/".utf8)), path.count > bucket.name.utf8.count + 1 else {
            throw .invalidArgument(
                "Copy Source must mention the source bucket and key: sourcebucket/sourcekey", name: "x-amz-copy-source",
                value: text)
        }
        return ObjectName(Array(path.dropFirst(bucket.name.utf8.count + 1)))
    }
}
