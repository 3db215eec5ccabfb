package import SyncCore

/// The XML of a bucket's lifecycle rules, cut at the borders of the rules and nowhere else, so that each rule that is not
/// ours goes back as it came, to the byte: with elements that we have never heard of.
///
/// What stands before the first rule (declarations, the root with its namespaces) and behind the last stays, too. Blanks
/// and comments between rules mean nothing and go.
package struct LifecycleDocument: Hashable, Sendable {
    private static let root = "LifecycleConfiguration"

    /// As they are known to the rest of the program, in their order.
    package let rules: [LifecycleRule]
    private let names: LifecycleRuleNames
    /// Up to the end of the root's opening tag.
    private let head: String
    /// From the root's closing tag on.
    private let tail: String
    /// What the root's name has before its colon: ours begin with the same.
    private let space: String

    /// Of a bucket that has no rules.
    package init(names: LifecycleRuleNames) {
        self.names = names
        rules = []
        head = "<\(Self.root) xmlns=\"\(S3Requests.namespace)\">"
        tail = "</\(Self.root)>"
        space = ""
    }

    /// - Throws: `XMLReply.Invalid` unless every byte of it is understood as markup.
    package init(_ body: [UInt8], names: LifecycleRuleNames) throws(XMLReply.Invalid) {
        guard String(validating: body, as: UTF8.self) != nil else {
            throw XMLReply.Invalid(reason: "its XML is not in UTF-8")
        }
        var scanner = XMLScanner(body)
        let opening = try Self.opening(of: &scanner)
        var rules: [LifecycleRule] = []
        var end = scanner.offset
        reading: while !opening.isEmpty {
            end = scanner.offset
            switch try scanner.next() {
            case .open(let name, let hasAttributes, let isEmpty):
                let element = try LifecycleElement(
                    &scanner, from: end, name: name, hasAttributes: hasAttributes, isEmpty: isEmpty)
                rules.append(LifecycleRule(element, in: body, space: opening.space, names: names))
            case .text(let range) where body[range].allSatisfy(XMLScanner.isBlank): break
            case .aside: break
            case .close(let name) where body[name] == body[opening.name]: break reading
            default: throw XMLReply.Invalid(reason: "its XML is cut short, or has text between the rules")
            }
        }
        try Self.checkEnd(&scanner)
        self.names = names
        self.rules = rules
        space = opening.space
        let name = String(decoding: body[opening.name], as: UTF8.self)
        let head = String(decoding: body[..<opening.end], as: UTF8.self)
        if opening.isEmpty {
            self.head = head.dropLast(2) + ">"
            tail = "</\(name)>" + String(decoding: body[opening.end...], as: UTF8.self)
        } else {
            self.head = head
            tail = String(decoding: body[end...], as: UTF8.self)
        }
    }

    /// The document with these rules in place of all that it has.
    package func text(with rules: [LifecycleRule]) -> String {
        let texts = rules.map { rule in
            switch rule.content {
            case .own(let own): own.document(id: names.wire(rule.id), below: names.prefix, space: space)
            case .foreign(let text): text
            }
        }
        return head + texts.joined() + tail
    }

    private struct Opening {
        let name: Range<Int>
        let space: String
        let end: Int
        let isEmpty: Bool
    }

    private static func opening(of scanner: inout XMLScanner) throws(XMLReply.Invalid) -> Opening {
        while let token = try scanner.next() {
            switch token {
            // Blanks, or a byte order mark.
            case .text, .aside: continue
            case .open(let name, _, let isEmpty):
                let parts = String(decoding: scanner.bytes[name], as: UTF8.self).split(separator: ":", maxSplits: 1)
                guard let local = parts.last, local == root else {
                    throw XMLReply.Invalid(reason: "its XML begins with another element than <\(root)>")
                }
                return Opening(
                    name: name, space: parts.count == 2 ? String(parts[0]) : "", end: scanner.offset, isEmpty: isEmpty)
            case .data, .close: throw XMLReply.Invalid(reason: "its XML begins with a closing tag")
            }
        }
        throw XMLReply.Invalid(reason: "it has no XML")
    }

    private static func checkEnd(_ scanner: inout XMLScanner) throws(XMLReply.Invalid) {
        while let token = try scanner.next() {
            switch token {
            case .aside: continue
            case .text(let range) where scanner.bytes[range].allSatisfy(XMLScanner.isBlank): continue
            default: throw XMLReply.Invalid(reason: "its XML goes on behind its end")
            }
        }
    }
}
