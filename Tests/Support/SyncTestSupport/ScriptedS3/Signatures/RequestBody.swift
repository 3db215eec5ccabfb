import FoundationEssentials
import SyncCore
import SyncDigest

/// A body whose digests, as far as the request names some, are right.
struct RequestBody: Sendable {
    static let checksumPrefix = "x-amz-checksum-"
    /// Headers about checksums that are none.
    private static let checksumRemarks = [
        "x-amz-checksum-algorithm", "x-amz-checksum-mode", "x-amz-checksum-type", "x-amz-sdk-checksum-algorithm",
    ]

    let bytes: [UInt8]
    let digest: ContentDigest
    /// Algorithm and base64, as sent.
    let checksums: [String: String]

    /// - Parameter payload: of the signature: a SHA-256 or UNSIGNED-PAYLOAD.
    init(
        _ bytes: [UInt8], _ request: S3Request, payload: String, abilities: StoreAbilities.ChecksumHeaders
    ) throws(S3Failure) {
        let head = request.head
        self.bytes = bytes
        digest = ContentDigest(of: bytes)
        try Self.check(payload: payload, digest)
        try Self.check(md5: head["content-md5"], digest)
        // Those of a completion are the object's, not its document's.
        checksums =
            request.operation == .completeMultipartUpload ? [:] : try Self.checksums(head, bytes, abilities)
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
        digest = ContentDigest(of: bytes)
        checksums = [:]
    }

    /// As a server stores it that checks nothing.
    var corrupted: RequestBody {
        var bytes = bytes
        bytes.flipMiddleByte()
        return RequestBody(unchecked: bytes)
    }

    /// What each operation with a required checksum asks for.
    static func isProtected(_ head: RequestHead) -> Bool {
        head["content-md5"] != nil || head.headers.contains { $0.name.hasPrefix(checksumPrefix) }
    }

    private static func check(payload: String, _ digest: ContentDigest) throws(S3Failure) {
        if payload == "UNSIGNED-PAYLOAD" { return }
        if payload.hasPrefix("STREAMING-") { throw .notImplemented(header: "x-amz-content-sha256") }
        guard let expected = SHA256Digest(hex: payload) else {
            throw .invalidArgument(
                "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD, or a valid "
                    + "sha256 value.",
                name: "x-amz-content-sha256", value: payload)
        }
        guard expected == digest.sha256 else {
            throw S3Failure(
                400, "XAmzContentSHA256Mismatch",
                "The provided 'x-amz-content-sha256' header does not match what was computed.",
                details: [
                    ("ClientComputedContentSHA256", payload), ("S3ComputedContentSHA256", "\(digest.sha256)"),
                ])
        }
    }

    private static func check(md5 text: String?, _ digest: ContentDigest) throws(S3Failure) {
        guard let text else { return }
        guard let bytes = Data(base64Encoded: text), let expected = MD5Digest(bytes: Array(bytes)) else {
            throw S3Failure(
                400, "InvalidDigest", "The Content-MD5 you specified was invalid.", details: [("Content-MD5", text)])
        }
        guard expected == digest.md5 else {
            throw S3Failure(
                400, "BadDigest", "The Content-MD5 you specified did not match what we received.",
                details: [
                    ("ExpectedDigest", "\(expected)"),
                    ("CalculatedDigest", Data(digest.md5.bytes).base64EncodedString()),
                ])
        }
    }

    private static func checksums(
        _ head: RequestHead, _ bytes: [UInt8], _ ability: StoreAbilities.ChecksumHeaders
    ) throws(S3Failure) -> [String: String] {
        var checksums: [String: String] = [:]
        for (name, value) in head.headers
        where name.hasPrefix(checksumPrefix) || name == "x-amz-sdk-checksum-algorithm" {
            switch ability {
            case .checked: break
            case .badRequest: throw .invalidArgument("Unsupported header '\(name)'", name: name, value: value)
            case .notImplemented: throw .notImplemented(header: name)
            }
            if checksumRemarks.contains(name) { continue }
            let algorithm = String(name.dropFirst(checksumPrefix.count))
            guard let right = Checksum.of(bytes, algorithm) else { throw .notImplemented(header: name) }
            guard Data(base64Encoded: value)?.count == right.count else {
                throw S3Failure(400, "InvalidRequest", "Value for \(name) header is invalid.")
            }
            guard Data(right).base64EncodedString() == value else {
                throw S3Failure(
                    400, "BadDigest",
                    "The \(algorithm.uppercased()) you specified did not match the calculated checksum.")
            }
            checksums[algorithm] = value
        }
        let announced = head["x-amz-sdk-checksum-algorithm"]?.lowercased()
        if let announced, checksums[announced] == nil, head.method != "GET", head.method != "HEAD" {
            throw S3Failure(
                400, "InvalidRequest",
                "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* header found.")
        }
        return checksums
    }
}
