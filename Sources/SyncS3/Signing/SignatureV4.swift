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
    package var service = "s3"

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

    /// What a form sends beside its policy, which has to ask for the same (Amazon S3 API Reference, "Authenticating Requests:
    /// Browser-Based Uploads Using POST").
    package func formFields(at date: Date) -> [(name: String, value: String)] {
        let time = SigningTime(date)
        return [
            ("x-amz-algorithm", Self.algorithm), ("x-amz-credential", "\(credentials.accessKeyID)/\(scope(at: time))"),
            ("x-amz-date", time.timestamp),
        ] + (credentials.sessionToken.map { [("x-amz-security-token", $0)] } ?? [])
    }

    /// - Parameter policy: in base64.
    /// - Returns: 64 hexadecimal digits.
    package func signature(ofPolicy policy: String, at date: Date) -> String {
        HMACSHA256.code(of: policy, key: signingKey(at: SigningTime(date))).hexadecimal
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

/// A request in the one form that both sides sign (AWS SigV4, "Create a canonical request", with the rules of S3: the
/// path is encoded once and never normalised).
package struct CanonicalRequest: Hashable, Sendable {
    /// What stands for the body: its SHA-256, or a word that says that it is not signed.
    package enum Payload: Hashable, Sendable {
        /// 64 hexadecimal digits.
        case sha256(String)
        case unsigned

        package static let empty = Payload.sha256("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

        package var text: String {
            switch self {
            case .sha256(let digits): digits
            case .unsigned: "UNSIGNED-PAYLOAD"
            }
        }
    }

    /// Headers that proxies and HTTP stacks add or alter on the way (botocore's list, and the two that curl owns).
    private static let unsignedHeaders: Set<String> = [
        "accept-encoding", "authorization", "connection", "content-length", "expect", "keep-alive", "te", "trailer",
        "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id", "proxy-authenticate", "proxy-authorization",
        "proxy-connection",
    ]

    package let text: String
    /// Lower-case names, sorted, joined by `;`.
    package let signedHeaders: String

    /// - Parameters:
    ///   - path: percent-encoded as it will be sent.
    ///   - headers: all that will be sent; those that must not be signed are left out here.
    package init(method: String, path: String, query: [HTTPQueryItem], headers: HTTPHeaders, payload: Payload) {
        var values: [String: [String]] = [:]
        for field in headers.fields {
            let name = field.name.lowercased()
            if Self.unsignedHeaders.contains(name) { continue }
            values[name, default: []].append(Self.canonicalValue(field.value))
        }
        let names = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        signedHeaders = names.joined(separator: ";")

        var lines = [method, path.isEmpty ? "/" : path, Self.canonicalQuery(query)]
        lines += names.map { "\($0):\(values[$0, default: []].joined(separator: ","))" }
        lines += ["", signedHeaders, payload.text]
        text = lines.joined(separator: "\n")
    }

    /// Encoded, sorted by name and then by value; a name without a value gets its `=`. S3 takes the same text in the URL.
    package static func canonicalQuery(_ items: [HTTPQueryItem]) -> String {
        items
            .map { (name: $0.name.uriEncoded(), value: $0.value.uriEncoded()) }
            .sorted { left, right in
                left.name == right.name
                    ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
                    : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
            }
            .map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    /// Trimmed, and each run of spaces inside as one.
    private static func canonicalValue(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}
