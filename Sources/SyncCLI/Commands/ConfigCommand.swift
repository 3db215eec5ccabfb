import ArgumentParser
import SyncConfig
import SystemPackage

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check the configuration, or explain its keys.",
        discussion: """
            EXAMPLES
              sync-agent config check
              sync-agent config reference | less
            """,
        subcommands: [CheckCommand.self, ReferenceCommand.self]
    )

    struct CheckCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the configuration, and show what is wrong where.",
            discussion: """
                EXAMPLES
                  sync-agent config check
                  sync-agent config check --config ./new.yaml
                """
        )

        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try await Console.run { console in
                let installation = try Installation(global, environment: console.environment)
                try OutputPlace.check(installation.settings, at: installation.location)
                let folders = Quantities.counted(installation.settings.watch.count, "folder")
                return Answer(lines: ["\(installation.location.file.string): all right, \(folders) watched"])
            }
        }
    }

    struct ReferenceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reference",
            abstract: "Explain every key of the configuration.",
            discussion: """
                EXAMPLES
                  sync-agent config reference | less
                  sync-agent config reference --json
                """
        )

        @Flag(help: "Print the keys as one JSON object.")
        var json = false

        func run() async throws {
            try await Console.run(json: json) { _ in
                Answer(["keys": ConfigReference.entries]) { _ in
                    ConfigReference.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                        String.init)
                }
            }
        }
    }
}
