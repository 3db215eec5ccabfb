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
        guard root.text.utf8.allSatisfy(\.isBlank) else {
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

extension LifecycleRule {
    /// - Parameters:
    ///   - document: where the element stands.
    ///   - space: that of the root's name.
    init(_ element: XMLElement, in document: [UInt8], space: String, names: LifecycleRuleNames) {
        let wire = element.name == "Rule" ? element.first("ID")?.onlyText ?? "" : ""
        guard let id = names.ours(wire) else {
            self.init(id: names.foreign(wire), content: .foreign(element.source(in: document)))
            return
        }
        guard element.isPlain, element.space == space, let own = TierRule(element, below: names.prefix) else {
            // Somebody has changed one of ours.
            self.init(id: id, content: .foreign(element.source(in: document)))
            return
        }
        self.init(id: id, content: .own(own))
    }
}

extension XMLElement {
    fileprivate func source(in document: [UInt8]) -> String {
        String(decoding: document[range], as: UTF8.self)
    }
}

extension TierRule {
    /// What is told by one number of days: its element, the one in that which has the number, and the number here.
    private static var ages: [(element: String, days: String, value: WritableKeyPath<TierRule, Int?>)] {
        [
            ("Expiration", "Days", \.expireAfterDays),
            ("NoncurrentVersionExpiration", "NoncurrentDays", \.expireEarlierAfterDays),
            ("AbortIncompleteMultipartUpload", "DaysAfterInitiation", \.abortUploadsAfterDays),
        ]
    }

    /// `nil` for a rule that says anything else, or more.
    fileprivate init?(_ element: XMLElement, below storePrefix: String) {
        guard
            let parts = element.onlyChildren(
                "ID", "Filter", "Prefix", "Status", "Transition", "Expiration", "NoncurrentVersionExpiration",
                "AbortIncompleteMultipartUpload"),
            parts["Status"]?.onlyText == "Enabled", let filter = Filter(parts),
            let prefix = filter.prefix.below(storePrefix)
        else { return nil }
        self.init(prefix: prefix, largerThan: filter.largerThan)
        if let part = parts["Transition"] {
            guard let transition = Transition(part) else { return nil }
            self.transition = transition
        }
        for age in Self.ages {
            guard let part = parts[age.element] else { continue }
            guard let days = part.onlyChildren(age.days)?[age.days]?.number else { return nil }
            self[keyPath: age.value] = Int(days)
        }
    }

    /// Ceph writes a filter that is only a prefix in the old form: `<Prefix>` without `<Filter>`.
    private struct Filter {
        var prefix: String
        var largerThan: Int64?

        init?(_ parts: [String: XMLElement]) {
            switch (parts["Filter"], parts["Prefix"]) {
            case (nil, let prefix?):
                guard let text = prefix.onlyText else { return nil }
                self.prefix = text
            case (let filter?, nil):
                guard let terms = filter.onlyChildren("Prefix", "ObjectSizeGreaterThan", "And") else { return nil }
                guard let found = Self.allTerms(terms), let text = found["Prefix"].map(\.onlyText) ?? "" else {
                    return nil
                }
                prefix = text
                if let size = found["ObjectSizeGreaterThan"] {
                    guard let number = size.number else { return nil }
                    largerThan = number
                }
            default:
                return nil
            }
        }

        private static func allTerms(_ terms: [String: XMLElement]) -> [String: XMLElement]? {
            guard let both = terms["And"] else { return terms }
            return terms.count == 1 ? both.onlyChildren("Prefix", "ObjectSizeGreaterThan") : nil
        }
    }
}

extension TierRule.Transition {
    fileprivate init?(_ element: XMLElement) {
        guard
            let parts = element.onlyChildren("Days", "StorageClass"), let days = parts["Days"]?.number,
            let name = parts["StorageClass"]?.onlyText
        else { return nil }
        self.init(afterDays: Int(days), storageClass: StorageClass(rawValue: name))
    }
}

extension XMLElement {
    fileprivate var number: Int64? {
        guard let text = onlyText, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text)
    }
}

extension TierRule {
    /// The rule as PutBucketLifecycleConfiguration takes it (S3 API Reference), its elements in the order of the schema.
    /// - Parameters:
    ///   - id: the one in the bucket.
    ///   - storePrefix: put before the rule's own.
    ///   - space: what each name gets before a colon; empty for none.
    func document(id: String, below storePrefix: String, space: String) -> String {
        let tag = { (name: String, content: String) in
            let name = space.isEmpty ? name : "\(space):\(name)"
            return "<\(name)>\(content)</\(name)>"
        }
        var parts = [
            tag("ID", id.xmlEscaped), tag("Filter", filter(below: storePrefix, tag)), tag("Status", "Enabled"),
        ]
        if let transition {
            let days = tag("Days", "\(transition.afterDays)")
            let storageClass = tag("StorageClass", transition.storageClass.rawValue.xmlEscaped)
            parts.append(tag("Transition", days + storageClass))
        }
        for age in Self.ages {
            if let days = self[keyPath: age.value] { parts.append(tag(age.element, tag(age.days, "\(days)"))) }
        }
        return tag("Rule", parts.joined())
    }

    /// `And` only around two terms. A rule for all says so with an empty prefix, which more stores take than no term.
    private func filter(below storePrefix: String, _ tag: (String, String) -> String) -> String {
        let prefix = storePrefix + self.prefix
        guard let largerThan else { return tag("Prefix", prefix.xmlEscaped) }
        let size = tag("ObjectSizeGreaterThan", "\(largerThan)")
        return prefix.isEmpty ? size : tag("And", tag("Prefix", prefix.xmlEscaped) + size)
    }
}

/// How our rules are called in a bucket, where other people's rules may be, and those of other installations of ours: all
/// of them begin with `sync-agent-`, and those of a store with a prefix end with it.
package struct LifecycleRuleNames: Hashable, Sendable {
    /// Characters of an ID (S3 API Reference, `LifecycleRule`).
    package static let longest = 255
    private static let mark = "sync-agent-"

    /// The store's own; ends with `/`, or is empty.
    package let prefix: String

    /// The ID in the bucket.
    package func wire(_ id: String) -> String { id + suffix }

    /// The ID as the rest of the program knows it; `nil` for a rule that is not this store's.
    package func ours(_ wire: String) -> String? {
        guard wire.hasPrefix(Self.mark), wire.hasSuffix(suffix) else { return nil }
        // In the eyes of a store without a prefix, a rule of one that has a prefix.
        if prefix.isEmpty, wire.hasSuffix("/") { return nil }
        return String(wire.dropLast(suffix.count))
    }

    /// The ID of a rule of somebody else. It must not pass for one of ours, as that of a store without a prefix would.
    package func foreign(_ wire: String) -> String {
        wire.hasPrefix(Self.mark) && !wire.hasSuffix("/") ? "\(wire) in /" : wire
    }

    private var suffix: String { prefix.isEmpty ? "" : " in \(prefix)" }
}
