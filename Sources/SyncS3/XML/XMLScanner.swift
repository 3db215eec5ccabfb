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
