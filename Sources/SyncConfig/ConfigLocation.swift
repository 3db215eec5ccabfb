import SyncCore
package import SystemPackage

/// Where the configuration and the state lie (XDG Base Directory Specification 0.8).
package struct ConfigLocation: Hashable, Sendable {
    /// Absolute.
    package let file: FilePath
    /// For ledger and lock. Absolute; it may not exist yet.
    package let stateFolder: FilePath
    /// The user's home folder; `nil` when the environment does not tell it.
    package let home: FilePath?

    package init(file: FilePath, stateFolder: FilePath, home: FilePath?) {
        self.file = file.lexicallyNormalized()
        self.stateFolder = stateFolder.lexicallyNormalized()
        self.home = home?.lexicallyNormalized()
    }

    /// Finds both places. The file is the first of: `option`, `SYNC_AGENT_CONFIG`,
    /// `$XDG_CONFIG_HOME/sync-agent/config.yaml`, `~/.config/sync-agent/config.yaml`. The state lies in
    /// `$XDG_STATE_HOME/sync-agent`, else in `~/.local/state/sync-agent`. An XDG variable that is empty or not absolute
    /// counts as not set, as the specification demands.
    /// - Parameters:
    ///   - option: what `--config` was given; relative to `workingFolder`, as is `SYNC_AGENT_CONFIG`.
    ///   - workingFolder: absolute.
    /// - Throws: ``ConfigError`` when `HOME` is needed and not set.
    package init(option: String?, environment: [String: String], workingFolder: FilePath) throws(ConfigError) {
        func folder(_ variable: String) -> FilePath? {
            environment[variable].map { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
        }
        try Self.requireText(of: environment)
        let home = folder("HOME")
        func below(_ variable: String, else fallback: String) throws(ConfigError) -> FilePath {
            if let folder = folder(variable) { return folder.appending("sync-agent") }
            if let home { return home.pushing(FilePath(fallback)).appending("sync-agent") }
            throw ConfigError("neither \(variable) nor HOME names an absolute folder; set one of them")
        }

        let file: FilePath
        if let option, !option.isEmpty {
            file = workingFolder.pushing(Self.expandingHome(option, home: home) { FilePath(argument: $0) })
        } else if let given = environment["SYNC_AGENT_CONFIG"], !given.isEmpty {
            file = workingFolder.pushing(Self.expandingHome(given, home: home))
        } else {
            file = try below("XDG_CONFIG_HOME", else: ".config").appending("config.yaml")
        }
        self.init(file: file, stateFolder: try below("XDG_STATE_HOME", else: ".local/state"), home: home)
    }

    /// What is no UTF-8 is here with U+FFFD in its place: it would name another folder, and make it.
    private static func requireText(of environment: [String: String]) throws(ConfigError) {
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "SYNC_AGENT_CONFIG"]
        where environment[name]?.unicodeScalars.contains("\u{FFFD}") == true {
            throw ConfigError("\(name) is not text in UTF-8; set it to a folder with another name")
        }
    }

    /// Makes a path of the configuration absolute: `~` is the home folder, and what is relative is relative to the
    /// folder of the configuration file. No link is followed and no disk is asked.
    func resolve(_ text: String) throws(Rejection) -> FilePath {
        if text.hasPrefix("~") {
            guard text == "~" || text.hasPrefix("~/") else {
                throw Rejection("\"~name\" is not expanded; write the path in full")
            }
            guard home != nil else { throw Rejection("HOME is not set, so that \"~\" means nothing") }
        }
        let path = Self.expandingHome(text, home: home)
        return file.containingFolder.pushing(path).lexicallyNormalized()
    }

    /// The path as a person would write it: below the home folder with `~`.
    func abbreviate(_ path: FilePath) -> String {
        guard let home, !home.components.isEmpty, path.starts(with: home) else { return path.string }
        let rest = path.components.dropFirst(home.components.count).map(\.string)
        return (["~"] + rest).joined(separator: "/")
    }

    /// - Parameter path: makes a path of text; what was an argument is in the form of `RawText`.
    private static func expandingHome(
        _ text: String, home: FilePath?, path: (String) -> FilePath = { FilePath($0) }
    ) -> FilePath {
        guard let home, text == "~" || text.hasPrefix("~/") else { return path(text) }
        // What follows "~" may begin with several slashes; pushing an absolute path would replace the home folder.
        return home.pushing(path(String(text.dropFirst().drop { $0 == "/" })))
    }
}
