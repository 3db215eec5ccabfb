import FoundationEssentials
import SyncCore

/// Texts from outside, made fit to be shown. Escaping is another matter: ``PageEscaping``.
package enum PageText {
    /// One line: controls and line ends become spaces, marks that turn the direction of the text around them are left
    /// out, runs of spaces become one.
    /// - Parameter limit: characters; what is longer is cut and ends in "…".
    package static func line(_ text: String, limit: Int = 160) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                if scalars.last != " ", !scalars.isEmpty { scalars.append(" ") }
            // Format: direction overrides and isolates among them. A joiner (U+200C, U+200D) makes letters and emoji.
            case .format where scalar != "\u{200C}" && scalar != "\u{200D}": continue
            default: scalars.append(scalar)
            }
        }
        if scalars.last == " " { scalars.removeLast() }
        let line = String(scalars)
        return line.count > limit ? line.prefix(limit - 1) + "…" : line
    }

    /// A name that every file system takes, and none reads as a path or as hidden: letters and digits of any script,
    /// `-`, `_` and `.` inside; the rest becomes `_`. At most 100 scalars.
    static func fileName(_ text: String) -> String {
        // Not by characters: one may join a letter with what follows it, a quote or a semicolon too (UAX #29, GB9b).
        var name: [Unicode.Scalar] = []
        var marks = 0
        for scalar in text.unicodeScalars {
            var kept = scalar
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
                .letterNumber, .otherNumber:
                marks = 0
            case .nonspacingMark, .spacingMark:
                // On a letter, and not any number of them.
                let isOnLetter = name.last.map { !"-_.".contains($0) } ?? false
                if marks >= 3 || !isOnLetter { kept = "_" }
                marks += 1
            default: if !"-_.".contains(scalar) { kept = "_" }
            }
            if kept != "_" || name.last != "_" { name.append(kept) }
        }
        let bare = name.prefix(100).drop { "._".contains($0) }
        guard let end = bare.lastIndex(where: { !"._".contains($0) }) else { return "photo" }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: bare[...end])
        return String(view)
    }

    /// Bytes in decimal units, two or three digits: `830 kB`, `4.2 MB`, `62 MB`; `4,2 Mo` in French.
    static func size(_ bytes: Int64, _ language: PageLanguage = .en) -> String {
        var value = Double(max(bytes, 0))
        var unit = 0
        let units =
            switch language {
            case .en, .es: ["bytes", "kB", "MB", "GB", "TB"]
            case .de: ["Byte", "kB", "MB", "GB", "TB"]
            case .fr: ["octets", "ko", "Mo", "Go", "To"]
            case .zh: ["字节", "kB", "MB", "GB", "TB"]
            }
        let hasComma = language != .en && language != .zh
        // 999.5 would be shown as 1000.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        let tenths = (value * 10).rounded() / 10
        let exact = hasComma ? "\(tenths)".replacing(".", with: ",") : "\(tenths)"
        let shown = unit > 0 && tenths < 10 ? exact : "\(Int(value.rounded()))"
        return "\(shown) \(units[unit])"
    }
}

extension String {
    fileprivate func contains(_ scalar: Unicode.Scalar) -> Bool { unicodeScalars.contains(scalar) }
}

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
            text.utf8.dropFirst(kind.utf8.count).allSatisfy({ $0.isAlphanumeric || "+/=".utf8.contains($0) })
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
                guard byte.isHexDigit else { return false }
                digitsToCome -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsToCome = 2
            } else if !byte.isAlphanumeric, !marks.contains(byte) {
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
