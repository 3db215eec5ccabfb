package import SyncCore

/// Source: Amazon S3 API Reference, CopyObject.
extension S3Requests {
    /// What is stored beside the bytes of an object, as headers: a copy that replaces them names them all.
    private static let kept = [
        "Content-Type", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Expires",
    ]

    /// CopyObject within the bucket, with type and metadata.
    /// - Parameters:
    ///   - original: the headers of the source, to be named one by one. SeaweedFS takes a copy onto itself only so. `nil`
    ///     to leave them to the store.
    ///   - storageClass: always sent: without it S3 takes STANDARD, and refuses a copy onto itself.
    ///   - isConditional: only where nothing is stored under `key`.
    package func copy(
        _ source: ObjectKey, to key: ObjectKey, storageClass: StorageClass, naming original: HTTPHeaders? = nil,
        isConditional: Bool
    ) -> HTTPRequest {
        var request = HTTPRequest(
            .put, url(key),
            headers: [
                "x-amz-copy-source": address.copySource(key: prefix + source.rawValue),
                "x-amz-metadata-directive": original == nil ? "COPY" : "REPLACE",
                "x-amz-storage-class": storageClass.rawValue,
            ],
            body: HTTPBody(bytes: []))
        for field in original?.fields ?? [] where Self.isKept(field.name) {
            request.headers.append(field.name, field.value)
        }
        for field in encryption.headers.fields { request.headers.append(field.name, field.value) }
        if isConditional { request.headers["If-None-Match"] = "*" }
        request.patience = Self.workPatience
        return request
    }

    static func isKept(_ name: String) -> Bool {
        name.lowercased().hasPrefix(S3Metadata.headerPrefix) || isSystem(name)
    }

    private static func isSystem(_ name: String) -> Bool { kept.contains { $0.lowercased() == name.lowercased() } }

    /// What is stored beside the bytes of a copy that has user metadata of its own.
    /// - Parameter original: the headers of the source.
    static func naming(
        _ metadata: [String: String], of key: ObjectKey, beside original: HTTPHeaders
    ) throws(StoreError) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        for field in original.fields where isSystem(field.name) { headers.append(field.name, field.value) }
        try append(metadata, of: key, to: &headers)
        return headers
    }
}
