extension String {
    /// As the text of an XML element.
    var xmlEscaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// The text behind the references of XML; `nil` where one is not among those that every document has.
    var xmlUnescaped: String? {
        let parts = split(separator: "&", omittingEmptySubsequences: false)
        var text = String(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: ";"), let scalar = Self.scalar(part[..<end]) else { return nil }
            text.unicodeScalars.append(scalar)
            text += part[part.index(after: end)...]
        }
        return text
    }

    private static func scalar(_ name: Substring) -> Unicode.Scalar? {
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
