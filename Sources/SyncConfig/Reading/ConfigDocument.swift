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
                let shown = ShownText.value(tag) ?? "!…"
                throw ConfigProblem(
                    line: line, message: "the type tag \"\(shown)\" has no meaning here; remove it")
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
