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
            // The encoding is given, because Yams's default asks the environment and prints to stdout.
            root = try Parser(yaml: text, encoding: .utf8).singleRoot()
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
            // Yams gives quoted texts the tag of a text.
            let tag = scalar.tag.description
            guard ["", "!", Tag.Name.str.rawValue].contains(tag) else {
                // Only those of YAML are told by name: a password may begin with "!".
                let shown = Tag.known.contains(tag) ? " \"\(tag)\"" : ""
                throw ConfigProblem(
                    line: line,
                    message: "the type tag\(shown) has no meaning here; remove it, or put quotes around the text")
            }
            return ConfigNode(line: line, content: .text(scalar.string, isPlain: scalar.style == .plain))
        case .sequence(let sequence):
            var items: [ConfigNode] = []
            for item in sequence { items.append(try convert(item, budget: &budget)) }
            return ConfigNode(line: line, content: .list(items))
        case .mapping(let mapping):
            var entries: [ConfigNode.Entry] = []
            for (key, value) in mapping {
                let keyLine = key.mark?.line ?? line
                guard case .scalar(let name) = key else {
                    throw ConfigProblem(line: keyLine, message: "the name of a key has to be plain text")
                }
                let converted = try convert(value, budget: &budget)
                entries.append(ConfigNode.Entry(name: name.string, line: keyLine, value: converted))
            }
            return ConfigNode(line: line, content: .section(entries))
        case .alias:
            throw ConfigProblem(line: line, message: "undefined alias")
        }
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
        return ["", "~", "null", "Null", "NULL"].contains(text)
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
