import FoundationEssentials
package import SyncCore
import SyncSystem

/// The requests of the S3 API that the store makes, not signed yet.
///
/// Source: Amazon S3 API Reference; docs/design.md, section 5, for keys and metadata.
package struct S3Requests: Hashable, Sendable {
    static let payerHeader = "x-amz-request-payer"
    static let requester = "requester"
    static let listAttributesHeader = "x-amz-optional-object-attributes"

    package let address: S3Address
    /// Ends with `/`, or is empty.
    package let prefix: String
    package var encryption = S3Encryption.byBucket
    /// Of what is put.
    package var tags: [String: String] = [:]
    /// Whether the account that signs pays for requests and traffic, and not the bucket's owner (S3 User Guide, "Using
    /// Requester Pays general purpose buckets").
    package var requesterPays = false

    /// PutObject in one piece: plain bytes with their length, MD5 and (by the signature) SHA-256, never in chunks.
    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, features: PutFeatures
    ) throws(StoreError) -> HTTPRequest {
        var headers = try headers(of: attributes, at: key, features: features)
        headers["Content-MD5"] = body.digest.md5.base64
        if features.contains(.checksum) {
            headers["x-amz-checksum-sha256"] = Data(body.digest.sha256.bytes).base64EncodedString()
        }
        if features.contains(.condition) { headers["If-None-Match"] = "*" }
        return HTTPRequest(.put, url(key), headers: headers, body: HTTPBody(body))
    }

    /// What is stored beside the bytes. The standard class needs no header.
    func headers(
        of attributes: ObjectAttributes, at key: ObjectKey, features: PutFeatures
    ) throws(StoreError) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Content-Type": try Self.contentType(attributes.contentType, key: key)]
        if features.contains(.storageClass), attributes.storageClass != .standard {
            headers["x-amz-storage-class"] = attributes.storageClass.rawValue
        }
        if features.contains(.encryption) {
            for field in encryption.headers.fields { headers.append(field.name, field.value) }
        }
        if features.contains(.tags), !tags.isEmpty { headers["x-amz-tagging"] = Self.taggingHeader(of: tags) }
        try Self.append(attributes.metadata, of: key, to: &headers)
        return headers
    }

    static func append(
        _ metadata: [String: String], of key: ObjectKey, to headers: inout HTTPHeaders
    ) throws(StoreError) {
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
            guard S3Metadata.isName(name) else {
                throw invalid(key, "\"\(name.escapingControls)\" cannot be the name of user metadata")
            }
            headers.append(S3Metadata.headerPrefix + name, S3Metadata.encode(value))
        }
    }

    /// `album=holidays%202026&owner=ana`: a query, by the names (S3 User Guide, "Categorizing your objects using
    /// tags").
    static func taggingHeader(of tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "\($0.key.uriEncoded())=\($0.value.uriEncoded())" }
            .joined(separator: "&")
    }

    /// HeadBucket: its reply names the region, whatever its status.
    package func headBucket() -> HTTPRequest {
        HTTPRequest(.head, address.url())
    }

    /// HeadObject.
    /// - Parameter checksum: asks for the digest that the store computed.
    package func head(_ key: ObjectKey, checksum: Bool) -> HTTPRequest {
        var request = HTTPRequest(.head, url(key))
        if checksum { request.headers["x-amz-checksum-mode"] = "ENABLED" }
        return request
    }

    /// GetObject, whole or a part.
    /// - Parameters:
    ///   - range: not empty.
    ///   - checksum: asks for the digest that the store computed; there is none of a part.
    package func get(_ key: ObjectKey, range: Range<Int64>?, checksum: Bool) -> HTTPRequest {
        var request = HTTPRequest(.get, url(key))
        if checksum, range == nil { request.headers["x-amz-checksum-mode"] = "ENABLED" }
        if let range { request.headers["Range"] = "bytes=\(range.lowerBound)-\(range.upperBound - 1)" }
        return request
    }

    /// ListObjectsV2. Keys come back form-encoded: XML 1.0 cannot carry every one.
    /// - Parameter restores: asks for the restore of each object, too.
    package func list(prefix: String, after token: PageToken?, limit: Int, restores: Bool = false) -> HTTPRequest {
        var query = [
            HTTPQueryItem("list-type", "2"), HTTPQueryItem("encoding-type", "url"),
            HTTPQueryItem("max-keys", "\(min(max(limit, 1), 1_000))"),
        ]
        let prefix = self.prefix + prefix
        if !prefix.isEmpty { query.append(HTTPQueryItem("prefix", prefix)) }
        if let token { query.append(HTTPQueryItem("continuation-token", token.rawValue)) }
        var request = HTTPRequest(.get, address.url(query: query))
        if restores { request.headers[Self.listAttributesHeader] = "RestoreStatus" }
        return request
    }

    /// DeleteObject.
    package func delete(_ key: ObjectKey) -> HTTPRequest {
        HTTPRequest(.delete, url(key))
    }

    func url(_ key: ObjectKey, query: [HTTPQueryItem] = []) -> HTTPURL {
        address.url(key: prefix + key.rawValue, query: query)
    }

    private static func contentType(_ text: String, key: ObjectKey) throws(StoreError) -> String {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), text.contains("/") else {
            throw invalid(key, "\"\(text.escapingControls)\" is no content type")
        }
        return text
    }

    private static func invalid(_ key: ObjectKey, _ message: String) -> StoreError {
        StoreError(.invalidRequest, operation: "put", key: key.rawValue, message: message)
    }
}

extension MD5Digest {
    /// As `Content-MD5` has it (RFC 1864).
    var base64: String { Data(bytes).base64EncodedString() }
}

/// Requests whose body is an XML document. All of them carry its MD5: S3 demands it of most, and every store knows it.
///
/// Source: Amazon S3 API Reference, CreateBucket, PutPublicAccessBlock, DeleteObjects, RestoreObject,
/// PutBucketLifecycleConfiguration.
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

    /// CreateBucket. At Amazon each region but us-east-1 is named in it; elsewhere a name would only be guessed.
    package func createBucket() -> HTTPRequest {
        guard address.isAmazon, address.region != "us-east-1" else {
            return HTTPRequest(.put, address.url(), body: HTTPBody(bytes: []))
        }
        return sending(
            .put,
            "<CreateBucketConfiguration xmlns=\"\(Self.namespace)\"><LocationConstraint>\(address.region.xmlEscaped)"
                + "</LocationConstraint></CreateBucketConfiguration>", to: address.url())
    }

    /// Each of these keeps others out (S3 API, "PublicAccessBlockConfiguration").
    static let publicAccessBlocks = ["IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"]

    /// PutPublicAccessBlock, of all that there is. Elsewhere than at Amazon public ACLs are ignored, and may be set: where they
    /// may not, Ceph 16 refuses each put, also one that sets none.
    package func blockPublicAccess() -> HTTPRequest {
        let blocks = Self.publicAccessBlocks + (address.isAmazon ? ["BlockPublicAcls"] : [])
        return sending(
            .put,
            "<PublicAccessBlockConfiguration xmlns=\"\(Self.namespace)\">"
                + blocks.map { "<\($0)>true</\($0)>" }.joined() + "</PublicAccessBlockConfiguration>",
            to: address.url(query: [HTTPQueryItem("publicAccessBlock")]))
    }

    /// GetObjectTagging.
    func tagging(of key: ObjectKey) -> HTTPRequest {
        HTTPRequest(.get, url(key, query: [HTTPQueryItem("tagging")]))
    }

    /// PutObjectTagging, of those of the configuration.
    func setTagging(of key: ObjectKey) -> HTTPRequest {
        let tags = tags.sorted { $0.key < $1.key }.map {
            "<Tag><Key>\($0.key.xmlEscaped)</Key><Value>\($0.value.xmlEscaped)</Value></Tag>"
        }
        return sending(
            .put, "<Tagging xmlns=\"\(Self.namespace)\"><TagSet>\(tags.joined())</TagSet></Tagging>",
            to: url(key, query: [HTTPQueryItem("tagging")]))
    }

    /// GetPublicAccessBlock.
    package func publicAccessBlock() -> HTTPRequest {
        HTTPRequest(.get, address.url(query: [HTTPQueryItem("publicAccessBlock")]))
    }

    /// ListObjectsV2 of one object of the bucket, whether it is below the prefix or not.
    package func listAnything() -> HTTPRequest {
        HTTPRequest(.get, address.url(query: [HTTPQueryItem("list-type", "2"), HTTPQueryItem("max-keys", "1")]))
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

/// Source: Amazon S3 API Reference, CreateMultipartUpload and its companions.
extension S3Requests {
    /// How long a store may be at work without a word: it puts parts together, or moves 5 GiB of a copy.
    static let workPatience = Duration.seconds(300)
    /// How long tidying up may hold up the end of the program, however often it is tried.
    static let abortPatience = Duration.seconds(10)
    /// The same once the work was cancelled: whoever waits for its end may wait for that of the program, as with a disk.
    static let patienceAtEnd = SignOfLife.patienceAtEnd

    /// CreateMultipartUpload. It is not cancelled on its way at once: nobody would know the name of what it began.
    package func createUpload(
        at key: ObjectKey, attributes: ObjectAttributes, features: PutFeatures
    ) throws(StoreError) -> HTTPRequest {
        let headers = try headers(of: attributes, at: key, features: features)
        var request = HTTPRequest(
            .post, url(key, query: [HTTPQueryItem("uploads")]), headers: headers, body: HTTPBody(bytes: []))
        request.isCancellable = false
        request.patienceAtEnd = Self.patienceAtEnd
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
    /// - Parameters:
    ///   - tags: the ETag of each part, in their order, as the store wrote it.
    ///   - tag: that of the object that it may replace, as it is written.
    package func complete(
        _ upload: MultipartID, tags: [String], features: PutFeatures, matching tag: String? = nil
    ) -> HTTPRequest {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(tag.xmlEscaped)</ETag></Part>"
        }
        let document =
            "<CompleteMultipartUpload xmlns=\"\(Self.namespace)\">\(parts.joined())"
            + "</CompleteMultipartUpload>"
        var headers: HTTPHeaders = ["Content-Type": "application/xml"]
        if features.contains(.condition) { headers["If-None-Match"] = "*" }
        headers["If-Match"] = tag
        var request = HTTPRequest(
            .post, url(upload.key, query: [HTTPQueryItem("uploadId", upload.rawValue)]), headers: headers,
            body: HTTPBody(bytes: Array(document.utf8)))
        request.patience = Self.workPatience
        return request
    }

    /// AbortMultipartUpload. It has to happen when the task was cancelled, too.
    /// - Parameter limit: how long it may take, however much comes: nothing else ends it.
    package func abort(_ upload: MultipartID, within limit: Duration) -> HTTPRequest {
        var request = HTTPRequest(.delete, url(upload.key, query: [HTTPQueryItem("uploadId", upload.rawValue)]))
        request.limit = limit
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
