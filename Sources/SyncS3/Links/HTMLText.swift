/// Text as it stands in an attribute of HTML.
enum HTMLText {
    /// Of the longest that is decoded, `#x10FFFF`.
    private static let maximumNameLength = 8
    private static let names: [String: String] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// The text with its character references replaced: the five that every page has to use, and numbers. Others stay as
    /// they are.
    static func decoded(_ bytes: some Sequence<UInt8>) -> String {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        guard text.contains("&") else { return text }
        var decoded = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            decoded += rest[..<start]
            rest = rest[start...].dropFirst()
            let name = rest.prefix(maximumNameLength + 1).prefix { $0 != ";" }
            let end = name.endIndex
            if end < rest.endIndex, rest[end] == ";", let character = character(name) {
                decoded += character
                rest = rest[end...].dropFirst()
            } else {
                decoded += "&"
            }
        }
        return decoded + rest
    }

    private static func character(_ name: Substring) -> String? {
        if let known = names[String(name)] { return known }
        guard name.first == "#" else { return nil }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        let number = isHexadecimal ? digits.dropFirst() : digits
        // Integers may have a sign, references may not.
        guard let first = number.first, first.isHexDigit,
            let value = UInt32(number, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(value)
        else { return nil }
        return String(Character(scalar))
    }
}
