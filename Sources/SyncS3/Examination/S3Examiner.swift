import FoundationEssentials
package import SyncCore
import SyncDigest

/// Tries what is decided below the port: what a server makes of headers, digests and signatures. What is learned counts
/// for the store from then on, and is remembered.
///
/// All functions throw ``StoreError`` or `CancellationError`.
package struct S3Examiner: Sendable {
    let client: S3Client

    package init(_ store: S3Store) {
        client = store.client
    }

    /// What becomes of a put with `If-None-Match: *` where something is stored.
    package enum Condition: Hashable, Sendable {
        /// 412.
        case honoured
        /// The header is not looked at; the object was replaced.
        case ignored
        /// The put is refused because of the header; the status and S3's code.
        case refused(String)
    }

    /// - Parameter key: something is stored under it, and may be replaced.
    package func condition(over key: ObjectKey) async throws -> Condition {
        let context = client.context("put", key)
        let response = try await client.send(context) {
            try $0.put(
                Self.body("a second object"), at: key, attributes: Self.attributes, features: always.union(.condition))
        }
        await client.learn { $0.capabilities.noteConditionalPut(status: response.status) }
        switch response.status {
        case 412: return .honoured
        case 200:
            // What an earlier version of the server did may be remembered.
            await client.learn { $0.capabilities.forgetConditionalPut() }
            return .ignored
        default:
            guard PutFeatures.condition.refused(by: response) != nil else { throw client.failure(response, context) }
            await client.learn { $0.capabilities.noteRefusal(of: .condition, storageClass: .standard) }
            return .refused(Self.words(response))
        }
    }

    /// What becomes of `x-amz-checksum-sha256`.
    package enum Checksum: Hashable, Sendable {
        /// A wrong one is refused, the right one told afterwards.
        case proven
        /// Taken, and not checked or not told.
        case unproven
        case refused(String)
    }

    /// - Parameters: keys of the examiner's own.
    package func checksum(at key: ObjectKey, wrongAt other: ObjectKey) async throws -> Checksum {
        let context = client.context("put", key)
        let body = Self.body("checked")
        let response = try await client.send(context) {
            try $0.put(body, at: key, attributes: Self.attributes, features: always.union(.checksum))
        }
        guard response.status == 200 else {
            guard PutFeatures.checksum.refused(by: response) != nil else { throw client.failure(response, context) }
            await client.learn { $0.capabilities.noteRefusal(of: .checksum, storageClass: .standard) }
            return .refused(Self.words(response))
        }
        let head = try await client.send(client.context("head", key)) { $0.head(key, checksum: true) }
        let isTold = ObjectReply(head).sha256 == body.digest.sha256
        let wrong = try await client.send(client.context("put", other)) {
            var request = try $0.put(body, at: other, attributes: Self.attributes, features: always)
            request.headers["x-amz-checksum-sha256"] = Data(SHA256Digest(of: []).bytes).base64EncodedString()
            return request
        }
        let isProven = isTold && wrong.status >= 400
        await client.learn { $0.capabilities.noteChecksums(areProven: isProven) }
        return isProven ? .proven : .unproven
    }

    /// Reads a link without credentials, as whoever gets it does.
    package func fetch(_ link: StoreLink) async throws -> [UInt8] {
        let context = client.context("link", nil)
        guard let url = HTTPURL(link.url) else {
            throw client.error(.invalidResponse, context, "the link is no URL")
        }
        let response = try await client.sendUnsigned(context) { _ in HTTPRequest(.get, url) }
        guard response.status == 200 else { throw client.failure(response, context) }
        return response.body
    }

    /// Puts what was found in place of all that earlier runs remember of the server.
    /// - Parameter classes: those in which objects were stored and seen.
    package func remember(_ classes: [StorageClass]) async {
        await client.rememberAll { knowledge in
            knowledge.capabilities.takenClasses.formUnion(classes)
            knowledge.capabilities.refusedClasses.subtract(classes)
        }
    }

    // MARK: Parts of requests

    /// Without it nothing may be stored.
    var always: PutFeatures { client.knowledge.capabilities.demanded.intersection(.encryption) }

    /// An object that may be stored to be looked at.
    package static let sample = body("an object of sync-agent doctor")
    package static let attributes = ObjectAttributes(contentType: "text/plain")

    static func body(_ text: String) -> ObjectBody {
        let bytes = Array(text.utf8)
        return ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes))
    }

    /// `501 NotImplemented`
    static func words(_ response: HTTPResponse) -> String {
        ["\(response.status)", ErrorReply(response).code?.escapingControls].compactMap(\.self).joined(separator: " ")
    }
}

extension HTTPURL {
    /// An absolute URL, with its path as it is.
    fileprivate init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.percentEncodedHost
        else { return nil }
        let items = (parts.percentEncodedQuery ?? "").split(separator: "&").map { item in
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return HTTPQueryItem(
                halves[0].percentDecoded(plusIsSpace: false) ?? halves[0],
                halves.count == 1 ? "" : halves[1].percentDecoded(plusIsSpace: false) ?? halves[1])
        }
        self.init(scheme: scheme, host: host, port: parts.port, path: parts.percentEncodedPath, query: items)
    }
}

extension S3Capabilities {
    /// It was seen to replace what is there in spite of the condition.
    fileprivate mutating func forgetConditionalPut() {
        if !settled.contains(.condition), conditionalPut == .honoured { conditionalPut = .unproven }
    }

    fileprivate mutating func noteChecksums(areProven: Bool) {
        if !settled.contains(.checksum) { checksums = areProven }
    }
}
