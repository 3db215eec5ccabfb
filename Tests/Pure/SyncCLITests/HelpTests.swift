import ArgumentParser
import SyncCLI
import Testing

@Suite struct HelpTests {
    private static func below(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(below)
    }

    @Test func `help fits a terminal of 80 columns, with its usage and its examples whole`() {
        let commands = Self.below(SyncAgentCommand.self)
        #expect(commands.count > 30)
        for command in commands {
            let name = command._commandName
            let help = SyncAgentCommand.helpMessage(for: command, columns: 80).split(separator: "\n")
            for line in help { #expect(line.count <= 80, "\(name): \(line)") }
            let examples = command.configuration.discussion.split(separator: "\n").drop { !$0.hasPrefix("EXAMPLES") }
            for line in examples { #expect(help.contains(line), "\(name): broken: \(line)") }
        }
    }
}
