import FoundationEssentials
package import SyncCore

/// Requests whose body is an XML document. All of them carry its MD5: S3 demands it of most, and every store knows it.
///
/// Source: Amazon S3 API Reference, DeleteObjects, RestoreObject, PutBucketLifecycleConfiguration.
extension S3Requests {
    static let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    static let minimumSizeHeader = "x-amz-transition-default-minimum-object-size"

    /// DeleteObjects, whose reply tells only what failed.
    /// - Parameter keys: at most 1,000.
    package func delete(_ keys: [ObjectKey]) -> HTTPRequest {
        let objects = keys.map { "<Object><Key>\((prefix + $0.rawValue).xmlEscaped)</Key></Object>" }.joined()
        return sending(
            .post, "<Delete xmlns=\"\(Self.namespace)\"><Quiet>true</Quiet>\(objects)</Delete>",
            to: address.url(query: [HTTPQueryItem("delete")]))
    }

    /// RestoreObject.
    /// - Parameter namesTier: without it the store takes its own.
    package func restore(_ key: ObjectKey, _ request: RestoreRequest, namesTier: Bool) -> HTTPRequest {
        let days = request.days.map { "<Days>\($0)</Days>" } ?? ""
        let tier = "<GlacierJobParameters><Tier>\(request.tier.wireName)</Tier></GlacierJobParameters>"
        return sending(
            .post, "<RestoreRequest xmlns=\"\(Self.namespace)\">\(days)\(namesTier ? tier : "")</RestoreRequest>",
            to: url(key, query: [HTTPQueryItem("restore")]))
    }

    /// GetBucketLifecycleConfiguration.
    package func lifecycle() -> HTTPRequest {
        HTTPRequest(.get, address.url(query: [HTTPQueryItem("lifecycle")]))
    }

    /// PutBucketLifecycleConfiguration, which replaces the whole document.
    /// - Parameter minimumSize: what the reply to ``lifecycle()`` said of it.
    package func setLifecycle(_ document: String, minimumSize: String?) -> HTTPRequest {
        var request = sending(.put, document, to: address.url(query: [HTTPQueryItem("lifecycle")]))
        request.headers[Self.minimumSizeHeader] = minimumSize
        return request
    }

    private func sending(_ method: HTTPRequest.Method, _ document: String, to url: HTTPURL) -> HTTPRequest {
        let body = HTTPBody(bytes: Array(document.utf8))
        return HTTPRequest(
            method, url, headers: ["Content-Type": "application/xml", "Content-MD5": body.digest.md5.base64], body: body
        )
    }
}

extension RestoreTier {
    /// As RestoreObject writes it.
    fileprivate var wireName: String {
        switch self {
        case .bulk: "Bulk"
        case .standard: "Standard"
        case .expedited: "Expedited"
        }
    }
}
