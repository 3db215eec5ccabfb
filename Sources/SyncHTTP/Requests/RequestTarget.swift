import SyncCore

/// The target of a request (RFC 9112, 3.2), split and decoded. It is decoded once, and checked afterwards.
struct RequestTarget: Hashable {
    /// What is answered in place of the handler.
    enum Fault: Error, Hashable {
        /// No target of ours: 400.
        case malformed
        /// A path that no page has: 404.
        case noSuchPath
    }

    /// Of a target as a proxy writes it: it counts before the header's (RFC 9112, 3.2.2).
    let authority: String?
    let segments: [String]
    let isFolder: Bool
    let query: [WebRequest.Field]

    init(_ target: String) throws(Fault) {
        var rest = target[...]
        if rest.hasPrefix("/") {
            authority = nil
        } else {
            guard let scheme = ["http://", "https://"].first(where: { rest.lowercased().hasPrefix($0) }) else {
                throw .malformed
            }
            rest = rest.dropFirst(scheme.count)
            let name = rest.prefix { $0 != "/" && $0 != "?" }
            authority = String(name)
            rest = rest[name.endIndex...]
        }
        guard !rest.contains("#") else { throw .malformed }
        let path = rest.prefix { $0 != "?" }
        query = try Self.fields(rest[path.endIndex...].dropFirst())
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        isFolder = parts.last?.isEmpty ?? true
        if isFolder { parts = parts.dropLast() }
        var segments: [String] = []
        for part in parts {
            guard let segment = Self.decoded(part, plusIsSpace: false), Self.isName(segment) else { throw .noSuchPath }
            segments.append(segment)
        }
        self.segments = segments
    }

    private static func isName(_ segment: String) -> Bool {
        !["", ".", ".."].contains(segment)
            && segment.utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            }
    }

    private static func fields(_ query: Substring) throws(Fault) -> [WebRequest.Field] {
        var fields: [WebRequest.Field] = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            guard let decodedName = decoded(name, plusIsSpace: true),
                let value = decoded(pair[name.endIndex...].dropFirst(), plusIsSpace: true)
            else { throw .malformed }
            fields.append(WebRequest.Field(decodedName, value))
        }
        return fields
    }

    /// - Returns: `nil` when an escape is none, or the bytes are no UTF-8.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
