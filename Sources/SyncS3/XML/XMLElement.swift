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
