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
            guard let segment = part.percentDecoded(), Self.isName(segment) else { throw .noSuchPath }
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
            guard let decodedName = name.percentDecoded(plusIsSpace: true),
                let value = pair[name.endIndex...].dropFirst().percentDecoded(plusIsSpace: true)
            else { throw .malformed }
            fields.append(WebRequest.Field(decodedName, value))
        }
        return fields
    }
}
