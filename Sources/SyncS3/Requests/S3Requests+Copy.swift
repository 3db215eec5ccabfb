package import SyncCore

/// Source: Amazon S3 API Reference, CopyObject.
extension S3Requests {
    /// How long a store may think about a copy without a word: 5 GiB are moved in it.
    private static let copyPatience = Duration.seconds(300)

    /// CopyObject within the bucket, with type and metadata.
    /// - Parameters:
    ///   - storageClass: always sent: without it S3 takes STANDARD, and refuses a copy onto itself.
    ///   - isConditional: only where nothing is stored under `key`.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, isConditional: Bool
    ) -> HTTPRequest {
        var request = HTTPRequest(
            .put, url(key),
            headers: [
                "x-amz-copy-source": "\(address.bucket)/\((prefix + source.rawValue).uriEncoded(keepingSlashes: true))",
                "x-amz-metadata-directive": "COPY",
                "x-amz-storage-class": storageClass.rawValue,
            ],
            body: HTTPBody(bytes: []))
        for field in encryption.headers.fields { request.headers.append(field.name, field.value) }
        if isConditional { request.headers["If-None-Match"] = "*" }
        request.patience = Self.copyPatience
        return request
    }
}
