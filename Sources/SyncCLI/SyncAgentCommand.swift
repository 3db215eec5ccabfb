package import ArgumentParser
import Glibc
import Logging
import SyncCore
import SyncSystem
import SystemPackage

/// The program: `sync-agent COMMAND`.
package struct SyncAgentCommand: AsyncParsableCommand {
    package static let version = "1.0.0"

    package static let configuration = CommandConfiguration(
        commandName: "sync-agent",
        abstract: "Keeps every new photo of your folders safe in S3-compatible storage.",
        discussion: """
            Photos that land in a watched folder are reduced to 2048 px and stored once, however often they are \
            copied, renamed or dropped again. Nothing on your disk is changed or deleted except the text of old \
            gallery events, and a file that disappears from the disk stays stored.

            FIRST STEPS
              sync-agent init      write a configuration and create the folders
              sync-agent sync      store what is there, once
              sync-agent run       keep watching and storing
              sync-agent status    what is safe, what is not yet, and why
              sync-agent retry     retry what failed or is waiting
              sync-agent verify    verify what is stored, and repair it
              sync-agent restore   restore archived photos
              sync-agent rebuild   bring everything back when the disk is gone

            EXIT CODES
              0   done
              1   failed
              3   partly done; each item that failed is named
              64  usage
              66  no such path
              69  the store cannot be reached
              75  another agent is at work
              77  credentials or permission refused
              78  configuration
              130, 143  stopped by SIGINT, SIGTERM (run: 0)
            """,
        version: version,
        subcommands: [
            InitCommand.self, RunCommand.self, SyncCommand.self, StatusCommand.self, RetryCommand.self,
            VerifyCommand.self, RebuildCommand.self, MoveStoreCommand.self, ForgetCommand.self,
            RestoreCommand.self, RestoresCommand.self, MirrorCommand.self, ShareCommand.self, SharesCommand.self,
            GuestsCommand.self,
            ServeCommand.self,
            ProjectsCommand.self,
            ArchiveCommand.self,
            ProfilesCommand.self,
            CleanupCommand.self, LifecycleCommand.self, CostCommand.self, DoctorCommand.self, ConfigCommand.self,
        ]
    )

    package init() {}

    /// Runs the command that the process was started with, and ends the process with its exit code.
    package static func start() async {
        let words = LeadingOptions.moved(ProcessEnvironment.arguments, root: Self.self)
        do {
            if words == ["--version"] {
                // Without ArgumentParser, as `status`: that would be half of its CPU.
                Terminal.standardOutput(ProcessEnvironment.current).writeOwn(version + "\n")
                end(.success)
            }
            if let command = StatusCommand(flags: words) {
                requireDescriptors()
                if !command.isQuery { requireDigests() }
                try await command.run()
                end(.success)
            }
            var command = try await asyncParseAsRoot(words)
            if words.contains(where: RawText.isRaw) {
                do {
                    try TextArguments.check(command)
                } catch {
                    // With the usage of that command.
                    end(type(of: command), error)
                }
            }
            requireDescriptors()
            requireDigests()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            end(code)
        } catch {
            end(Self.self, error)
        }
        end(.success)
    }

    /// Below this, libraries end the process by a trap, in the middle of a pass: libdispatch for one, which follows signals.
    private static let leastDescriptors = 64

    private static func requireDescriptors() {
        let limit = DescriptorLimit.raise()
        guard limit < leastDescriptors else { return }
        let text =
            "sync-agent: this process may have only \(limit) files open at once, and needs \(leastDescriptors); raise the "
            + "limit (ulimit -n 1024, or LimitNOFILE= of its service)"
        Terminal.standardError(ProcessEnvironment.current).writeLine(text)
        Glibc.exit(ExitStatus.failed.rawValue)
    }

    /// Nothing is stored or restored without a digest. A `status` that only looks makes none of an embedded store, and does
    /// not wait for the library; what speaks to S3 asks for it itself (``Installation``).
    private static func requireDigests() {
        guard let failure = CommandFailure.ofDigests else { return }
        Terminal.standardError(ProcessEnvironment.current).writeLine("sync-agent: \(failure)")
        Glibc.exit(failure.status.rawValue)
    }

    /// As `exit(withError:)`, but for the words of the command line that an error repeats: they may be names of files.
    private static func end(_ command: any ParsableArguments.Type, _ error: any Error) -> Never {
        let code = command.exitCode(for: error)
        let text = command.fullMessage(for: error)
        if text.isEmpty { end(code) }
        if code.isSuccess {
            Terminal.standardOutput(ProcessEnvironment.current).writeOwn(text + "\n")
        } else {
            let hint = DashedNames.hint(to: text, for: ProcessEnvironment.arguments) { FilePath($0).allows([]) }
            let lines = [text, hint].compactMap(\.self).joined(separator: "\n")
            Terminal.standardError(ProcessEnvironment.current).writeLine(lines.escapingControlsInLines)
        }
        end(code)
    }

    /// Ends the process. What could not be written is a failure, unless the command has one of its own.
    private static func end(_ code: ExitCode) -> Never {
        guard let message = OutputFault.ofStandardOutput.message else { Glibc.exit(code.rawValue) }
        Terminal.standardError(ProcessEnvironment.current).writeLine("sync-agent: \(message)")
        Glibc.exit(code.isSuccess ? ExitStatus.failed.rawValue : code.rawValue)
    }
}

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

/// Names of files that are read as options.
enum DashedNames {
    /// How a file is named that begins as an option does; `nil` where that is not what is wrong.
    /// - Parameters:
    ///   - complaint: what ArgumentParser says of the command line.
    ///   - exists: whether there is a file by a relative path.
    static func hint(to complaint: String, for arguments: [String], exists: (String) -> Bool) -> String? {
        guard complaint.contains("Unknown option") else { return nil }
        let name = arguments.first { $0.hasPrefix("-") && $0 != "-" && $0 != "--" && exists($0) }
        return name.map { "There is a file of this name: write ./\($0.escapingControls)" }
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
