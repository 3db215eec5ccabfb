import ArgumentParser
import Logging

/// What every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "Configuration file (default: $SYNC_AGENT_CONFIG, then ~/.config/sync-agent/config.yaml).",
            valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var configurationFile: String?

    @Flag(name: .shortAndLong, help: "Say more on standard error.")
    var verbose = false

    var logLevel: Logger.Level { verbose ? .debug : .info }
}

/// What every command takes that has an answer.
struct AnswerOptions: ParsableArguments {
    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions
}
