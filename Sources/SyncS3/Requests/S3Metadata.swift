/// User metadata as headers: `x-amz-meta-NAME: value`.
///
/// S3 takes raw UTF-8 for Latin-1 and gives back something else, so values travel percent-encoded, in printable ASCII.
package enum S3Metadata {
    static let headerPrefix = "x-amz-meta-"

    /// Printable ASCII stays readable; `%`, spaces and all the rest become `%XX`.
    package static func encode(_ value: String) -> String {
        value.percentEncoded { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "%") }
    }

    /// A value that some other program wrote, and that is not percent-encoded, comes back as it is.
    package static func decode(_ value: String) -> String {
        value.percentDecoded() ?? value
    }

    /// Whether a name can stand in a header as it is (RFC 9110, 5.6.2) and comes back the same (S3 lower-cases it).
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                    UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// All user metadata of a reply, names in lower case.
    package static func values(in headers: HTTPHeaders) -> [String: String] {
        var values: [String: String] = [:]
        for field in headers.fields {
            let name = field.name.lowercased()
            guard name.hasPrefix(headerPrefix) else { continue }
            values[String(name.dropFirst(headerPrefix.count))] = decode(field.value)
        }
        return values
    }
}
