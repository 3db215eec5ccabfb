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
        if !response.isForeign {
            await client.learn { $0.capabilities.noteConditionalPut(status: response.status) }
        }
        switch response.status {
        case 412 where !response.isForeign: return .honoured
        case _ where response.tellsOfStored:
            // Whatever an earlier version of the server did is remembered no more.
            await client.learn { $0.capabilities.noteIgnoredCondition() }
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
        guard response.tellsOfStored else {
            guard PutFeatures.checksum.refused(by: response) != nil else { throw client.failure(response, context) }
            await client.learn { $0.capabilities.noteRefusal(of: .checksum, storageClass: .standard) }
            return .refused(Self.words(response))
        }
        let head = try await client.send(client.context("head", key)) { $0.head(key, checksum: true) }
        let isTold = ObjectReply(head).sha256 == body.digest.sha256
        let another = client.context("put", other)
        let wrong = try judgement(
            try await client.send(another) {
                var request = try $0.put(body, at: other, attributes: Self.attributes, features: always)
                request.headers["x-amz-checksum-sha256"] = Data(SHA256Digest(of: []).bytes).base64EncodedString()
                return request
            }, another)
        let isProven = isTold && wrong.status >= 400 && !wrong.isForeign
        await client.learn { knowledge in
            if !knowledge.capabilities.settled.contains(.checksum) { knowledge.capabilities.checksums = isProven }
        }
        return isProven ? .proven : .unproven
    }

    /// Reads a link without credentials, as whoever gets it does.
    package func fetch(_ link: StoreLink) async throws -> [UInt8] {
        let context = client.context("link", nil)
        guard let url = HTTPURL.parsing(link.url) else {
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

    /// - Parameter response: to a request with which something is wrong.
    /// - Returns: the same, where it tells what the server makes of that.
    /// - Throws: ``StoreError`` where there is no time or no room now, whatever is asked for.
    private func judgement(_ response: HTTPResponse, _ context: S3RequestContext) throws -> HTTPResponse {
        let failure = client.failure(response, context)
        let isOfGateway = [502, 504].contains(response.status)
        if isOfGateway || [.throttled, .timedOut, .noSpace].contains(failure.code) { throw failure }
        return response
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

extension S3Examiner {
    /// Begins an upload in parts, sends one, and takes it back: nothing is stored.
    /// - Throws: `.unsupported` when the server has no such uploads.
    package func uploadInParts(at key: ObjectKey) async throws {
        let context = client.context("put", key)
        let begun = try await client.send(context) {
            try $0.createUpload(at: key, attributes: Self.attributes, features: always)
        }
        guard begun.status == 200 else { throw client.failure(begun, context) }
        let upload = try begun.content(context) { try MultipartReply.created($0, key: key) }
        await client.memory?.note(upload)
        let part: HTTPResponse
        do {
            part = try await client.send(context) {
                $0.part(HTTPBody(Self.body("a part")), number: 1, of: upload)
            }
        } catch {
            _ = await client.abort(upload)
            throw error
        }
        let isGone = await client.abort(upload)
        guard part.status == 200, part.isAnswer else { throw client.failure(part, context) }
        guard isGone else {
            throw client.error(.serverFailed, context, "the parts of an upload that was begun cannot be taken back")
        }
    }
}

/// Whom and what the server believes.
extension S3Examiner {
    /// Which proofs of a put's bytes are looked at.
    package struct Integrity: Hashable, Sendable {
        /// A wrong `Content-MD5` is refused.
        package var checksMD5: Bool
        /// Bytes that are not those that were signed are refused.
        package var checksSignedBytes: Bool
        /// The answer to a put has the MD5 of what was stored.
        package var tellsMD5: Bool
    }

    package func integrity(at key: ObjectKey) async throws -> Integrity {
        let context = client.context("put", key)
        let body = Self.body("bytes that are signed")
        let wrongMD5 = try await client.send(context) {
            var request = try $0.put(body, at: key, attributes: Self.attributes, features: always)
            request.headers["Content-MD5"] = ContentDigest(of: []).md5.base64
            return request
        }
        let checksMD5 = try judgement(wrongMD5, context).status >= 400
        let altered = try await client.sendAltered(context) {
            var request = try $0.put(body, at: key, attributes: Self.attributes, features: always)
            request.headers["Content-MD5"] = nil
            return request
        } alter: {
            $0.body = HTTPBody(Self.body("bytes that were wrong"))
        }
        let checksSignedBytes = try judgement(altered, context).status >= 400
        let right = try await client.send(context) {
            try $0.put(body, at: key, attributes: Self.attributes, features: always)
        }
        guard right.tellsOfStored else { throw client.failure(right, context) }
        return Integrity(
            checksMD5: checksMD5, checksSignedBytes: checksSignedBytes,
            tellsMD5: ObjectReply(right).md5 == body.digest.md5)
    }

    /// Who else can read an object.
    package struct Access: Hashable, Sendable {
        /// Whoever asks.
        package var anyone: Bool
        /// Whoever knows the access key's name: the signature itself is not looked at.
        package var anySignature: Bool
    }

    /// - Parameter key: something is stored under it.
    package func access(to key: ObjectKey) async throws -> Access {
        let context = client.context("get", key)
        let unsigned = try await client.sendUnsigned(context) { $0.get(key, range: nil, checksum: false) }
        let anyone = try judgement(unsigned, context).status == 200
        let forged = try await client.sendAltered(context) {
            $0.get(key, range: nil, checksum: false)
        } alter: { request in
            // Of the same form, and hardly ever the right one.
            guard let signed = request.headers["Authorization"] else { return }
            request.headers["Authorization"] = signed.dropLast(64) + String(repeating: "0", count: 64)
        }
        return Access(anyone: anyone, anySignature: try judgement(forged, context).status == 200)
    }
}

extension S3Client {
    /// Sends one signed request, once, altered after it was signed, to see whether that is noticed.
    fileprivate func sendAltered(
        _ context: S3RequestContext, _ make: (S3Requests) throws -> HTTPRequest, alter: (inout HTTPRequest) -> Void
    ) async throws -> HTTPResponse {
        let knowledge = knowledge
        let credentials = try await self.credentials.current(for: context.operation)
        let signature = SignatureV4(credentials: credentials, region: knowledge.address.region)
        var request = signature.signed(
            try make(requests(knowledge.address)), at: now().addingTimeInterval(knowledge.clockOffset))
        alter(&request)
        return try await exchange(request, context)
    }
}
