import Glibc
import SyncCore

/// What the store sent is no reply to what it was asked.
package struct InvalidReply: Error, Hashable {
    package let reason: String
}

/// Cuts XML (1.0, fifth edition) at its markup and keeps the bytes: what is written back has to be what was read, to the
/// byte, which no parser that builds values gives. A page of a listing has 12,000 tags and is read without a value for
/// each.
struct XMLScanner {
    /// Elements inside each other. A lifecycle document has five.
    static let greatestDepth = 64

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
        /// Behind the colon of its name, where there is one.
        let localName: Range<Int>
        let hasAttributes: Bool
        let isEmpty: Bool
    }

    let bytes: [UInt8]
    private(set) var offset = 0
    /// Whether a tag was read: behind the first, there is no declaration.
    private var hasTag = false

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Goes on as far as `read` says, which has the bytes and where it begins, and returns where it ends.
    mutating func advance(_ read: (UnsafeBufferPointer<UInt8>, Int) -> Int) {
        let start = offset
        offset = bytes.withUnsafeBufferPointer { read($0, start) }
    }

    /// `nil` at the end.
    mutating func next() throws(InvalidReply) -> Token? {
        guard offset < bytes.count else { return nil }
        guard bytes[offset] == UInt8(ascii: "<") else {
            let start = offset
            offset = bytes.firstIndex(of: UInt8(ascii: "<"), in: start..<bytes.count) ?? bytes.count
            return .text(start..<offset)
        }
        let mark = offset + 1 < bytes.count ? bytes[offset + 1] : 0
        guard mark == UInt8(ascii: "!") || mark == UInt8(ascii: "?") else { return try tag() }
        if takes("<!--") {
            _ = try take(to: "-->")
            return .aside
        }
        if takes("<![CDATA[") { return .data(try take(to: "]]>")) }
        if takes("<?") {
            _ = try take(to: "?>")
            return .aside
        }
        guard !hasTag else { throw Self.lateDeclaration }
        offset += 2
        try skipDeclaration()
        return .aside
    }

    /// The tag of the document's root; `nil` where there is none.
    mutating func opening() throws(InvalidReply) -> Opening? {
        if offset == 0 { offset = bytes.utf8MarkLength }
        while let token = try next() {
            switch token {
            case .aside: continue
            case .text(let range) where bytes[range].allSatisfy(\.isBlank): continue
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
        guard let found = bytes[offset...].firstRange(ofBytes: Array(mark.utf8)) else { throw Self.cutShort }
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

    /// From the `<` on. A value of an attribute may hold a `>`. A colon in the name has something on both sides, and is
    /// the only one (Namespaces in XML 1.0, `QName`): prefix and local name, put together again, are the name.
    private mutating func tag() throws(InvalidReply) -> Token {
        hasTag = true
        let begin = offset
        offset += 1
        let isClosing = offset < bytes.count && bytes[offset] == UInt8(ascii: "/")
        if isClosing { offset += 1 }
        let start = offset
        var local = start
        while offset < bytes.count, !Self.endsName(bytes[offset]) {
            if bytes[offset] == UInt8(ascii: ":") {
                guard offset > start, local == start else { throw Self.strayColon }
                local = offset + 1
            }
            offset += 1
        }
        let name = start..<offset
        guard !name.isEmpty else { throw InvalidReply(reason: "a tag in its XML has no name") }
        guard local < offset else { throw Self.strayColon }
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
                            start: begin, name: name, localName: local..<name.upperBound,
                            hasAttributes: hasAttributes, isEmpty: last == UInt8(ascii: "/")))
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
        byte.isBlank || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "<")
    }

    private static let strayColon = InvalidReply(reason: "the name of a tag in its XML has a colon out of place")
    private static let lateDeclaration = InvalidReply(reason: "its XML has a declaration behind its first tag")
    static let cutShort = InvalidReply(reason: "its XML is cut short")
    static let tooDeep = InvalidReply(reason: "its XML is nested too deep")
    static let unknownReference = InvalidReply(reason: "a reference in its XML is unknown")
}

/// Reading a document as it comes, one element after the other.
extension XMLScanner {
    /// Begins a whole document. XML that was cut short or has another root is no reply, whatever its status says: S3 sends
    /// 200 first and may find its error later.
    /// - Parameter variant: another name of the root, that some store writes.
    mutating func root(_ root: String, or variant: String? = nil) throws(InvalidReply) -> Opening {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw InvalidReply(reason: "its XML is not in UTF-8")
        }
        guard let opening = try opening() else {
            throw InvalidReply(reason: "its XML begins with nothing in place of <\(root)>")
        }
        let name = name(of: opening)
        guard name == root || name == variant else {
            let found = Redaction.quote(name, limit: 40)
            throw InvalidReply(reason: "its XML begins with <\(found)> in place of <\(root)>")
        }
        return opening
    }

    /// Behind the root there is nothing.
    mutating func finish() throws(InvalidReply) {
        while let token = try next() {
            switch token {
            case .aside: continue
            case .text(let range) where bytes[range].allSatisfy(\.isBlank): continue
            default: throw InvalidReply(reason: "its XML goes on behind its end")
            }
        }
    }

    /// The local name.
    func name(of element: Opening) -> String { String(decoding: nameBytes(of: element), as: UTF8.self) }

    /// The local name, for a `switch` over the names that are known.
    func nameBytes(of element: Opening) -> ArraySlice<UInt8> { bytes[element.localName] }

    /// Before the colon of its name; empty where there is none.
    func space(of element: Opening) -> String {
        String(decoding: bytes[element.name.lowerBound..<element.localName.lowerBound].dropLast(), as: UTF8.self)
    }

    func requireEnd(_ name: Range<Int>, of element: Opening) throws(InvalidReply) {
        guard areSame(name, element.name) else {
            throw InvalidReply(reason: "a tag in its XML closes another element")
        }
    }

    private func areSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        guard one.count == other.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            guard let start = UnsafeRawBufferPointer(rebasing: bytes[one]).baseAddress,
                let otherStart = UnsafeRawBufferPointer(rebasing: bytes[other]).baseAddress
            else { return true }
            return memcmp(start, otherStart, one.count) == 0
        }
    }

    /// Goes through the children of the element whose tag was read last, and on behind its end.
    /// - Parameter body: reads each child to its end, by one of these functions.
    mutating func children(
        of parent: Opening, _ body: (inout XMLScanner, Opening) throws(InvalidReply) -> Void
    ) throws(InvalidReply) {
        while let child = try child(of: parent) { try body(&self, child) }
    }

    /// - Returns: the next one, of which only the tag is read; `nil` behind the end of the parent.
    private mutating func child(of parent: Opening) throws(InvalidReply) -> Opening? {
        if parent.isEmpty { return nil }
        while let token = try next() {
            switch token {
            case .open(let child): return child
            case .close(let name):
                try requireEnd(name, of: parent)
                return nil
            case .text(let range): _ = try resolved(range)
            case .data, .aside: continue
            }
        }
        throw Self.cutShort
    }

    /// What is between the tags of the element whose tag was read last, and not in a child of it; references resolved.
    mutating func text(of element: Opening) throws(InvalidReply) -> String {
        String(decoding: try textBytes(of: element), as: UTF8.self)
    }

    /// As ``text(of:)``, in UTF-8. Almost every text is one piece without a reference: of that it is the document's own
    /// bytes.
    mutating func textBytes(of element: Opening) throws(InvalidReply) -> ArraySlice<UInt8> {
        if let piece = onlyPiece(of: element) { return try resolved(piece) }
        var text: ArraySlice<UInt8> = []
        if element.isEmpty { return text }
        while let token = try next() {
            switch token {
            case .open(let child): try skip(child)
            case .close(let name):
                try requireEnd(name, of: element)
                return text
            case .text(let range): text += try resolved(range)
            case .data(let range): text += bytes[range]
            case .aside: continue
            }
        }
        throw Self.cutShort
    }

    /// Reads on behind the end of an element that holds one piece of text and nothing else; any other is left for ``next()``.
    private mutating func onlyPiece(of element: Opening) -> Range<Int>? {
        if element.isEmpty { return nil }
        let start = offset
        guard let end = bytes.firstIndex(of: UInt8(ascii: "<"), in: start..<bytes.count) else { return nil }
        let name = end + 2..<end + 2 + element.name.count
        guard name.upperBound < bytes.count, bytes[end + 1] == UInt8(ascii: "/"), areSame(name, element.name),
            bytes[name.upperBound] == UInt8(ascii: ">")
        else { return nil }
        offset = name.upperBound + 1
        return start..<end
    }

    /// Reads on behind the end of the element whose tag was read last.
    mutating func skip(_ element: Opening) throws(InvalidReply) {
        var open = [element]
        while let last = open.last {
            guard let child = try child(of: last) else {
                open.removeLast()
                continue
            }
            guard open.count < Self.greatestDepth else { throw Self.tooDeep }
            open.append(child)
        }
    }

    private func resolved(_ range: Range<Int>) throws(InvalidReply) -> ArraySlice<UInt8> {
        guard let text = bytes.xmlBytes(in: range) else { throw Self.unknownReference }
        return text
    }
}
