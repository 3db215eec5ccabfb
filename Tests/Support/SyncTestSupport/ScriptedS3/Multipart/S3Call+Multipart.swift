import SyncCore
import SyncDigest

extension S3Call {
    private static let partNumbers = 1...10_000

    func createMultipartUpload(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        try checkKeyLength()
        let draft = StoredObject(
            bytes: [], etag: "", modified: now,
            storageClass: try ObjectAttributeHeaders.storageClass(request.head, abilities),
            metadata: try ObjectAttributeHeaders.metadata(request.head),
            systemHeaders: ObjectAttributeHeaders.system(request.head),
            encryption: try ObjectAttributeHeaders.encryption(request.head), checksums: [:], generation: 1)
        let id = "upload-\(requestID)"
        bucket.uploads[id] = MultipartUpload(id: id, key: key, initiated: now, draft: draft)
        return ServerReply(
            XMLElement(
                "InitiateMultipartUploadResult",
                [XMLElement("Bucket", bucket.name), XMLElement("Key", key.text), XMLElement("UploadId", id)]))
    }

    func uploadPart(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        let part = MultipartUpload.Part(bytes: body.bytes, digest: body.digest, modified: now)
        try add(part, to: &bucket)
        let checksums = body.checksums.sorted { $0.key < $1.key }.map {
            (name: RequestBody.checksumPrefix + $0.key, value: $0.value)
        }
        return ServerReply(status: 200, headers: [("ETag", "\"\(part.etag)\"")] + checksums)
    }

    func uploadPartCopy(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        let bytes = try copiedRange(bucket)
        let part = MultipartUpload.Part(bytes: bytes, digest: ContentDigest(of: bytes), modified: now)
        try add(part, to: &bucket)
        return ServerReply(
            XMLElement(
                "CopyPartResult",
                [XMLElement("LastModified", ServerDate.xml(now)), XMLElement("ETag", "\"\(part.etag)\"")]))
    }

    private func add(_ part: MultipartUpload.Part, to bucket: inout StoredBucket) throws(S3Failure) {
        var upload = try upload(in: bucket)
        let text = request.value("partNumber") ?? ""
        guard let number = Int(text), Self.partNumbers.contains(number) else {
            throw .invalidArgument(
                "Part number must be an integer between 1 and 10000, inclusive", name: "partNumber", value: text)
        }
        upload.parts[number] = part
        bucket.uploads[upload.id] = upload
    }

    func abortMultipartUpload(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        bucket.uploads[try upload(in: bucket).id] = nil
        return ServerReply(status: 204)
    }

    func listMultipartUploads(_ bucket: StoredBucket) -> ServerReply {
        let prefix = Array((request.value("prefix") ?? "").utf8)
        let rows = bucket.uploads.values.filter { $0.key.hasPrefix(prefix) }
            .sorted { ($0.key, $0.initiated) < ($1.key, $1.initiated) }
            .map { upload in
                XMLElement(
                    "Upload",
                    [
                        XMLElement("Key", upload.key.text), XMLElement("UploadId", upload.id),
                        XMLElement("StorageClass", upload.draft.storageClass.rawValue),
                        XMLElement("Initiated", ServerDate.xml(upload.initiated)),
                    ])
            }
        return ServerReply(
            XMLElement(
                "ListMultipartUploadsResult",
                [XMLElement("Bucket", bucket.name), XMLElement("IsTruncated", "false")] + rows))
    }

    func listParts(_ bucket: StoredBucket) throws(S3Failure) -> ServerReply {
        let upload = try upload(in: bucket)
        let rows = upload.parts.sorted { $0.key < $1.key }.map { number, part in
            XMLElement(
                "Part",
                [
                    XMLElement("PartNumber", "\(number)"), XMLElement("LastModified", ServerDate.xml(part.modified)),
                    XMLElement("ETag", "\"\(part.etag)\""), XMLElement("Size", "\(part.bytes.count)"),
                ])
        }
        return ServerReply(
            XMLElement(
                "ListPartsResult",
                [
                    XMLElement("Bucket", bucket.name), XMLElement("Key", key.text), XMLElement("UploadId", upload.id),
                    XMLElement("IsTruncated", "false"),
                ] + rows))
    }

    func upload(in bucket: StoredBucket) throws(S3Failure) -> MultipartUpload {
        let id = request.value("uploadId") ?? ""
        guard let upload = bucket.uploads[id], upload.key == key else {
            throw S3Failure(
                404, "NoSuchUpload",
                "The specified upload does not exist. The upload ID may be invalid, or the upload may have been "
                    + "aborted or completed.",
                details: [("UploadId", id)])
        }
        return upload
    }
}
