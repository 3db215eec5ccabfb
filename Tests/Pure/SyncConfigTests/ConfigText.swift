import SyncConfig
import SystemPackage

/// A configuration that the suites parse: no file is behind it.
struct ConfigText {
    static let location = ConfigLocation(
        file: "/home/ana/.config/sync-agent/config.yaml", stateFolder: "/home/ana/.local/state/sync-agent",
        home: "/home/ana")

    var text: String

    init(_ text: String) {
        self.text = text
    }

    func load(mode: FilePermissions? = nil) throws(ConfigError) -> LoadedSettings {
        try ConfigFile.parse(Array(text.utf8), mode: mode, location: Self.location)
    }

    func settings() throws(ConfigError) -> Settings { try load().settings }

    /// What is wrong, as it is printed; empty when nothing is.
    var problems: [String] {
        do {
            _ = try load()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }
}
