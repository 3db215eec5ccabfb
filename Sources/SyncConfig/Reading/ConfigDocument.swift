import SyncCore
import Yams

/// YAML text to ``ConfigNode``. The only place that knows Yams.
enum ConfigDocument {
    /// A configuration has some forty keys. An alias that multiplies itself ends here instead of in all of memory.
    private static let maximumNodes = 10_000

    /// - Throws: the one problem that makes the text unreadable: invalid YAML, a key given twice, a second document.
    static func parse(_ text: String) throws(ConfigProblem) -> ConfigNode {
        let root: Node?
        do {
            // The encoding is given, because Yams's default asks the environment and prints to stdout; the resolver, because
            // its default compiles regular expressions, and the constructor, because its default makes tables: for types
            // that nobody here asks for.
            let constructor = Constructor([:], [:], [:])
            root = try Parser(yaml: text, resolver: .basic, constructor: constructor, encoding: .utf8).singleRoot()
        } catch let error as YamlError {
            throw problem(for: error, in: text)
        } catch {
            throw ConfigProblem(message: "not valid YAML")
        }
        guard let root else { return ConfigNode(line: 1, content: .section([])) }
        var budget = maximumNodes
        return try convert(root, budget: &budget)
    }

    private static func convert(_ node: Node, budget: inout Int) throws(ConfigProblem) -> ConfigNode {
        let line = node.mark?.line ?? 1
        budget -= 1
        guard budget > 0 else {
            throw ConfigProblem(line: line, message: "more than \(maximumNodes) values: this is no configuration")
        }
        switch node {
        case .scalar(let scalar):
            return ConfigNode(line: line, content: .text(scalar.string, isPlain: try isPlain(scalar, line)))
        case .sequence(let sequence):
            _ = try isTagged(sequence.tag, .seq, line, else: "remove it")
            var items: [ConfigNode] = []
            for item in sequence { items.append(try convert(item, budget: &budget)) }
            return ConfigNode(line: line, content: .list(items))
        case .mapping(let mapping):
            _ = try isTagged(mapping.tag, .map, line, else: "remove it")
            var entries: [ConfigNode.Entry] = []
            for (key, value) in mapping {
                let keyLine = key.mark?.line ?? line
                guard case .scalar(let name) = key else {
                    throw ConfigProblem(line: keyLine, message: "the name of a key has to be plain text")
                }
                _ = try isTagged(name.tag, .str, keyLine, else: "remove it")
                let converted = try convert(value, budget: &budget)
                entries.append(ConfigNode.Entry(name: name.string, line: keyLine, value: converted))
            }
            return ConfigNode(line: line, content: .section(entries))
        case .alias:
            throw ConfigProblem(line: line, message: "undefined alias")
        }
    }

    /// Whether a value may be more than a text. The tag of another kind of value says that it is, also in quotes, and has to
    /// fit (YAML 1.2.2, 10.3.2).
    private static func isPlain(_ scalar: Node.Scalar, _ line: Int) throws(ConfigProblem) -> Bool {
        let tag = scalar.tag.description
        guard let fits = isFitting(scalar.string, tag) else {
            // Yams gives quoted texts the tag of a text. A plain one has it where `!!str` stands before it.
            let isText = try isTagged(scalar.tag, .str, line, else: "remove it, or put quotes around the text")
            return scalar.style == .plain && !isText
        }
        guard fits else {
            throw ConfigProblem(
                line: line, message: "the type tag \"\(tag)\" does not fit what is behind it; remove it")
        }
        return true
    }

    /// - Returns: `nil` for a tag of none of these kinds.
    private static func isFitting(_ text: String, _ tag: String) -> Bool? {
        switch tag {
        case Tag.Name.int.rawValue:
            let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
            return !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
        case Tag.Name.float.rawValue:
            return text.allSatisfy { $0.isASCIIDigit || "+-.eE".contains($0) } && Double(text) != nil
        case Tag.Name.bool.rawValue: return ConfigNode.answer(text) != nil
        case Tag.Name.null.rawValue: return ConfigNode.isNull(text)
        default: return nil
        }
    }

    /// Whether a part of the file has the tag that says what it is anyway. Any other type is refused.
    private static func isTagged(
        _ tag: Tag, _ own: Tag.Name, _ line: Int, else remedy: String
    ) throws(ConfigProblem) -> Bool {
        let written = tag.description
        if written == own.rawValue { return true }
        // None, and the one that leaves it to the reader ("!").
        if written.isEmpty || written == Tag.Name.nonSpecific.rawValue { return false }
        // Only those of YAML are told by name: a password may begin with "!".
        let shown = Tag.known.contains(written) ? " \"\(written)\"" : ""
        throw ConfigProblem(line: line, message: "the type tag\(shown) has no meaning here; \(remedy)")
    }

    private static func problem(for error: YamlError, in text: String) -> ConfigProblem {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            return invalid(problem, while: context?.text, at: mark, in: text)
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).count(where: \.isNewline) + 1 }
            return ConfigProblem(line: line, message: "not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map { ShownText.name($0).map { "\"\($0)\"" } ?? ShownText.hiddenName }
                .joined(separator: ", ")
            return ConfigProblem(
                line: context.mark.line, message: "\(names) stands more than once in this section; keep one")
        default:
            // What the library makes of these may quote the file.
            return ConfigProblem(message: "not valid YAML")
        }
    }

    private static func invalid(
        _ problem: String, while context: String?, at mark: Mark, in text: String
    ) -> ConfigProblem {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let line = lines.indices.contains(mark.line - 1) ? lines[mark.line - 1] : ""
        if line.prefix(while: { $0 == " " || $0 == "\t" }).contains("\t") {
            return ConfigProblem(
                line: mark.line, message: "not valid YAML: a tab indents this line; use spaces instead")
        }
        let hint =
            problem.hasPrefix("mapping values are not allowed")
            ? " (a text that holds \": \" needs quotes, and keys of one section the same indentation)" : ""
        let subject = context.flatMap { $0.isEmpty ? nil : " \($0):" } ?? ""
        return ConfigProblem(line: mark.line, message: "not valid YAML:\(subject) \(problem)\(hint)")
    }
}

/// A configuration as written: the YAML tree without anchors and tags, each part with its line.
struct ConfigNode: Sendable {
    enum Content: Sendable {
        /// `isPlain`: written without quotes, so that it may also mean a number, true or false, or nothing.
        case text(String, isPlain: Bool)
        case list([ConfigNode])
        case section([Entry])
    }

    struct Entry: Sendable {
        var name: String
        /// Of the name; the value may begin further down.
        var line: Int
        var value: ConfigNode
    }

    var line: Int
    var content: Content

    /// Nothing was written, or one of YAML's words for it.
    var isNull: Bool {
        guard case .text(let text, isPlain: true) = content else { return false }
        return Self.isNull(text)
    }

    static func isNull(_ text: String) -> Bool { ["", "~", "null", "Null", "NULL"].contains(text) }

    /// What YAML's words for yes and no mean; `nil` for another text.
    static func answer(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "on": true
        case "false", "no", "off": false
        default: nil
        }
    }

    /// The node in a message, where a section or a list of sections should stand.
    var summaryInsteadOfSection: String {
        guard case .text(let text, _) = content, !isNull else { return summary }
        return ShownText.value(insteadOfSection: text) == nil ? ShownText.hidden : summary
    }

    /// The node in a message: `found …`.
    var summary: String {
        switch content {
        case .list: return "a list"
        case .section: return "a section"
        case .text where isNull: return "nothing"
        case .text(let text, _) where text.contains("://") && text.contains("@"):
            return "an address with a password"
        case .text(let text, let isPlain):
            guard let shown = ShownText.value(text) else { return ShownText.hidden }
            return isPlain ? shown : "\"\(shown)\""
        }
    }
}

/// Finds the name that was probably meant.
enum NearMiss {
    /// The closest candidate, when it is close: the same but for case, `-` and `_`, or at most one slip away for
    /// every three letters.
    static func suggestion(for name: String, among candidates: [String]) -> String? {
        let wanted = simplified(name)
        let slips = max(wanted.count / 3, 1)
        let ranked = candidates.map { (name: $0, distance: distance(wanted, simplified($0))) }
        return ranked.filter { $0.distance <= slips }.min { $0.distance < $1.distance }?.name
    }

    private static func simplified(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " }
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). Quadratic: names longer
    /// than any key are not compared.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        guard max(left.count, right.count) <= 64, !left.isEmpty, !right.isEmpty else { return .max }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, beforeLast[column - 2] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}

extension Tag {
    /// https://yaml.org/type/
    fileprivate static let known: Set<String> = Set(
        ["binary", "bool", "float", "int", "map", "merge", "null", "omap", "pairs", "seq", "set", "str", "timestamp"]
            .map { "tag:yaml.org,2002:\($0)" })
}

/// What of a configuration may be repeated in an error. The file holds secrets in some places, and by mistake in any:
/// what is shown is what cannot be one, and the rest is not, whatever it is.
enum ShownText {
    static let hidden = "a value that is not shown here"
    static let hiddenName = "a name that is not shown here"

    /// - Returns: `nil` for what may be, or hold, a password, a key or a token.
    static func value(_ text: String) -> String? {
        guard !names(aSecret: text), text.split(whereSeparator: \.isWhitespace).count < 3, isHarmless(text) else {
            return nil
        }
        return (text.count > 60 ? "\(text.prefix(59))…" : text).escapingControls
    }

    /// What stands where a section or a list of them should: nothing was asked for there, so that only what is surely no
    /// secret is told, a number, a yes or no, a path.
    static func value(insteadOfSection text: String) -> String? {
        let isNumber = text.utf8.count <= 4 && text.allSatisfy { $0.isASCIIDigit || $0 == "." }
        return isNumber || ConfigNode.answer(text) != nil || isPath(text[...]) ? value(text) : nil
    }

    /// The name of a key, or the path of one. Such a name may tell of a secret, as `secret_access_key` does.
    static func name(_ text: String) -> String? {
        let isOneWord = !text.contains { $0.isWhitespace || $0 == "=" || $0 == ":" }
        // Keys of ours join words by `_`; four words joined by `-` are a passphrase.
        let isPhrase = text.split(separator: ".").contains { part in
            part.split(separator: "-").count { $0.allSatisfy(\.isLetter) } > 3
        }
        guard isOneWord || !names(aSecret: text), !isPhrase, isHarmless(text) else { return nil }
        return (text.count > 120 ? "\(text.prefix(119))…" : text).escapingControls
    }

    private static func names(aSecret text: String) -> Bool {
        let text = text.lowercased()
        return [
            "secret", "token", "passw", "passphrase", "pass ", "pass:", "pass=", "pwd", "credential", "signature",
            "authorization", "bearer", "api_key", "apikey",
            "access_key", "accesskey",
        ].contains { text.contains($0) }
    }

    private static func isHarmless(_ text: String) -> Bool {
        // Names and passwords of addresses; and `%40`, where somebody has escaped the sign.
        if text.contains("@") || text.lowercased().contains("%40") { return false }
        return text.split(whereSeparator: \.isWhitespace).allSatisfy { word in
            isPlainAddress(word) && !isKey(word)
        }
    }

    /// Whether a colon in it only parts hours from minutes, or an address from its port, and no query follows.
    private static func isPlainAddress(_ word: Substring) -> Bool {
        let parts = word.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let hasScheme = parts.count == 2
        if hasScheme, word.contains(where: { "?#&=".contains($0) }) { return false }
        let authority = (parts.last ?? word).prefix { $0 != "/" }
        let colons = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard colons.count == 2 else { return colons.count == 1 }
        let (host, port) = (colons[0], colons[1])
        guard port.allSatisfy(\.isASCIIDigit), port.count <= 5 else { return false }
        // `ana:1234` is no host with a port, and may be what somebody signs in with.
        return hasScheme || host.allSatisfy(\.isASCIIDigit) || host.contains(".") || host == "localhost"
            || isOffset(host)
    }

    /// Whether it is the hours of a clock's offset: `+02`, `UTC-3`.
    private static func isOffset(_ hours: Substring) -> Bool {
        let isZone = ["UTC", "GMT"].contains { hours.hasPrefix($0) }
        let signed = isZone ? hours.dropFirst(3) : hours
        guard let sign = signed.first, "+-−".contains(sign) else { return false }
        return (2...3).contains(signed.count) && signed.dropFirst().allSatisfy(\.isASCIIDigit)
    }

    private static func isPath(_ word: Substring) -> Bool {
        ["/", "~/", "./", "../"].contains { word.hasPrefix($0) }
    }

    /// Whether a piece of it looks as passwords, keys and tokens do: of letters and digits, and no words. In paths that is
    /// what files are called.
    private static func isKey(_ word: Substring) -> Bool {
        let isMixed = { (piece: Substring) in
            piece.contains(where: \.isASCIIDigit) && piece.contains(where: \.isLetter)
        }
        let pieces = word.split { !$0.isLetter && !$0.isASCIIDigit }
        let shortest = isPath(word) ? 16 : 6
        if pieces.contains(where: { $0.count >= shortest && isMixed($0) }) { return true }
        if word.count >= 32, word.allSatisfy(\.isHexDigit) { return true }
        // A secret key of AWS has 40 characters, `/` and `+` among them; a path begins with its own.
        guard word.count >= 32, !["/", "~", "."].contains(word.first) else { return false }
        return word.contains(where: \.isUppercase) && word.contains(where: \.isLowercase) && isMixed(word)
            && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+/=".contains($0)) }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
