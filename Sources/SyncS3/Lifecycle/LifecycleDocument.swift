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

    /// - Throws: ``InvalidReply`` unless every byte of it is understood as markup.
    package init(_ body: [UInt8], names: LifecycleRuleNames) throws(InvalidReply) {
        let root = try XMLElement(document: body, root: Self.root, keepsReferences: true)
        guard root.text.utf8.allSatisfy(XMLScanner.isBlank) else {
            throw InvalidReply(reason: "its XML has text between the rules")
        }
        self.names = names
        rules = root.children.map { LifecycleRule($0, in: body, space: root.space, names: names) }
        space = root.space
        let head = String(decoding: body[..<root.inside.lowerBound], as: UTF8.self)
        let tail = String(decoding: body[root.inside.upperBound...], as: UTF8.self)
        let isOneTag = root.inside.upperBound == root.range.upperBound
        self.head = isOneTag ? head.dropLast(2) + ">" : head
        self.tail = isOneTag ? "</\(space.isEmpty ? "" : space + ":")\(root.name)>" + tail : tail
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
}
