package import Foundation
package import SyncCore

/// The commented configuration that `init` writes.
///
/// It has every key that this version uses: those given with their values, the others commented out with their default,
/// or with an example where they have none.
package struct ConfigTemplate: Sendable {
    package var user: String
    package var store: StoreSettings
    package var watch: [WatchedFolder]
    /// Where the file will lie: paths below the home folder are written with `~`.
    package var location: ConfigLocation
    /// Whether originals are kept.
    package var originals = OriginalsPolicy.off
    /// For times of day; `nil` leaves the default to be a default.
    package var timeZone: TimeZone?

    package init(
        user: String, store: StoreSettings, watch: [WatchedFolder], location: ConfigLocation,
        timeZone: TimeZone? = nil
    ) {
        self.timeZone = timeZone
        self.user = user
        self.store = store
        self.watch = watch
        self.location = location
    }

    /// YAML, such that ``ConfigFile/parse(_:mode:location:)`` gives the same values back: texts are quoted where that
    /// is needed. Values are not checked here: the caller parses what it is about to write.
    package var text: String {
        var lines = [
            "# The configuration of sync-agent.",
            "# Every key and what it takes:  sync-agent config reference",
            "# Is this file right?           sync-agent config check",
            "#",
            "# A line like \"#quality: 80\" shows what holds without it; to change that, take",
            "# the \"#\" away.",
            "",
        ]
        lines += Self.comment(ConfigKeys.user.meaning, indent: "")
        lines += ["user: \(YAMLText.scalar(user))"]
        let values = values
        lines += section("store", values: values)
        lines += watchLines
        for name in KeyTree.names(in: "") where !["user", "store", "watch"].contains(name) {
            lines += section(name, values: values)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What is written out, by path.
    private var values: [String: String] {
        var values = Self.values(of: store, location)
        values.set(ConfigKeys.originals, originals)
        let zone = ConfigKeys.retentionZone
        if let timeZone, timeZone.identifier != zone.fallback.identifier { values.set(zone, timeZone) }
        // The default is refused with an access point.
        if case .s3(let s3) = store, s3.isAccessPoint { values.set(ConfigKeys.tierMode, .agent) }
        return values
    }

    /// What is written out of a store, by path.
    static func values(of store: StoreSettings, _ location: ConfigLocation) -> [String: String] {
        var values: [String: String] = [:]
        switch store {
        case .directory(let directory):
            values[ConfigKeys.storeType.path] = StoreType.directory.rawValue
            values[ConfigKeys.storePath.path] = YAMLText.scalar(location.abbreviate(directory.path))
            values.set(ConfigKeys.restoreSeconds, directory.restoreDuration)
        case .s3(let s3):
            values[ConfigKeys.storeType.path] = StoreType.s3.rawValue
            values.set(ConfigKeys.bucket, s3.bucket)
            values.set(ConfigKeys.region, s3.region)
            values.set(ConfigKeys.endpoint, s3.endpoint)
            values.set(ConfigKeys.addressing, s3.addressing)
            values.set(ConfigKeys.prefix, s3.prefix)
            values.set(ConfigKeys.awsProfile, s3.profile)
            values.set(ConfigKeys.encryption, s3.encryption)
            values.set(ConfigKeys.encryptionKey, s3.encryptionKey)
            values.set(ConfigKeys.checksums, s3.checksums)
            values.set(ConfigKeys.conditionalWrites, s3.conditionalWrites)
            values.set(ConfigKeys.storageClass, s3.storageClass)
            values.set(ConfigKeys.tags, s3.tags)
            values.set(ConfigKeys.requestPayer, s3.requestPayer)
            values.set(ConfigKeys.partSize, s3.partSize)
            values.set(ConfigKeys.attempts, s3.attempts)
            values.set(ConfigKeys.dualStack, s3.dualStack)
            values.set(ConfigKeys.fips, s3.fips)
        }
        return values
    }

    private var storeType: StoreType {
        switch store {
        case .directory: .directory
        case .s3: .s3
        }
    }

    private func section(_ name: String, values: [String: String]) -> [String] {
        var body: [String] = []
        for key in ConfigKeys.all where key.section == name {
            let value = values[key.path]
            guard value != nil || (key.traits.store ?? storeType) == storeType else {
                continue
            }
            body += Self.comment(key.meaning, indent: "  ")
            body.append(value.map { "  \(key.name): \($0)" } ?? "  #\(key.name): \(key.example)")
        }
        guard !body.isEmpty else { return [] }
        return ["", "# \(ConfigSections.meaning(of: name) ?? name)", "\(name):"] + body
    }

    private var watchLines: [String] {
        var lines = ["", "# \(ConfigSections.meaning(of: "watch[]") ?? "")"]
        for key in ConfigKeys.all where key.section == "watch[]" {
            let head = "#   \(key.name): "
            let continued = "#" + String(repeating: " ", count: head.count - 1)
            let wrapped = Paragraph.lines(key.meaning, prefix: continued)
            lines += wrapped.prefix(1).map { head + $0.dropFirst(continued.count) } + wrapped.dropFirst()
        }
        lines.append(watch.isEmpty ? "watch: []" : "watch:")
        for folder in watch {
            lines.append("  - kind: \(folder.kind.rawValue)")
            lines.append("    path: \(YAMLText.scalar(location.abbreviate(folder.path)))")
            if let profile = folder.profile { lines.append("    profile: \(YAMLText.scalar(profile))") }
            if !folder.filter.lines.isEmpty {
                lines.append("    filter: \(ConfigKeys.watchFilter.kind.render(folder.filter))")
            }
        }
        return lines
    }

    private static func comment(_ text: String, indent: String) -> [String] {
        Paragraph.lines(text, prefix: indent + "# ")
    }
}

extension [String: String] {
    /// Leaves a default to be a default.
    fileprivate mutating func set<Setting: Equatable>(_ key: ConfigKey<Setting>, _ value: Setting) {
        if value != key.fallback { self[key.path] = key.kind.render(value) }
    }
}

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

/// Texts as YAML scalars.
enum YAMLText {
    /// The text such that any YAML reader gives it back: plain where nothing can be misread, else in double quotes
    /// (YAML 1.2, section 5.7, for the escapes).
    static func scalar(_ text: String) -> String {
        isSafePlain(text) ? text : quoted(text)
    }

    /// Letters and a few harmless marks, not one of YAML 1.1's words for true, false and null, and no number.
    private static func isSafePlain(_ text: String) -> Bool {
        let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        guard let first = text.unicodeScalars.first, !words.contains(text.lowercased()) else { return false }
        let mayBegin = first.isASCIILetter || (text.hasPrefix("~/") || text.hasPrefix("/"))
        let marks = "_./-~"
        return mayBegin
            && text.unicodeScalars.allSatisfy {
                $0.isASCIILetter || ("0"..."9").contains($0) || marks.unicodeScalars.contains($0)
                    || ($0 == ":" && !text.hasSuffix(":"))
            }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            default: result += isPrintable(scalar) ? String(scalar) : escaped(scalar)
            }
        }
        return result + "\""
    }

    /// What may stand unescaped (YAML 1.2, rule `c-printable`), without the line separators and the byte order mark.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E, 0xA0...0x2027, 0x202A...0xFEFE, 0xFF00...0xFFFD, 0x1_0000...0x10_FFFF: true
        default: false
        }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String { "\\u" + scalar.value.padded(to: 4, radix: 16) }
}

extension Unicode.Scalar {
    fileprivate var isASCIILetter: Bool { ("a"..."z").contains(self) || ("A"..."Z").contains(self) }
}
