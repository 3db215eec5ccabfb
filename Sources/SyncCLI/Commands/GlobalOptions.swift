import ArgumentParser
import Logging
import SyncCore

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
