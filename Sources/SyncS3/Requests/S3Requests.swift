import FoundationEssentials
package import SyncCore

/// The requests of the S3 API that the store makes, not signed yet.
///
/// Source: Amazon S3 API Reference; docs/design.md, section 5, for keys and metadata.
package struct S3Requests: Hashable, Sendable {
    static let listAttributesHeader = "x-amz-optional-object-attributes"

    package let address: S3Address
    /// Ends with `/`, or is empty.
    package let prefix: String
    package let encryption: S3Encryption

    package init(address: S3Address, prefix: String, encryption: S3Encryption = .byBucket) {
        self.address = address
        self.prefix = prefix
        self.encryption = encryption
    }

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
        for (name, value) in attributes.metadata.sorted(by: { $0.key < $1.key }) {
            guard S3Metadata.isName(name) else {
                throw Self.invalid(key, "\"\(name.escapingControls)\" cannot be the name of user metadata")
            }
            headers.append(S3Metadata.headerPrefix + name, S3Metadata.encode(value))
        }
        return headers
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
