/// One element of a lifecycle document: where it stands, and what it says.
struct LifecycleElement {
    /// Elements inside each other. A lifecycle document has five.
    private static let greatestDepth = 64

    /// From its first `<` to its last `>`.
    let range: Range<Int>
    /// Before the colon of its name; empty where there is none.
    let space: String
    let name: String
    /// No attribute, comment, instruction or CDATA section in it or below: its names and texts say all that it says.
    let isPlain: Bool
    /// What is between its tags and not in a child, references resolved.
    let text: String
    let children: [LifecycleElement]

    /// Reads on behind an opening tag.
    /// - Parameter start: where the tag began.
    init(
        _ scanner: inout XMLScanner, from start: Int, name tag: Range<Int>, hasAttributes: Bool, isEmpty: Bool,
        depth: Int = 0
    ) throws(XMLReply.Invalid) {
        guard depth < Self.greatestDepth else { throw XMLReply.Invalid(reason: "its XML is nested too deep") }
        var isPlain = !hasAttributes
        var text = ""
        var children: [LifecycleElement] = []
        reading: while !isEmpty {
            let begin = scanner.offset
            switch try scanner.next() {
            case nil:
                throw XMLReply.Invalid(reason: "its XML is cut short")
            case .close(let name):
                guard scanner.bytes[name] == scanner.bytes[tag] else {
                    throw XMLReply.Invalid(reason: "a tag in its XML closes another element")
                }
                break reading
            case .open(let name, let hasAttributes, let isEmpty):
                children.append(
                    try LifecycleElement(
                        &scanner, from: begin, name: name, hasAttributes: hasAttributes, isEmpty: isEmpty,
                        depth: depth + 1))
            case .text(let range):
                let raw = String(decoding: scanner.bytes[range], as: UTF8.self)
                let resolved = raw.xmlUnescaped
                isPlain = isPlain && resolved != nil
                text += resolved ?? raw
            case .data(let range):
                isPlain = false
                text += String(decoding: scanner.bytes[range], as: UTF8.self)
            case .aside:
                isPlain = false
            }
        }
        let parts = String(decoding: scanner.bytes[tag], as: UTF8.self).split(separator: ":", maxSplits: 1)
        range = start..<scanner.offset
        space = parts.count == 2 ? String(parts[0]) : ""
        name = parts.last.map(String.init) ?? ""
        self.isPlain = isPlain && children.allSatisfy(\.isPlain)
        self.text = text
        self.children = children
    }

    func first(_ name: String) -> LifecycleElement? {
        children.first { $0.name == name }
    }

    /// The text of an element that has nothing else.
    var onlyText: String? { children.isEmpty ? text : nil }

    /// The children by name, where there is nothing else but blanks, and none twice.
    /// - Parameter names: all that may be there.
    func onlyChildren(_ names: String...) -> [String: LifecycleElement]? {
        guard text.utf8.allSatisfy(XMLScanner.isBlank) else { return nil }
        var found: [String: LifecycleElement] = [:]
        for child in children {
            guard names.contains(child.name), child.space == space, found[child.name] == nil else { return nil }
            found[child.name] = child
        }
        return found
    }
}
