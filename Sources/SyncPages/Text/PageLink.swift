/// A link that a page may carry: `http` or `https` with a host, or relative to the page. Everything else, above all
/// `javascript:` and links that begin with `//`, is refused and not repaired.
struct PageLink: Hashable {
    let text: String
    /// Scheme, host and port of an absolute link, in lower case. `nil` for a relative one.
    let origin: String?

    init(_ text: String) throws(PageError) {
        guard !text.isEmpty, Self.isURIReference(text) else {
            throw PageError(.link, "\(Self.shown(text)) is no link: RFC 3986 allows no such characters in one")
        }
        self.text = text
        let beforePath = text.prefix { !"/?#".contains($0) }
        guard beforePath.contains(":") else {
            // "//host/…" takes the scheme of the page, and would lead elsewhere.
            guard !text.hasPrefix("//") else {
                throw PageError(.link, "\(Self.shown(text)) leads to another host without saying how")
            }
            origin = nil
            return
        }
        let scheme = beforePath.dropLast().lowercased()
        let rest = text.dropFirst(beforePath.count)
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        guard ["http", "https"].contains(scheme), beforePath.last == ":", rest.hasPrefix("//"), !authority.isEmpty,
            !authority.contains("@")
        else { throw PageError(.link, "\(Self.shown(text)) is no link to a web page: http:// or https:// is needed") }
        origin = "\(scheme)://\(authority.lowercased())"
    }

    /// A picture inside the page (RFC 2397). Only formats that cannot carry scripts.
    init(picture text: String) throws(PageError) {
        guard text.hasPrefix("data:") else {
            self = try PageLink(text)
            return
        }
        let kinds = ["data:image/jpeg;base64,", "data:image/png;base64,", "data:image/webp;base64,"]
        guard let kind = kinds.first(where: text.hasPrefix),
            text.utf8.dropFirst(kind.utf8.count).allSatisfy({ $0.isASCIIAlphanumeric || "+/=".utf8.contains($0) })
        else { throw PageError(.link, "\(Self.shown(text)) is no JPEG, PNG or WebP in base64") }
        self.text = text
        origin = nil
    }

    /// Only characters of RFC 3986, appendix A, and every `%` before two hexadecimal digits.
    private static func isURIReference(_ text: String) -> Bool {
        let marks = "-._~:/?#[]@!$&'()*+,;=".utf8
        var digitsToCome = 0
        for byte in text.utf8 {
            if digitsToCome > 0 {
                guard byte.isASCIIHexDigit else { return false }
                digitsToCome -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsToCome = 2
            } else if !byte.isASCIIAlphanumeric, !marks.contains(byte) {
                return false
            }
        }
        return digitsToCome == 0
    }

    private static func shown(_ text: String) -> String {
        let start = PageText.line(String(text.prefix { $0 != "?" }), limit: 80)
        return start.isEmpty ? "an empty text" : "\"\(start)\""
    }
}

extension UInt8 {
    var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    var isASCIIHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }
}
