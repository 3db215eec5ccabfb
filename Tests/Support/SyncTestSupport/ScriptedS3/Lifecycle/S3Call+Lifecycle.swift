extension S3Call {
    private static let minimumSizeHeader = "x-amz-transition-default-minimum-object-size"

    func getLifecycle(_ bucket: StoredBucket) throws(S3Failure) -> ServerReply {
        guard let document = bucket.lifecycle else {
            throw S3Failure(
                404, "NoSuchLifecycleConfiguration", "The lifecycle configuration does not exist",
                details: [("BucketName", bucket.name)])
        }
        return ServerReply(
            status: 200, headers: [("Content-Type", ServerReply.document)] + minimumSize(of: bucket), body: document)
    }

    /// Replaces all rules. The document is kept as it came, with what the server does not know in it: a client that
    /// writes back what it read must not lose a word.
    func putLifecycle(_ bucket: inout StoredBucket) throws(S3Failure) -> ServerReply {
        guard RequestBody.isProtected(request.head) else { throw .missingContentMD5 }
        let root = try XMLDocumentReader.read(body.bytes, root: "LifecycleConfiguration")
        try LifecycleRules.check(root.all("Rule"))
        bucket.lifecycle = body.bytes
        bucket.lifecycleMinimumSize = header(Self.minimumSizeHeader)
        return ServerReply(status: 200, headers: minimumSize(of: bucket))
    }

    func deleteLifecycle(_ bucket: inout StoredBucket) -> ServerReply {
        bucket.lifecycle = nil
        bucket.lifecycleMinimumSize = nil
        return ServerReply(status: 204)
    }

    private func minimumSize(of bucket: StoredBucket) -> [(name: String, value: String)] {
        [(Self.minimumSizeHeader, bucket.lifecycleMinimumSize ?? "all_storage_classes_128K")]
    }
}
