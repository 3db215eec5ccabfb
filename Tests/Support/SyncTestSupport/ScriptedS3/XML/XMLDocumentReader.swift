/// Reads the XML of a request into a tree: elements, text, references and CDATA; attributes are passed over.
///
/// Our own, because Foundation's parser leaks with each malformed document (Swift 6.3), and a test with a leak fails
/// under the address sanitizer.
struct XMLDocumentReader {
    private var rest: Substring

    /// - Throws: MalformedXML, also for another root element.
    static func read(_ bytes: [UInt8], root name: String) throws(S3Failure) -> XMLElement {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformedXML }
        var reader = XMLDocumentReader(rest: text[...])
        try reader.skipMisc()
        let root = try reader.element()
        try reader.skipMisc()
        guard reader.rest.isEmpty, root.name == name else { throw .malformedXML }
        return root
    }

    /// Blanks, comments and instructions around the root.
    private mutating func skipMisc() throws(S3Failure) {
        while true {
            rest = rest.drop { $0.isWhitespace }
            if rest.hasPrefix("<?") {
                _ = try take(until: "?>")
            } else if rest.hasPrefix("<!--") {
                _ = try take(until: "-->")
            } else {
                return
            }
        }
    }

    private mutating func element() throws(S3Failure) -> XMLElement {
        guard rest.popFirst() == "<" else { throw .malformedXML }
        var tag = try take(until: ">")
        let isEmpty = tag.last == "/"
        if isEmpty { tag.removeLast() }
        let name = tag.prefix { !$0.isWhitespace }
        guard let first = name.first, first.isLetter || first == "_", !tag.contains("<") else { throw .malformedXML }
        var element = XMLElement(String(name.split(separator: ":").last ?? name))
        if !isEmpty { try readContent(of: &element, named: name) }
        return element
    }

    private mutating func readContent(of element: inout XMLElement, named name: Substring) throws(S3Failure) {
        while true {
            let text = rest.prefix { $0 != "<" }
            rest = rest[text.endIndex...]
            element.text += try Self.resolve(text)
            if rest.hasPrefix("</") {
                let end = try take(until: ">").dropFirst(2)
                guard end.prefix(while: { !$0.isWhitespace }) == name else { throw .malformedXML }
                return
            } else if rest.hasPrefix("<!--") {
                _ = try take(until: "-->")
            } else if rest.hasPrefix("<![CDATA[") {
                element.text += try take(until: "]]>").dropFirst("<![CDATA[".count)
            } else {
                element.children.append(try self.element())
            }
        }
    }

    /// What comes before `mark`; both are used up.
    private mutating func take(until mark: String) throws(S3Failure) -> Substring {
        guard let found = rest.firstRange(of: mark) else { throw .malformedXML }
        defer { rest = rest[found.upperBound...] }
        return rest[..<found.lowerBound]
    }

    private static func resolve(_ text: Substring) throws(S3Failure) -> String {
        let parts = text.split(separator: "&", omittingEmptySubsequences: false)
        var resolved = String(parts[0])
        for part in parts.dropFirst() {
            guard let end = part.firstIndex(of: ";"), let scalar = scalar(part[..<end]) else { throw .malformedXML }
            resolved.unicodeScalars.append(scalar)
            resolved += part[part.index(after: end)...]
        }
        return resolved
    }

    private static func scalar(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": "&"
        case "lt": "<"
        case "gt": ">"
        case "quot": "\""
        case "apos": "'"
        case _ where name.hasPrefix("#x"): UInt32(name.dropFirst(2), radix: 16).flatMap { Unicode.Scalar($0) }
        case _ where name.hasPrefix("#"): UInt32(name.dropFirst()).flatMap { Unicode.Scalar($0) }
        default: nil
        }
    }
}
