extension String {
    /// As the text of an XML element.
    var xmlEscaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}

extension ArraySlice<UInt8> {
    /// The text behind the references of XML; `nil` where one is not among those that every document has.
    var xmlText: String? {
        guard contains(UInt8(ascii: "&")) else { return String(decoding: self, as: UTF8.self) }
        let parts = split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        var text = String(decoding: parts[0], as: UTF8.self)
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: UInt8(ascii: ";")),
                let scalar = Self.scalar(String(decoding: part[..<end], as: UTF8.self))
            else { return nil }
            text.unicodeScalars.append(scalar)
            text += String(decoding: part[(end + 1)...], as: UTF8.self)
        }
        return text
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": "&"
        case "lt": "<"
        case "gt": ">"
        case "quot": "\""
        case "apos": "'"
        case _ where name.hasPrefix("#x"): UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
        case _ where name.hasPrefix("#"): UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
        default: nil
        }
    }
}
