import SyncCore
import SyncDigest

/// The canonical request of SigV4 as S3 makes it: the path encoded once and never normalised, the query sorted.
///
/// Written against the documentation, apart from the program's own signer: the two are to find each other's mistakes.
struct CanonicalForm: Sendable {
    let text: String

    init(_ request: S3Request, _ signed: SignedRequest) {
        let query = request.query.filter { $0.name != "X-Amz-Signature" }
            .map { (Self.encode(Array($0.name.utf8)), Self.encode(Array($0.value.utf8))) }
            .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
            .map { "\($0.0)=\($0.1)" }
        let headers = signed.signedHeaders.map { name in
            "\(name):"
                + request.head.headers.filter { $0.name == name }.map { Self.collapse($0.value) }
                .joined(separator: ",")
        }
        text = [
            request.head.method, Self.encode(request.path, keeping: UInt8(ascii: "/")), query.joined(separator: "&"),
            headers.map { $0 + "\n" }.joined(), signed.signedHeaders.joined(separator: ";"), signed.payload,
        ].joined(separator: "\n")
    }

    /// What the signature is an HMAC of.
    func stringToSign(_ signed: SignedRequest) -> String {
        // Headers are held as ISO 8859-1: their bytes are what was signed.
        let digest = SHA256Digest(of: text.latin1Bytes)
        return "\(SignedRequest.algorithm)\n\(signed.timestamp)\n\(signed.scope.joined(separator: "/"))\n\(digest)"
    }

    /// 64 hexadecimal digits.
    func signature(_ signed: SignedRequest, secret: String) -> String {
        var key = Array("AWS4\(secret)".utf8)
        for part in signed.scope { key = HMACSHA256.code(of: part, key: key) }
        return HMACSHA256.code(of: stringToSign(signed), key: key).hexadecimal
    }

    private static func encode(_ bytes: [UInt8], keeping kept: UInt8? = nil) -> String {
        var encoded = ""
        for byte in bytes {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case kept: encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + [byte].hexadecimal.uppercased()
            }
        }
        return encoded
    }

    private static func collapse(_ value: String) -> String {
        value.split(separator: " ").joined(separator: " ")
    }
}
