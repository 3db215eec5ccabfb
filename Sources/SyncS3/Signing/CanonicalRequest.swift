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
