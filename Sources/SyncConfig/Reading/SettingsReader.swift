import SyncCore
import SystemPackage

/// Reads values by key and collects everything that is wrong, so that one run shows it all.
///
/// A value that is missing or refused is replaced by the key's default: reading goes on, and the problem is noted.
/// Nothing that was read counts when ``problems`` is not empty.
struct SettingsReader {
    let location: ConfigLocation
    private(set) var problems: [ConfigProblem] = []
    /// Values by the path that messages show: `upload.batch_size`, `watch[1].path`.
    private var values: [String: ConfigNode] = [:]
    /// The lines of the entries of each list.
    private var entries: [String: [Int]] = [:]

    init(_ root: ConfigNode, location: ConfigLocation) {
        self.location = location
        guard !root.isNull else { return }
        collect(root, path: "", schema: "")
    }

    mutating func add(_ message: String, at path: String, line: Int? = nil) {
        problems.append(ConfigProblem(path: path, line: line ?? values[path]?.line, message: message))
    }

    func line(of path: String) -> Int? { values[path]?.line }

    /// Lines of the entries of a list; empty when it is not there.
    func entryLines(of list: String) -> [Int] { entries[list] ?? [] }

    /// Whether a key is there with a value.
    func isSet(_ path: String) -> Bool { values[path].map { !$0.isNull } ?? false }

    /// The value of a key, or its default.
    /// - Parameter entry: which entry of the list, for a key below `[]`.
    mutating func value<Value>(_ key: ConfigKey<Value>, entry: Int? = nil) -> Value {
        accepted(key, entry: entry) ?? key.fallback
    }

    /// The absolute path that a key gives, or its default; `nil` when it was refused.
    mutating func path(_ key: ConfigKey<String>, entry: Int? = nil) -> FilePath? {
        let knownProblems = problems.count
        let text = value(key, entry: entry)
        guard problems.count == knownProblems else { return nil }
        return resolve(text, of: Self.path(key.path, entry: entry), accepted: key.kind.accepted)
    }

    /// The same for a key that may have none.
    mutating func optionalPath(_ key: ConfigKey<String?>) -> FilePath? {
        value(key).flatMap { resolve($0, of: key.path, accepted: key.kind.accepted) }
    }

    /// The path in messages: `watch[1].kind` for entry 1 of `watch[].kind`.
    static func path(_ schema: String, entry: Int?) -> String {
        guard let entry, let bracket = schema.firstIndex(of: "]") else { return schema }
        return String(schema[..<bracket]) + "\(entry)" + String(schema[bracket...])
    }

    private mutating func accepted<Value>(_ key: ConfigKey<Value>, entry: Int?) -> Value? {
        let path = Self.path(key.path, entry: entry)
        guard let node = values[path] else {
            // An entry that is no section was told already; what it lacks would be noise.
            let parent = path.prefix(upTo: path.lastIndex(of: ".") ?? path.startIndex)
            if key.isRequired, parent.isEmpty || !problems.contains(where: { $0.path == parent }) {
                let line = entry.flatMap { entryLines(of: String(key.path.prefix { $0 != "[" }))[$0] }
                add("is missing; it takes \(key.kind.accepted)", at: path, line: line)
            }
            return nil
        }
        if node.isNull, !key.kind.takesNull {
            let instead = key.isRequired ? "" : ", or no such line for \(key.kind.render(key.fallback))"
            add("has no value; accepted: \(key.kind.accepted)\(instead)", at: path)
            return nil
        }
        do {
            return try key.kind.read(node)
        } catch {
            let found = key.traits.isSecret ? ShownText.hidden : node.summary
            refuse(found, at: path, accepted: key.kind.accepted, reason: error.reason)
            return nil
        }
    }

    private mutating func resolve(_ text: String, of path: String, accepted: String) -> FilePath? {
        do {
            return try location.resolve(text)
        } catch {
            refuse(values[path]?.summary ?? ShownText.hidden, at: path, accepted: accepted, reason: error.reason)
            return nil
        }
    }

    private mutating func refuse(_ found: String, at path: String, accepted: String, reason: String?) {
        // A key that does not belong here was told so already.
        guard !problems.contains(where: { $0.path == path }) else { return }
        add("found \(found); accepted: \(accepted)" + (reason.map { " (\($0))" } ?? ""), at: path)
    }

    // Walks what is written against what may be written.
    private mutating func collect(_ section: ConfigNode, path: String, schema: String) {
        guard case .section(let written) = section.content else {
            let names = KeyTree.names(in: schema).joined(separator: ", ")
            add(
                "found \(section.summaryInsteadOfSection); accepted: a section with the keys \(names)", at: path,
                line: section.line)
            return
        }
        for entry in written {
            let childPath = path.isEmpty ? entry.name : "\(path).\(entry.name)"
            let childSchema = schema.isEmpty ? entry.name : "\(schema).\(entry.name)"
            // "store.type" is a path, and no name.
            switch KeyTree.isName(entry.name) ? KeyTree.shape(of: childSchema) : nil {
            case .leaf: values[childPath] = entry.value
            case .section where entry.value.isNull: break
            case .section: collect(entry.value, path: childPath, schema: childSchema)
            case .list where entry.value.isNull: break
            case .list: collectList(entry.value, path: childPath, schema: childSchema)
            case nil: add(Self.unknown(entry.name, in: schema), at: childPath, line: entry.line)
            }
        }
    }

    private mutating func collectList(_ list: ConfigNode, path: String, schema: String) {
        guard case .list(let items) = list.content else {
            let names = KeyTree.names(in: schema + "[]").joined(separator: ", ")
            add(
                "found \(list.summaryInsteadOfSection); accepted: a list, each entry with the keys \(names)", at: path,
                line: list.line)
            return
        }
        entries[path] = items.map(\.line)
        for (index, item) in items.enumerated() {
            collect(item, path: "\(path)[\(index)]", schema: schema + "[]")
        }
    }

    private static func unknown(_ name: String, in schema: String) -> String {
        let siblings = KeyTree.names(in: schema)
        if let near = NearMiss.suggestion(for: name, among: siblings) {
            return "there is no such key; did you mean \"\(near)\"?"
        }
        if let key = ConfigKeys.all.first(where: { $0.path == name }), !key.section.isEmpty {
            return "there is no such key; write \"\(key.name)\" indented below \"\(key.section):\""
        }
        let homes = KeyTree.sections(with: name).map { $0.isEmpty ? "the top of the file" : "\"\($0)\"" }
        if !homes.isEmpty {
            return "there is no such key here; \"\(name)\" belongs to \(homes.joined(separator: " or "))"
        }
        return "there is no such key; accepted: \(siblings.joined(separator: ", "))"
    }
}

/// Which folders may be watched together. Compares paths as they are written: a symbolic link is not followed.
struct FolderRules {
    struct Folder {
        var path: FilePath
        var kind: WatchedFolder.Kind
        /// Which entry of `watch`, from 0.
        var entry: Int
    }

    var folders: [Folder]
    /// Folders that would be uploaded into themselves, with what they are.
    var reserved: [(path: FilePath, name: String)]

    /// What is wrong, each with the entry of `watch` that it concerns.
    var violations: [(entry: Int, message: String)] {
        var found: [(entry: Int, message: String)] = []
        for (index, folder) in folders.enumerated() {
            for other in folders[..<index] {
                if let relation = Self.relation(of: folder.path, to: other.path) {
                    found.append(
                        (folder.entry, "\(relation) watch[\(other.entry)]; a photo may be in one watched folder only"))
                }
            }
            if folder.kind == .projects, let first = folders[..<index].first(where: { $0.kind == .projects }) {
                found.append(
                    (
                        folder.entry,
                        "is a second folder of kind projects, beside watch[\(first.entry)]; both would be stored under the "
                            + "same keys, so there may be one only"
                    ))
            }
            for (path, name) in reserved {
                if let relation = Self.relation(of: folder.path, to: path) {
                    found.append(
                        (folder.entry, "\(relation) \(name), \(path); the agent would upload its own files"))
                }
            }
        }
        return found
    }

    private static func relation(of path: FilePath, to other: FilePath) -> String? {
        if path == other { return "is the same folder as" }
        if path.starts(with: other) { return "lies inside" }
        if other.starts(with: path) { return "holds" }
        return nil
    }
}
