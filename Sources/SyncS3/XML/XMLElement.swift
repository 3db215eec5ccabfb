import SyncCore

/// One element of an XML document (1.0, fifth edition): where it stands, and what it says. Names are local ones: a prefix
/// of a namespace is kept, and not looked up. For documents of some lines; a long one is read by ``XMLScanner``.
struct XMLElement {
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

    /// The root of a whole document, as ``XMLScanner/root(_:or:)`` begins it.
    /// - Parameters:
    ///   - variant: another name of the root, that some store writes.
    ///   - keepsReferences: whether it may hold references that are not known: it is written back as it is.
    init(
        document: [UInt8], root: String, or variant: String? = nil, keepsReferences: Bool = false
    ) throws(InvalidReply) {
        var scanner = XMLScanner(document)
        let opening = try scanner.root(root, or: variant)
        try self.init(&scanner, opening, depth: 0)
        guard isResolved || keepsReferences else { throw XMLScanner.unknownReference }
        try scanner.finish()
    }

    /// Reads on behind an opening tag.
    private init(_ scanner: inout XMLScanner, _ opening: XMLScanner.Opening, depth: Int) throws(InvalidReply) {
        guard depth < XMLScanner.greatestDepth else { throw XMLScanner.tooDeep }
        let start = scanner.offset
        var end = start
        var (isPlain, isResolved) = (!opening.hasAttributes, true)
        var text = ""
        var children: [XMLElement] = []
        reading: while !opening.isEmpty {
            end = scanner.offset
            switch try scanner.next() {
            case nil:
                throw XMLScanner.cutShort
            case .close(let name):
                try scanner.requireEnd(name, of: opening)
                break reading
            case .open(let opening):
                let child = try XMLElement(&scanner, opening, depth: depth + 1)
                isPlain = isPlain && child.isPlain
                isResolved = isResolved && child.isResolved
                children.append(child)
            case .text(let range):
                let resolved = scanner.bytes.xmlText(in: range)
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
        space = scanner.space(of: opening)
        name = scanner.name(of: opening)
        self.isPlain = isPlain && isResolved
        self.isResolved = isResolved
        self.text = text
        self.children = children
    }

    /// The local name of a document's root, whatever the rest of it is.
    static func rootName(of document: [UInt8]) -> String? {
        var scanner = XMLScanner(document)
        return (try? scanner.opening()).flatMap(\.self).map { scanner.name(of: $0) }
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
        guard text.utf8.allSatisfy(\.isBlank) else { return nil }
        var found: [String: XMLElement] = [:]
        for child in children {
            guard names.contains(child.name), child.space == space, found[child.name] == nil else { return nil }
            found[child.name] = child
        }
        return found
    }
}
