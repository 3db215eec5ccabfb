import SyncCore
import SyncDigest

extension S3Call {
    /// Answers 200 with white space at once and the result, or an error, after it: the status proves nothing.
    func completeMultipartUpload(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        let id = request.value("uploadId") ?? ""
        if let done = bucket.completed[id], done.key == key { return completion(bucket, etag: done.etag) }
        let upload = try upload(in: bucket)
        let parts = try chosenParts(of: upload)
        try checkWriteConditions(bucket)
        var object = upload.draft
        object.bytes = parts.flatMap(\.bytes)
        object.modified = now
        // The MD5 of the parts' MD5s, and their number.
        object.etag = "\(ContentDigest(of: parts.flatMap(\.digest.md5.bytes)).md5)-\(parts.count)"
        bucket.store(object, at: key)
        bucket.uploads[id] = nil
        bucket.completed[id] = CompletedUpload(key: key, etag: object.etag)
        return completion(bucket, etag: object.etag)
    }

    private func chosenParts(of upload: MultipartUpload) throws(S3Failure) -> [MultipartUpload.Part] {
        let rows = try XMLDocumentReader.read(body.bytes, root: "CompleteMultipartUpload").all("Part")
        guard !rows.isEmpty else { throw .malformedXML }
        var parts: [MultipartUpload.Part] = []
        var last = 0
        for row in rows {
            guard let number = Int(row.first("PartNumber")?.text ?? ""), let etag = row.first("ETag")?.text else {
                throw .malformedXML
            }
            guard number > last else {
                throw S3Failure(
                    400, "InvalidPartOrder",
                    "The list of parts was not in ascending order. Parts must be ordered by part number.")
            }
            last = number
            guard let part = upload.parts[number], etag == part.etag || etag == "\"\(part.etag)\"" else {
                throw S3Failure(
                    400, "InvalidPart",
                    "One or more of the specified parts could not be found. The part may not have been uploaded, or "
                        + "the specified entity tag may not match the part's entity tag.",
                    details: [("UploadId", upload.id), ("PartNumber", "\(number)"), ("ETag", etag)])
            }
            parts.append(part)
        }
        guard parts.dropLast().allSatisfy({ $0.bytes.count >= abilities.minimumPartBytes }) else {
            throw S3Failure(
                400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size",
                details: [("MinSizeAllowed", "\(abilities.minimumPartBytes)")])
        }
        return parts
    }

    private func completion(_ bucket: StoredBucket, etag: String) -> ServerReply {
        var reply = ServerReply(
            XMLElement(
                "CompleteMultipartUploadResult",
                [
                    XMLElement("Location", "http://127.0.0.1/\(bucket.name)/\(ListEncoding.url.text(key.text))"),
                    XMLElement("Bucket", bucket.name), XMLElement("Key", key.text), XMLElement("ETag", "\"\(etag)\""),
                ]))
        reply.splitAfterDeclaration()
        return reply
    }
}
