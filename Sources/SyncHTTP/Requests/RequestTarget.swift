import SyncCore

/// The target of a request (RFC 9112, 3.2), split and decoded. It is decoded once, and checked afterwards.
struct RequestTarget: Hashable {
    /// Of a target as a proxy writes it: it counts before the header's (RFC 9112, 3.2.2).
    let authority: String?
    let segments: [String]
    let isFolder: Bool
    let query: [WebRequest.Field]

    /// - Throws: 400 for no target of ours, 404 for a path that no page has.
    init(_ target: String) throws(Refusal) {
        var rest = target[...]
        if rest.hasPrefix("/") {
            authority = nil
        } else {
            guard let scheme = ["http://", "https://"].first(where: { rest.lowercased().hasPrefix($0) }) else {
                throw Refusal(status: 400)
            }
            rest = rest.dropFirst(scheme.count)
            let name = rest.prefix { $0 != "/" && $0 != "?" }
            authority = String(name)
            rest = rest[name.endIndex...]
        }
        guard !rest.contains("#") else { throw Refusal(status: 400) }
        let path = rest.prefix { $0 != "?" }
        query = try Self.fields(rest[path.endIndex...].dropFirst())
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        isFolder = parts.last?.isEmpty ?? true
        if isFolder { parts = parts.dropLast() }
        var segments: [String] = []
        for part in parts {
            guard let segment = part.percentDecoded(), Self.isName(segment) else { throw Refusal(status: 404) }
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

    private static func fields(_ query: Substring) throws(Refusal) -> [WebRequest.Field] {
        var fields: [WebRequest.Field] = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            guard let decodedName = name.percentDecoded(plusIsSpace: true),
                let value = pair[name.endIndex...].dropFirst().percentDecoded(plusIsSpace: true)
            else { throw Refusal(status: 400) }
            fields.append(WebRequest.Field(decodedName, value))
        }
        return fields
    }
}
