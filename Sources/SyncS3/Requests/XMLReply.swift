import FoundationEssentials
import SyncCore
import XMLCoder

/// Reads the XML of a reply. XML that was cut short or has another root is no reply, whatever its status says: S3 sends
/// 200 first and may find its error later.
package enum XMLReply {
    package struct Invalid: Error, Hashable {
        package let reason: String
    }

    /// - Parameter variant: another root that some store writes.
    /// - Throws: ``Invalid``.
    static func decode<Value: Decodable>(
        _ type: Value.Type, root: String, or variant: String? = nil, from body: [UInt8]
    ) throws(Invalid) -> Value {
        let found = rootName(of: body)
        guard let found, found == root || found == variant else {
            let beginning = found.map { "<\(Redaction.quote($0, limit: 40))>" } ?? "nothing"
            throw Invalid(reason: "its XML begins with \(beginning) in place of <\(root)>")
        }
        let decoder = XMLDecoder(trimValueWhitespaces: false, removeWhitespaceElements: true)
        do {
            return try decoder.decode(type, from: Data(body))
        } catch {
            throw Invalid(reason: "its XML is cut short or lacks an element")
        }
    }

    /// The local name of the first element, past the declaration, comments and white space.
    package static func rootName(of body: [UInt8]) -> String? {
        var rest = String(decoding: body, as: UTF8.self)[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[rest.index(after: open)...]
            switch rest.first {
            case "?", "!":
                let end = rest.hasPrefix("!--") ? "-->" : ">"
                guard let close = rest.firstRange(of: end) else { return nil }
                rest = rest[close.upperBound...]
            default:
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == ":" || $0 == "_" || $0 == "-" }
                return name.split(separator: ":").last.map(String.init)
            }
        }
        return nil
    }
}
