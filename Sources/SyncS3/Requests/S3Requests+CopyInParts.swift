package import SyncCore

/// A copy in parts: an upload whose parts are those of an object that is stored already. S3 copies their bytes alone.
///
/// Source: Amazon S3 API Reference, CreateMultipartUpload, UploadPartCopy, HeadObject.
extension S3Requests {
    /// CreateMultipartUpload, with what is stored beside the bytes of the source. It is not cancelled on its way at
    /// once: nobody would know the name of what it began.
    /// - Parameters:
    ///   - original: the headers of the source.
    ///   - tags: those of the source.
    package func createCopy(
        to key: ObjectKey, storageClass: StorageClass, naming original: HTTPHeaders, tags: [String: String]
    ) -> HTTPRequest {
        var headers: HTTPHeaders = ["x-amz-storage-class": storageClass.rawValue]
        for field in original.fields where Self.isKept(field.name) { headers.append(field.name, field.value) }
        for field in encryption.headers.fields { headers.append(field.name, field.value) }
        if !tags.isEmpty { headers["x-amz-tagging"] = Self.taggingHeader(of: tags) }
        var request = HTTPRequest(
            .post, url(key, query: [HTTPQueryItem("uploads")]), headers: headers, body: HTTPBody(bytes: []))
        request.isCancellable = false
        request.patienceAtEnd = Self.patienceAtEnd
        return request
    }

    /// UploadPartCopy.
    /// - Parameters:
    ///   - tag: the ETag of the source, as it is written: another object is not copied. `nil` where it has none.
    ///   - number: from 1.
    package func copyPart(
        _ range: Range<Int64>, of source: ObjectKey, matching tag: String?, number: Int, into upload: MultipartID
    ) -> HTTPRequest {
        var request = HTTPRequest(
            .put,
            url(
                upload.key,
                query: [HTTPQueryItem("partNumber", "\(number)"), HTTPQueryItem("uploadId", upload.rawValue)]),
            headers: [
                "x-amz-copy-source": address.copySource(key: prefix + source.rawValue),
                "x-amz-copy-source-range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)",
            ],
            body: HTTPBody(bytes: []))
        request.headers["x-amz-copy-source-if-match"] = tag
        request.patience = Self.workPatience
        return request
    }

    /// HeadObject of one part of an object that went up in parts: how large that is.
    /// - Parameter number: from 1.
    package func headPart(_ number: Int, of key: ObjectKey) -> HTTPRequest {
        HTTPRequest(.head, url(key, query: [HTTPQueryItem("partNumber", "\(number)")]))
    }
}
