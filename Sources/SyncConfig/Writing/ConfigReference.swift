/// What `config reference` prints: every key there is.
package enum ConfigReference {
    /// One key, for JSON.
    package struct Entry: Hashable, Sendable, Encodable {
        /// `upload.batch_size`; `watch[].path` for a key of each entry of a list.
        package let key: String
        package let type: String
        /// As YAML, `null` where the key is optional and has no value of its own; `nil` when the key is required.
        package let `default`: String?
        package let accepted: String
        package let meaning: String

        private enum CodingKeys: CodingKey {
            case key, type, `default`, accepted, meaning
        }

        /// Writes `default` as null where there is none: the fields are always the same.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(key, forKey: .key)
            try container.encode(type, forKey: .type)
            try container.encode(self.default, forKey: .default)
            try container.encode(accepted, forKey: .accepted)
            try container.encode(meaning, forKey: .meaning)
        }
    }

    /// All keys, in the order of the file that `init` writes.
    package static let entries: [Entry] = ConfigKeys.all.map { key in
        Entry(
            key: key.path, type: key.type, default: key.defaultText, accepted: key.accepted, meaning: meaning(of: key))
    }

    /// The same for people: 80 columns, with a newline at the end.
    package static var text: String {
        var lines = Paragraph.lines(
            "The configuration is a YAML file: --config FILE, else SYNC_AGENT_CONFIG, else "
                + "$XDG_CONFIG_HOME/sync-agent/config.yaml, else ~/.config/sync-agent/config.yaml. Unknown keys and "
                + "values that are not accepted are errors. A key that is left out has its default.")
        var section: Substring = ""
        for key in ConfigKeys.all {
            if key.section != section, let meaning = ConfigSections.meaning(of: key.section) {
                section = key.section
                lines += ["", "\(section.prefix { $0 != "[" }.uppercased()): \(meaning)"]
            }
            let fallback = key.defaultText.map { $0 == "null" ? "optional" : "default \($0)" } ?? "required"
            lines += ["", key.path, "  \(key.type), \(fallback)"]
            lines += Paragraph.lines("Accepted: \(key.accepted).", prefix: "  ")
            lines += Paragraph.lines(meaning(of: key), prefix: "  ")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func meaning(of key: KeyDescription) -> String {
        let store = key.traits.store.map { " Only for a store of type \($0.rawValue)." } ?? ""
        return key.meaning + store
    }
}

/// Breaks text into lines.
enum Paragraph {
    /// Lines of at most `width` columns, `prefix` included; a word that is longer stands alone on its line.
    static func lines(_ text: String, prefix: String = "", width: Int = 80) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, prefix.count + line.count + 1 + word.count > width {
                lines.append(prefix + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [prefix + line]
    }
}
