import ArgumentParser
import Logging
import SyncCore
import SystemPackage

/// What every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "Configuration file (default: $SYNC_AGENT_CONFIG, then ~/.config/sync-agent/config.yaml).",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configurationFile: PathArgument?

    @Flag(name: .shortAndLong, help: "Verbose logging.")
    var verbose = false

    var logLevel: Logger.Level { verbose ? .debug : .info }
}

/// What every command takes that has an answer.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions
}

/// What every command takes that asks before it does something.
struct ConsentOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false
}

/// Lets what every command takes stand before the command too: `sync-agent --config FILE status`.
enum LeadingOptions {
    /// The arguments with the options in front moved behind the command that they are for.
    static func moved(_ arguments: [String], root: any ParsableCommand.Type) -> [String] {
        var options: [String] = []
        var rest = arguments[...]
        while let first = rest.first {
            if first == "--config", rest.count > 1 {
                options += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if first.hasPrefix("--config=") || first == "--verbose" || first == "-v" {
                options.append(first)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        guard !options.isEmpty else { return arguments }
        var command = root
        var path: [String] = []
        while let name = rest.first,
            let child = command.configuration.subcommands.first(where: { $0.configuration.commandName == name })
        {
            path.append(name)
            command = child
            rest = rest.dropFirst()
        }
        return path + options + rest
    }
}

/// Words that are no paths are texts: a name for a share, an id, a bucket. One that is no UTF-8 would be another one, and go
/// wherever texts go, so that it is refused.
enum TextArguments {
    /// - Parameter command: parsed.
    /// - Throws: `ValidationError`.
    static func check(_ command: any ParsableCommand) throws {
        guard let text = rawText(in: Mirror(reflecting: command)) else { return }
        throw ValidationError("\"\(RawText.shown(text).escapingControls)\" is not text in UTF-8; write it in UTF-8")
    }

    private static func rawText(in mirror: Mirror) -> String? {
        for (_, value) in mirror.children where !(value is PathArgument) {
            if let text = value as? String {
                if RawText.isRaw(text) { return text }
            } else if let text = rawText(in: Mirror(reflecting: value)) {
                return text
            }
        }
        return nil
    }
}

/// A path on the command line, or a name that may be one. Its bytes are kept, also where they are no UTF-8.
struct PathArgument: ExpressibleByArgument, Hashable, Sendable {
    /// As ``RawText``.
    let text: String

    init(_ text: String) { self.text = text }

    /// An empty one would be the working folder, and is a variable that was not set. `~` and `~/` are the home folder, as in
    /// the configuration: the shell leaves them where a wildcard is quoted. A folder of that name is `./~`.
    init?(argument: String) {
        if argument.isEmpty { return nil }
        self.init(Self.expandingHome(argument, home: ProcessEnvironment.current["HOME"]))
    }

    static func expandingHome(_ argument: String, home: String?) -> String {
        guard let home, home.hasPrefix("/"), argument == "~" || argument.hasPrefix("~/") else { return argument }
        return home + argument.dropFirst()
    }

    /// From the root.
    var path: FilePath { ProcessEnvironment.absolute(text) }
}

/// A path on the command line where something is to be written. It can only be had after it was held against the folders of
/// this program (``OutputPlace``): ``PathArgument`` is for what is read.
struct OutputArgument: ExpressibleByArgument, Hashable, Sendable {
    private let argument: PathArgument

    init(_ text: String) { argument = PathArgument(text) }

    init?(argument text: String) {
        guard let argument = PathArgument(argument: text) else { return nil }
        self.argument = argument
    }

    /// As ``RawText``; for what may turn out to be no path.
    var text: String { argument.text }

    /// Such as `zip`, in lower case.
    var ending: String? { argument.path.extension?.lowercased() }

    /// - Throws: ``CommandFailure`` for the folders of this program.
    func path(_ installation: Installation) throws -> FilePath {
        let path = argument.path
        _ = try OutputPlace(path, installation)
        return path
    }

    /// That of a folder for photos; tells what comes of saving them there.
    /// - Throws: as ``path(_:)``.
    func announcedPath(_ installation: Installation, _ console: Console) throws -> FilePath {
        let path = argument.path
        announce(try OutputPlace(path, installation).note, console)
        return path
    }

    /// The same for a command that needs no configuration.
    /// - Throws: as ``path(_:)``, by the configuration that is there.
    func announcedPath(ifConfigured global: GlobalOptions, _ console: Console) throws -> FilePath {
        let path = argument.path
        announce(try OutputPlace.note(path, ifConfigured: global, console.environment), console)
        return path
    }

    private func announce(_ note: String?, _ console: Console) {
        if let note { console.errors.wrapped(note).forEach(console.errors.writeLine) }
    }

    /// Of what is to be the store, or the configuration file that names it.
    /// - Throws: as ``path(_:)``, and for what would be in a watched folder.
    func pathOfStore(_ installation: Installation) throws -> FilePath {
        let path = argument.path
        try OutputPlace.check(newStore: path, installation)
        return path
    }

    /// Of the folder that a projects folder becomes.
    /// - Throws: as ``path(_:)``, also when the old one is not to be removed, or the new one could not be watched.
    func path(ofProjectsIn old: FilePath, _ installation: Installation) throws -> FilePath {
        let path = argument.path
        try OutputPlace.check(projectsIn: old, movedTo: path, installation)
        return path
    }
}
