import FoundationEssentials
package import SyncCore
import SyncDigest

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
        let altered = try await client.sendAltered(context) {
            var request = try $0.put(body, at: key, attributes: Self.attributes, features: always)
            request.headers["Content-MD5"] = nil
            return request
        } alter: {
            $0.body = HTTPBody(Self.body("bytes that were wrong"))
        }
        let right = try await client.send(context) {
            try $0.put(body, at: key, attributes: Self.attributes, features: always)
        }
        guard right.status == 200 else { throw client.failure(right, context) }
        return Integrity(
            checksMD5: wrongMD5.status >= 400, checksSignedBytes: altered.status >= 400,
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
        let forged = try await client.sendAltered(context) {
            $0.get(key, range: nil, checksum: false)
        } alter: { request in
            // Of the same form, and hardly ever the right one.
            guard let signed = request.headers["Authorization"] else { return }
            request.headers["Authorization"] = signed.dropLast(64) + String(repeating: "0", count: 64)
        }
        return Access(anyone: unsigned.status == 200, anySignature: forged.status == 200)
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
        do {
            return try await transport.send(request, target: .memory(limit: HTTPResponseTarget.errorLimit))
        } catch let error as TransportError {
            throw StoreError(error, in: context)
        }
    }
}
