package import FoundationEssentials
import SyncCore
import SyncDigest

/// AWS Signature Version 4 for S3 ("Authenticating Requests", Amazon S3 API Reference). Pure: the date is an argument.
package struct SignatureV4: Sendable {
    /// The longest life of a presigned URL: seven days.
    package static let maximumExpiry = 604_800
    private static let algorithm = "AWS4-HMAC-SHA256"

    package let credentials: AWSCredentials
    package let region: String
    package let service: String

    package init(credentials: AWSCredentials, region: String, service: String = "s3") {
        self.credentials = credentials
        self.region = region
        self.service = service
    }

    /// The request with `Host`, `x-amz-date`, `x-amz-content-sha256`, the session token and `Authorization`.
    ///
    /// All its other headers are signed, so none may be altered afterwards. To be called when the request is about to be
    /// sent: a store takes a signature for 15 minutes.
    package func signed(_ request: HTTPRequest, at date: Date) -> HTTPRequest {
        let time = SigningTime(date)
        let payload = request.body.map { CanonicalRequest.Payload.sha256($0.digest.sha256.description) } ?? .empty
        var signed = request
        signed.headers["Host"] = request.url.authority
        signed.headers["x-amz-date"] = time.timestamp
        signed.headers["x-amz-content-sha256"] = payload.text
        signed.headers["x-amz-security-token"] = credentials.sessionToken
        let canonical = CanonicalRequest(
            method: request.method.rawValue, path: request.url.path, query: request.url.query,
            headers: signed.headers, payload: payload)
        signed.headers["Authorization"] =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(at: time)), "
            + "SignedHeaders=\(canonical.signedHeaders), Signature=\(signature(of: canonical, at: time))"
        return signed
    }

    /// A URL that lets whoever has it make this one request until it expires.
    /// - Parameter seconds: its life, 1 to ``maximumExpiry``; less when the session token ends before.
    package func presigned(_ request: HTTPRequest, expiresAfter seconds: Int, at date: Date) -> HTTPURL {
        precondition((1...Self.maximumExpiry).contains(seconds), "a presigned URL lives 1 to 604,800 seconds")
        let time = SigningTime(date)
        var headers = request.headers
        headers["Host"] = request.url.authority
        let names = CanonicalRequest(method: "", path: "", query: [], headers: headers, payload: .unsigned)
            .signedHeaders
        var url = request.url
        url.query += [
            HTTPQueryItem("X-Amz-Algorithm", Self.algorithm),
            HTTPQueryItem("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(at: time))"),
            HTTPQueryItem("X-Amz-Date", time.timestamp),
            HTTPQueryItem("X-Amz-Expires", "\(seconds)"),
            HTTPQueryItem("X-Amz-SignedHeaders", names),
        ]
        if let token = credentials.sessionToken {
            url.query.append(HTTPQueryItem("X-Amz-Security-Token", token))
        }
        let canonical = CanonicalRequest(
            method: request.method.rawValue, path: url.path, query: url.query, headers: headers, payload: .unsigned)
        url.query.append(HTTPQueryItem("X-Amz-Signature", signature(of: canonical, at: time)))
        return url
    }

    /// 64 hexadecimal digits.
    package func signature(of request: CanonicalRequest, at time: SigningTime) -> String {
        HMACSHA256.code(of: stringToSign(for: request, at: time), key: signingKey(at: time)).hexadecimal
    }

    package func stringToSign(for request: CanonicalRequest, at time: SigningTime) -> String {
        [Self.algorithm, time.timestamp, scope(at: time), SHA256Digest(of: request.text.utf8).description]
            .joined(separator: "\n")
    }

    private func scope(at time: SigningTime) -> String {
        "\(time.day)/\(region)/\(service)/aws4_request"
    }

    private func signingKey(at time: SigningTime) -> [UInt8] {
        ["\(time.day)", region, service, "aws4_request"]
            .reduce(Array("AWS4\(credentials.secretAccessKey)".utf8)) { key, part in
                HMACSHA256.code(of: part, key: key)
            }
    }
}

/// A moment as SigV4 writes it.
package struct SigningTime: Hashable, Sendable {
    /// `20130524T000000Z`, for `x-amz-date`.
    package let timestamp: String

    package init(_ date: Date) {
        timestamp = date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt))
    }

    /// `20130524`, for the credential scope.
    package var day: Substring { timestamp.prefix(8) }
}
