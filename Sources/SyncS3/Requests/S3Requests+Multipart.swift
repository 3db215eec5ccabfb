import FoundationEssentials
package import SyncCore

/// Source: Amazon S3 API Reference, CreateMultipartUpload and its companions.
extension S3Requests {
    /// How long a store may think about an upload's parts without a word.
    private static let completionPatience = Duration.seconds(300)
    /// How long tidying up may hold up the end of the program.
    private static let abortPatience = Duration.seconds(10)

    /// CreateMultipartUpload. It is not cancelled on its way: nobody would know the name of what it began.
    package func createUpload(
        at key: ObjectKey, attributes: ObjectAttributes, features: PutFeatures
    ) throws(StoreError) -> HTTPRequest {
        let headers = try headers(of: attributes, at: key, features: features)
        var request = HTTPRequest(
            .post, url(key, query: [HTTPQueryItem("uploads")]), headers: headers, body: HTTPBody(bytes: []))
        request.isCancellable = false
        return request
    }

    /// UploadPart.
    /// - Parameter number: from 1.
    package func part(_ body: HTTPBody, number: Int, of upload: MultipartID) -> HTTPRequest {
        HTTPRequest(
            .put,
            url(
                upload.key,
                query: [HTTPQueryItem("partNumber", "\(number)"), HTTPQueryItem("uploadId", upload.rawValue)]),
            headers: ["Content-MD5": body.digest.md5.base64], body: body)
    }

    /// CompleteMultipartUpload.
    /// - Parameter tags: the ETag of each part, in their order, as the store wrote it.
    package func complete(_ upload: MultipartID, tags: [String], features: PutFeatures) -> HTTPRequest {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag.xmlEscaped)</ETag></Part>"
        }
        let document =
            "<CompleteMultipartUpload xmlns=\"\(Self.namespace)\">\(parts.joined())"
            + "</CompleteMultipartUpload>"
        var headers: HTTPHeaders = ["Content-Type": "application/xml"]
        if features.contains(.condition) { headers["If-None-Match"] = "*" }
        var request = HTTPRequest(
            .post, url(upload.key, query: [HTTPQueryItem("uploadId", upload.rawValue)]), headers: headers,
            body: HTTPBody(bytes: Array(document.utf8)))
        request.patience = Self.completionPatience
        return request
    }

    /// AbortMultipartUpload. It has to happen when the task was cancelled, too.
    package func abort(_ upload: MultipartID) -> HTTPRequest {
        var request = HTTPRequest(.delete, url(upload.key, query: [HTTPQueryItem("uploadId", upload.rawValue)]))
        request.patience = Self.abortPatience
        request.isCancellable = false
        return request
    }

    /// ListMultipartUploads, one page of them.
    package func listUploads(prefix: String) -> HTTPRequest {
        HTTPRequest(
            .get,
            address.url(query: [
                HTTPQueryItem("uploads"), HTTPQueryItem("encoding-type", "url"),
                HTTPQueryItem("prefix", self.prefix + prefix),
            ]))
    }
}
