/// An absolute address of the web (RFC 3986), `http` or `https`, without user, password and fragment.
package struct WebLink: Hashable, Sendable, LosslessStringConvertible {
    /// Bytes. A signed link with a session token has about two thousand.
    package static let maximumLength = 8_192

    /// `https` or `http`.
    package let scheme: String
    /// In lower case; an IPv6 address in brackets.
    package let host: String
    /// `nil` for the scheme's own.
    package let port: Int?
    /// Percent-encoded, from its first `/`.
    package let path: String
    /// Percent-encoded, as it was written: it may be signed.
    package let query: String?

    /// `nil` when the text is anything else, or has a byte that some reader of addresses takes for another.
    package init?(_ description: String) {
        guard description.utf8.count <= Self.maximumLength, let mark = description.firstRange(of: "://"),
            description.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        scheme = description[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { return nil }
        let rest = description[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.host = host
        self.port = port == (scheme == "https" ? 443 : 80) ? nil : port
        let target = rest[authority.endIndex...]
        let path = target.prefix { $0 != "?" }
        self.path = path.isEmpty ? "/" : Self.encoded(path)
        query = path.endIndex == target.endIndex ? nil : Self.encoded(target[path.endIndex...].dropFirst())
    }

    private init(_ origin: WebLink, path: String, query: Substring?) {
        scheme = origin.scheme
        host = origin.host
        port = origin.port
        self.path = path
        self.query = query.map(Self.encoded)
    }

    package var description: String { origin + path + (query.map { "?\($0)" } ?? "") }

    /// `https://example.org:8080`: also what is told of a link, for its query may be a secret.
    package var origin: String { "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")" }

    /// A text that should have been an address, as it may be shown: without user, password, query and fragment, which may
    /// be secrets. The one place for that.
    package static func withoutSecrets(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word -> String in
            let start = word.firstRange(of: "://")?.upperBound ?? word.startIndex
            var rest = word[start...]
            // A password may hold any character, a slash or a question mark too: the last @ ends it.
            let hasUser = rest.contains("@")
            if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
            let shown = rest.prefix { $0 != "?" && $0 != "#" }
            let hidden = rest[shown.endIndex...].first.map { "\($0)…" } ?? ""
            return String(word[..<start]) + (hasUser ? "***@" : "") + String(shown) + hidden
        }
        return words.joined(separator: " ")
    }

    /// Whether nothing of it leaves this machine: `localhost`, 127.0.0.0/8, ::1.
    package var isLoopback: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || host.hasPrefix("127.") && host.split(separator: ".").count == 4
    }

    /// Whether whoever stands between can read along and change what is read.
    package var isPlain: Bool { scheme == "http" && !isLoopback }

    /// Whether a reader who was sent to this address goes on to the other: the same scheme, host and port, or the same
    /// host by TLS, both on the schemes' own ports.
    package func admits(_ other: WebLink) -> Bool {
        guard host == other.host else { return false }
        if scheme == other.scheme, port == other.port { return true }
        return scheme == "http" && other.scheme == "https" && port == nil && other.port == nil
    }

    /// Where a reference leads that is found at this address (RFC 3986, 5.2); `nil` when that is no `WebLink`.
    package func resolving(_ reference: String) -> WebLink? {
        guard reference.utf8.count <= Self.maximumLength,
            reference.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let reference = reference.prefix { $0 != "#" }
        if reference.isEmpty { return self }
        if reference.hasPrefix("//") { return WebLink("\(scheme):\(reference)") }
        let target = reference.prefix { $0 != "?" }
        let query = target.endIndex == reference.endIndex ? nil : reference[target.endIndex...].dropFirst()
        if target.isEmpty { return WebLink(self, path: path, query: query) }
        if target.prefix(while: { $0 != "/" }).contains(":") { return WebLink(String(reference)) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        let merged = target.hasPrefix("/") ? Self.encoded(target) : folder + Self.encoded(target)
        return WebLink(self, path: Self.withoutDots(merged), query: query)
    }

    private static func hostAndPort(_ authority: Substring) -> (String, Int?)? {
        let colon = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        let host = authority[..<(colon ?? authority.endIndex)].lowercased()
        guard isHost(host) else { return nil }
        guard let colon else { return (host, nil) }
        let digits = authority[authority.index(after: colon)...]
        guard digits.utf8.allSatisfy(\.isDigit), let port = Int(digits), (1...65_535).contains(port) else { return nil }
        return (host, port)
    }

    /// A name, an IPv4 address, or an IPv6 address in brackets; no percent-encoding, so that no two spellings are one.
    private static func isHost(_ host: String) -> Bool {
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 3
        let name = isAddress ? host.dropFirst().dropLast() : host[...]
        let others = isAddress ? ":." : ".-_"
        return !name.isEmpty
            && name.allSatisfy { character in
                guard character.isASCII else { return false }
                return others.contains(character) || (isAddress ? character.isHexDigit : Self.isPlain(character))
            }
    }

    private static func isPlain(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    private static func withoutDots(_ path: some StringProtocol) -> String {
        var kept: [Substring] = []
        let segments = Substring(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.index(before: segments.endIndex)
            switch segment {
            case ".", "..":
                if segment == "..", !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// What people write and RFC 3986 does not allow, as `%XX`.
    private static func encoded(_ text: some StringProtocol) -> String {
        text.percentEncoded { $0 < 0x80 && !"\"<>^`{|}".utf8.contains($0) }
    }
}
