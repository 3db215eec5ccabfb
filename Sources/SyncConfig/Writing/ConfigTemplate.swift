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
        lines += section("store", values: storeValues)
        lines += watchLines
        for name in KeyTree.names(in: "") where !["user", "store", "watch"].contains(name) {
            lines += section(name, values: zoneValues)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// What is written out, by path.
    private var storeValues: [String: String] {
        var values: [String: String] = [:]
        /// Leaves a default to be a default.
        func set<Value: Equatable>(_ key: ConfigKey<Value>, _ value: Value) {
            if value != key.fallback { values[key.path] = key.kind.render(value) }
        }
        switch store {
        case .directory(let directory):
            values[ConfigKeys.storeType.path] = StoreType.directory.rawValue
            values[ConfigKeys.storePath.path] = YAMLText.scalar(location.abbreviate(directory.path))
            set(ConfigKeys.restoreSeconds, directory.restoreDuration)
        case .s3(let s3):
            values[ConfigKeys.storeType.path] = StoreType.s3.rawValue
            set(ConfigKeys.bucket, s3.bucket)
            set(ConfigKeys.region, s3.region)
            set(ConfigKeys.endpoint, s3.endpoint)
            set(ConfigKeys.addressing, s3.addressing)
            set(ConfigKeys.prefix, s3.prefix)
            set(ConfigKeys.awsProfile, s3.profile)
            set(ConfigKeys.encryption, s3.encryption)
            set(ConfigKeys.encryptionKey, s3.encryptionKey)
            set(ConfigKeys.checksums, s3.checksums)
            set(ConfigKeys.conditionalWrites, s3.conditionalWrites)
        }
        return values
    }

    private var zoneValues: [String: String] {
        let key = ConfigKeys.retentionZone
        guard let timeZone, timeZone.identifier != key.fallback.identifier else { return [:] }
        return [key.path: key.kind.render(timeZone)]
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
        }
        return lines
    }

    private static func comment(_ text: String, indent: String) -> [String] {
        Paragraph.lines(text, prefix: indent + "# ")
    }
}
