/// What the store sent is no reply to what it was asked.
package struct InvalidReply: Error, Hashable {
    package let reason: String
}

/// One element of an XML document (1.0, fifth edition): where it stands, and what it says. Names are local ones: a prefix
/// of a namespace is kept, and not looked up.
struct XMLElement {
    /// Elements inside each other. A lifecycle document has five.
    private static let greatestDepth = 64

    /// From its first `<` to its last `>`.
    let range: Range<Int>
    /// From behind its opening tag to its closing one; empty, and behind it, where it is one tag.
    let inside: Range<Int>
    /// Before the colon of its name; empty where there is none.
    let space: String
    let name: String
    /// No attribute, comment, instruction or CDATA section in it or below: its names and texts say all that it says.
    let isPlain: Bool
    /// Every reference in it and below is one that each document has.
    let isResolved: Bool
    /// What is between its tags and not in a child; references resolved, those that are not known as they are written.
    let text: String
    let children: [XMLElement]

    /// The root of a whole document. XML that was cut short or has another root is no reply, whatever its status says: S3
    /// sends 200 first and may find its error later.
    /// - Parameters:
    ///   - variant: another name of the root, that some store writes.
    ///   - keepsReferences: whether it may hold references that are not known: it is written back as it is.
    init(
        document: [UInt8], root: String, or variant: String? = nil, keepsReferences: Bool = false
    ) throws(InvalidReply) {
        guard String(validating: document, as: UTF8.self) != nil else {
            throw InvalidReply(reason: "its XML is not in UTF-8")
        }
        var scanner = XMLScanner(document)
        guard let opening = try scanner.opening() else {
            throw InvalidReply(reason: "its XML begins with nothing in place of <\(root)>")
        }
        let name = Self.parts(of: opening.name, in: document).name
        guard name == root || name == variant else {
            let found = Redaction.quote(name, limit: 40)
            throw InvalidReply(reason: "its XML begins with <\(found)> in place of <\(root)>")
        }
        try self.init(&scanner, opening, depth: 0)
        guard isResolved || keepsReferences else { throw InvalidReply(reason: "a reference in its XML is unknown") }
        while let token = try scanner.next() {
            switch token {
            case .aside: continue
            case .text(let range) where document[range].allSatisfy(XMLScanner.isBlank): continue
            default: throw InvalidReply(reason: "its XML goes on behind its end")
            }
        }
    }

    /// Reads on behind an opening tag.
    private init(_ scanner: inout XMLScanner, _ opening: XMLScanner.Opening, depth: Int) throws(InvalidReply) {
        guard depth < Self.greatestDepth else { throw InvalidReply(reason: "its XML is nested too deep") }
        let start = scanner.offset
        var end = start
        var (isPlain, isResolved) = (!opening.hasAttributes, true)
        var text = ""
        var children: [XMLElement] = []
        reading: while !opening.isEmpty {
            end = scanner.offset
            switch try scanner.next() {
            case nil:
                throw InvalidReply(reason: "its XML is cut short")
            case .close(let name):
                guard scanner.bytes[name] == scanner.bytes[opening.name] else {
                    throw InvalidReply(reason: "a tag in its XML closes another element")
                }
                break reading
            case .open(let opening):
                let child = try XMLElement(&scanner, opening, depth: depth + 1)
                isPlain = isPlain && child.isPlain
                isResolved = isResolved && child.isResolved
                children.append(child)
            case .text(let range):
                let resolved = scanner.bytes[range].xmlText
                isResolved = isResolved && resolved != nil
                text += resolved ?? String(decoding: scanner.bytes[range], as: UTF8.self)
            case .data(let range):
                isPlain = false
                text += String(decoding: scanner.bytes[range], as: UTF8.self)
            case .aside:
                isPlain = false
            }
        }
        range = opening.start..<scanner.offset
        inside = start..<end
        (space, name) = Self.parts(of: opening.name, in: scanner.bytes)
        self.isPlain = isPlain && isResolved
        self.isResolved = isResolved
        self.text = text
        self.children = children
    }

    private static func parts(of name: Range<Int>, in bytes: [UInt8]) -> (space: String, name: String) {
        let colon = bytes[name].firstIndex(of: UInt8(ascii: ":"))
        return (
            space: colon.map { String(decoding: bytes[name.lowerBound..<$0], as: UTF8.self) } ?? "",
            name: String(decoding: bytes[(colon.map { $0 + 1 } ?? name.lowerBound)..<name.upperBound], as: UTF8.self)
        )
    }

    /// The local name of a document's root, whatever the rest of it is.
    static func rootName(of document: [UInt8]) -> String? {
        var scanner = XMLScanner(document)
        return (try? scanner.opening()).flatMap(\.self).map { parts(of: $0.name, in: document).name }
    }

    func first(_ name: String) -> XMLElement? {
        children.first { $0.name == name }
    }

    func all(_ name: String) -> some Sequence<XMLElement> {
        children.lazy.filter { $0.name == name }
    }

    /// The text of the child with this name; `nil` where there is none.
    subscript(name: String) -> String? { first(name)?.text }

    /// As the subscript.
    func required(_ name: String) throws(InvalidReply) -> String {
        guard let text = self[name] else { throw InvalidReply(reason: "its XML has no <\(name)>") }
        return text
    }

    /// The text of an element that has nothing else.
    var onlyText: String? { children.isEmpty ? text : nil }

    /// The children by name, where there is nothing else but blanks, and none twice.
    /// - Parameter names: all that may be there.
    func onlyChildren(_ names: String...) -> [String: XMLElement]? {
        guard text.utf8.allSatisfy(XMLScanner.isBlank) else { return nil }
        var found: [String: XMLElement] = [:]
        for child in children {
            guard names.contains(child.name), child.space == space, found[child.name] == nil else { return nil }
            found[child.name] = child
        }
        return found
    }
}

/// Cuts XML (1.0, fifth edition) at its markup and keeps the bytes: what is written back has to be what was read, to the
/// byte, which no parser that builds values gives.
struct XMLScanner {
    enum Token: Hashable {
        /// Between markup, with its references as they are.
        case text(Range<Int>)
        /// What is inside a CDATA section.
        case data(Range<Int>)
        /// A comment, an instruction or a declaration.
        case aside
        case open(Opening)
        case close(name: Range<Int>)
    }

    /// A tag that begins an element, or is one by itself.
    struct Opening: Hashable {
        /// Of its `<`.
        let start: Int
        let name: Range<Int>
        let hasAttributes: Bool
        let isEmpty: Bool
    }

    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// `nil` at the end.
    mutating func next() throws(InvalidReply) -> Token? {
        guard offset < bytes.count else { return nil }
        guard bytes[offset] == UInt8(ascii: "<") else {
            let start = offset
            offset = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            return .text(start..<offset)
        }
        if takes("<!--") {
            _ = try take(to: "-->")
            return .aside
        }
        if takes("<![CDATA[") { return .data(try take(to: "]]>")) }
        if takes("<?") {
            _ = try take(to: "?>")
            return .aside
        }
        if takes("<!") {
            try skipDeclaration()
            return .aside
        }
        return try tag()
    }

    /// The tag of the document's root; `nil` where there is none.
    mutating func opening() throws(InvalidReply) -> Opening? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if offset == 0, bytes.starts(with: mark) { offset = mark.count }
        while let token = try next() {
            switch token {
            case .aside: continue
            case .text(let range) where bytes[range].allSatisfy(Self.isBlank): continue
            case .open(let opening): return opening
            case .text, .data: throw InvalidReply(reason: "it has no XML")
            case .close: throw InvalidReply(reason: "its XML begins with a closing tag")
            }
        }
        return nil
    }

    private mutating func takes(_ mark: StaticString) -> Bool {
        let isThere = mark.withUTF8Buffer { bytes[offset...].starts(with: $0) }
        if isThere { offset += mark.utf8CodeUnitCount }
        return isThere
    }

    /// - Returns: what comes before `mark`.
    private mutating func take(to mark: String) throws(InvalidReply) -> Range<Int> {
        guard let found = bytes[offset...].firstRange(of: Array(mark.utf8)) else { throw Self.cutShort }
        defer { offset = found.upperBound }
        return offset..<found.lowerBound
    }

    /// `<!DOCTYPE … [ … ]>`, with quotes and brackets inside.
    private mutating func skipDeclaration() throws(InvalidReply) {
        var depth = 0
        while true {
            switch try takeByte() {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""): _ = try take(to: "\"")
            case UInt8(ascii: "'"): _ = try take(to: "'")
            case UInt8(ascii: "<") where takes("!--"): _ = try take(to: "-->")
            case UInt8(ascii: ">") where depth == 0: return
            default: break
            }
        }
    }

    /// From the `<` on. A value of an attribute may hold a `>`.
    private mutating func tag() throws(InvalidReply) -> Token {
        let begin = offset
        offset += 1
        let isClosing = takes("/")
        let start = offset
        offset = bytes[start...].firstIndex(where: Self.endsName) ?? bytes.count
        let name = start..<offset
        guard !name.isEmpty else { throw InvalidReply(reason: "a tag in its XML has no name") }
        var hasAttributes = false
        var last = UInt8(ascii: " ")
        while true {
            let byte = try takeByte()
            // A slash ends a tag that is an element by itself, and stands nowhere else: who cuts it off finds no other.
            guard last != UInt8(ascii: "/") || byte == UInt8(ascii: ">") && !isClosing else {
                throw InvalidReply(reason: "a tag in its XML has a slash in the middle")
            }
            switch byte {
            case UInt8(ascii: "\""): _ = try take(to: "\"")
            case UInt8(ascii: "'"): _ = try take(to: "'")
            case UInt8(ascii: "<"): throw Self.cutShort
            case UInt8(ascii: ">"):
                return isClosing
                    ? .close(name: name)
                    : .open(
                        Opening(
                            start: begin, name: name, hasAttributes: hasAttributes, isEmpty: last == UInt8(ascii: "/")))
            case UInt8(ascii: "="): hasAttributes = true
            default: break
            }
            last = byte
        }
    }

    private mutating func takeByte() throws(InvalidReply) -> UInt8 {
        guard offset < bytes.count else { throw Self.cutShort }
        defer { offset += 1 }
        return bytes[offset]
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        isBlank(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "<")
    }

    static func isBlank(_ byte: UInt8) -> Bool {
        [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains(byte)
    }

    private static let cutShort = InvalidReply(reason: "its XML is cut short")
}

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
