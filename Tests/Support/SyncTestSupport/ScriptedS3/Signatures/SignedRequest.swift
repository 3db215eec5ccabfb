import FoundationEssentials
import SyncCore

/// What a request says of its signature, taken from its header or its query.
///
/// Source: Amazon S3 API Reference, "Authenticating Requests (AWS Signature Version 4)".
struct SignedRequest: Sendable {
    static let algorithm = "AWS4-HMAC-SHA256"
    static let longestLife = 604_800

    let accessKeyID: String
    /// Date, region, service and `aws4_request`.
    let scope: [String]
    let timestamp: String
    let time: Date
    let signedHeaders: [String]
    let signature: String
    /// Seconds; `nil` unless presigned.
    let life: Int?
    let sessionToken: String?
    /// The last line of the canonical request.
    let payload: String

    init(_ request: S3Request) throws(S3Failure) {
        let authorization = request.head["authorization"]
        if request.isPresigned {
            guard authorization == nil else {
                throw S3Failure(400, "InvalidArgument", "Only one auth mechanism allowed")
            }
            try self.init(presigned: request)
        } else if let authorization {
            try self.init(authorization: authorization, request)
        } else {
            throw S3Failure(403, "AccessDenied", "Access Denied")
        }
    }

    private init(authorization: String, _ request: S3Request) throws(S3Failure) {
        var fields: [String: String] = [:]
        let words = authorization.split(separator: " ", maxSplits: 1)
        for field in (words[safe: 1] ?? "").split(separator: ",") {
            let sides = field.split(separator: "=", maxSplits: 1)
            fields[(sides[safe: 0] ?? "").trimmingBlanks()] = (sides[safe: 1] ?? "").trimmingBlanks()
        }
        guard words.first == "AWS4-HMAC-SHA256", let credential = fields["Credential"],
            let names = fields["SignedHeaders"], let signature = fields["Signature"]
        else {
            throw S3Failure(400, "AuthorizationHeaderMalformed", "The authorization header is malformed.")
        }
        guard let timestamp = request.head["x-amz-date"], let time = Self.time(timestamp) else {
            throw S3Failure(403, "AccessDenied", "AWS authentication requires a valid Date or x-amz-date header")
        }
        guard let payload = request.head["x-amz-content-sha256"] else {
            throw S3Failure(400, "InvalidRequest", "Missing required header for this request: x-amz-content-sha256")
        }
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        accessKeyID = parts[0]
        scope = Array(parts.dropFirst())
        self.timestamp = timestamp
        self.time = time
        signedHeaders = names.split(separator: ";").map(String.init)
        self.signature = signature
        life = nil
        sessionToken = request.head["x-amz-security-token"]
        self.payload = payload
        try checkScope("AuthorizationHeaderMalformed")
    }

    private init(presigned request: S3Request) throws(S3Failure) {
        let malformed = "AuthorizationQueryParametersError"
        guard request.value("X-Amz-Algorithm") == Self.algorithm else {
            throw S3Failure(400, malformed, "X-Amz-Algorithm only supports \"AWS4-HMAC-SHA256\"")
        }
        guard let credential = request.value("X-Amz-Credential"), let timestamp = request.value("X-Amz-Date"),
            let time = Self.time(timestamp), let expires = request.value("X-Amz-Expires"),
            let names = request.value("X-Amz-SignedHeaders"), let signature = request.value("X-Amz-Signature")
        else {
            throw S3Failure(
                400, malformed,
                "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, "
                    + "X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.")
        }
        guard let life = Int(expires), life >= 0 else {
            throw S3Failure(400, malformed, "X-Amz-Expires should be a number")
        }
        guard life <= Self.longestLife else {
            throw S3Failure(
                400, malformed, "X-Amz-Expires must be less than a week (in seconds) that is 604800")
        }
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        accessKeyID = parts[0]
        scope = Array(parts.dropFirst())
        self.timestamp = timestamp
        self.time = time
        signedHeaders = names.split(separator: ";").map(String.init)
        self.signature = signature
        self.life = life
        sessionToken = request.value("X-Amz-Security-Token")
        payload = request.head["x-amz-content-sha256"] ?? "UNSIGNED-PAYLOAD"
        try checkScope(malformed)
    }

    private func checkScope(_ code: String) throws(S3Failure) {
        guard scope.count == 4, scope[2] == "s3", scope[3] == "aws4_request" else {
            throw S3Failure(
                400, code,
                "The Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".")
        }
        guard timestamp.hasPrefix(scope[0]), scope[0].count == 8 else {
            throw S3Failure(
                400, code, "Invalid credential date \"\(scope[0])\". This date is not the same as X-Amz-Date.")
        }
    }

    private static func time(_ timestamp: String) -> Date? {
        let style = Date.ISO8601FormatStyle(
            dateSeparator: .omitted, dateTimeSeparator: .standard, timeSeparator: .omitted, timeZone: .gmt)
        return timestamp.count == 16 ? try? Date(timestamp, strategy: style) : nil
    }
}
