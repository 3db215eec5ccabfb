/// Texts as YAML scalars.
enum YAMLText {
    /// The text such that any YAML reader gives it back: plain where nothing can be misread, else in double quotes
    /// (YAML 1.2, section 5.7, for the escapes).
    static func scalar(_ text: String) -> String {
        isSafePlain(text) ? text : quoted(text)
    }

    /// Letters and a few harmless marks, not one of YAML 1.1's words for true, false and null, and no number.
    private static func isSafePlain(_ text: String) -> Bool {
        let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        guard let first = text.unicodeScalars.first, !words.contains(text.lowercased()) else { return false }
        let mayBegin = first.isASCIILetter || (text.hasPrefix("~/") || text.hasPrefix("/"))
        let marks = "_./-~"
        return mayBegin
            && text.unicodeScalars.allSatisfy {
                $0.isASCIILetter || ("0"..."9").contains($0) || marks.unicodeScalars.contains($0)
                    || ($0 == ":" && !text.hasSuffix(":"))
            }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result += isPrintable(scalar) ? String(scalar) : escaped(scalar)
            }
        }
        return result + "\""
    }

    /// What may stand unescaped (YAML 1.2, rule `c-printable`), without the line separators and the byte order mark.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xFEFE, 0xFF00...0xFFFD, 0x1_0000...0x10_FFFF: true
        default: false
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        let padding = String(repeating: "0", count: 4 - min(digits.count, 4))
        return "\\u\(padding)\(digits)"
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
}
