import SyncCore
package import SystemPackage

/// Puts another store into the text of a configuration. Everything else stays as somebody has written it, and the section
/// that was there stays as a comment: the way back.
package struct StoreSwitch: Sendable {
    package struct Edit: Hashable, Sendable {
        /// A configuration that differs in the store alone; `nil` where the text is in a form that cannot be edited line by
        /// line, so that a person has to.
        package let text: String?
        /// What stands in it for the new store.
        package let section: String
        /// Permissions of the file.
        package let mode: FilePermissions
    }

    private let store: StoreSettings
    private let location: ConfigLocation

    package init(to store: StoreSettings, location: ConfigLocation) {
        self.store = store
        self.location = location
    }

    /// Reads the file, and changes nothing in it.
    /// - Parameter reason: for the comment: why, and when.
    /// - Throws: ``ConfigError`` when it is no configuration now, or does not go with the store (which would lie in a watched
    ///   folder).
    package func edit(reason: String) throws(ConfigError) -> Edit {
        let (bytes, mode) = try ConfigFile.read(location.file, ifMissing: "it is gone")
        let text = try edited(bytes, reason: reason)
        let root = (try? ConfigFile.text(bytes)).flatMap { try? ConfigDocument.parse($0) }
        let section = newSection(keeping: [], root.map(Self.values) ?? [:])
        return Edit(text: text, section: section.joined(separator: "\n"), mode: mode)
    }

    func edited(_ bytes: [UInt8], reason: String) throws(ConfigError) -> String? {
        var wanted = try ConfigFile.parse(bytes, location: location).settings
        wanted.store = store
        let plain = ConfigTemplate(user: wanted.user, store: store, watch: wanted.watch, location: location)
        _ = try ConfigFile.parse(Array(plain.text.utf8), location: location)
        guard let text = try? ConfigFile.text(bytes), let root = try? ConfigDocument.parse(text) else { return nil }
        let end = text.contains("\r\n") ? "\r\n" : "\n"
        var lines = text.split(separator: Character(end), omittingEmptySubsequences: false).map { String($0) }
        if lines.last?.isEmpty == true { lines.removeLast() }
        let range = Self.section(root, of: lines)
        var block = newSection(keeping: lines[range], Self.values(of: root))
        if range.isEmpty {
            block.insert("", at: 0)
        } else {
            block += ["", "# The store before that (\(reason)):"] + lines[range].map { "#\($0)" }
        }
        lines.replaceSubrange(range, with: block)
        let mark = bytes.utf8MarkLength > 0 ? "\u{FEFF}" : ""
        let result = mark + lines.joined(separator: end) + end
        let after = try? ConfigFile.parse(Array(result.utf8), location: location).settings
        return after == wanted ? result : nil
    }

    /// The lines of the section, without what follows it; empty, and at the end, where there is none.
    private static func section(_ root: ConfigNode, of lines: [String]) -> Range<Int> {
        guard case .section(let entries) = root.content,
            let index = entries.firstIndex(where: { $0.name == "store" })
        else { return lines.count..<lines.count }
        let first = entries[index].line - 1
        let next = entries.map(\.line).filter { $0 > first + 1 }.min().map { $0 - 1 } ?? lines.count
        guard lines.indices.contains(first), next > first else { return lines.count..<lines.count }
        // Comments before the next key are about that one.
        let last = lines[first..<next].lastIndex { line in
            let isComment = line.drop { $0 == " " || $0 == "\t" }.first == "#"
            return !line.allSatisfy(\.isWhitespace) && (!isComment || line.first != "#")
        }
        return first..<(last ?? first) + 1
    }

    /// The values of the section, in whatever form it is written.
    private static func values(of root: ConfigNode) -> [String: String] {
        guard case .section(let sections) = root.content,
            case .section(let entries)? = sections.first(where: { $0.name == "store" })?.value.content
        else { return [:] }
        return entries.reduce(into: [:]) { values, entry in
            guard case .text(let text, let isPlain) = entry.value.content else { return }
            values[entry.name] = isPlain ? text : YAMLText.scalar(text)
        }
    }

    /// - Parameters:
    ///   - old: the lines of the old section, as somebody has written them.
    ///   - known: its values, where they are no lines of their own.
    private func newSection(keeping old: ArraySlice<String>, _ known: [String: String]) -> [String] {
        let values = ConfigTemplate.values(of: store, location)
        let keys = ConfigKeys.all.filter { $0.section == "store" }
        var lines = ["store:"]
        for key in keys {
            if let value = values[key.path] { lines.append("  \(key.name): \(value)") }
        }
        // In braces, a line is no entry by itself.
        let own = old.first?.contains("{") ?? true ? [] : old
        // What goes with every store.
        for key in keys where key.traits.store == nil && values[key.path] == nil {
            let line = own.first { $0.first == " " && $0.drop { $0 == " " }.hasPrefix("\(key.name):") }
            if let line {
                lines.append("  \(line.drop { $0 == " " })")
            } else if let value = known[String(key.name)] {
                lines.append("  \(key.name): \(value)")
            }
        }
        return lines
    }
}
