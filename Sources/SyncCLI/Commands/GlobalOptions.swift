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

/// Runs a command's body and turns what it throws into one message on standard error and an exit code.
func reportingFailure(_ terminal: Terminal, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let exit as ExitCode {
        throw exit
    } catch is CancellationError {
        throw ExitStatus.failed.code
    } catch {
        terminal.writeLine(terminal.styled("sync-agent: ", .bold) + "\(error)")
        throw ExitStatus(error).code
    }
}
