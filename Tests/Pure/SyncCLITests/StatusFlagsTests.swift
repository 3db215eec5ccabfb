import ArgumentParser
import Testing

@testable import SyncCLI

@Suite struct StatusFlagsTests {
    @Test(arguments: [
        [], ["--check"], ["--json"], ["--watch"], ["--refresh"], ["--machines"], ["--verbose"],
        ["--json", "--machines"], ["--refresh", "--json", "--verbose"],
    ])
    func `flags alone are read as by ArgumentParser`(flags: [String]) throws {
        let words = ["status"] + flags
        let parsed = try #require(try SyncAgentCommand.parseAsRoot(words) as? StatusCommand)
        let command = try #require(StatusCommand(flags: words))
        #expect(Self.text(command) == Self.text(parsed))
    }

    @Test(arguments: [
        [], ["sync"], ["stat"], ["status", "--help"], ["status", "-v"], ["status", "--chek"], ["status", "pictures"],
        ["status", "--json", "--json"], ["status", "--json=true"], ["status", "--config", "--json"], ["status", "--"],
        ["status", "--check", "--json"], ["status", "--watch", "--json"], ["--verbose", "status"],
        ["status", "--generate-completion-script"], ["help", "status"],
    ])
    func `all else is left to ArgumentParser`(words: [String]) {
        let command = StatusCommand(flags: words)
        #expect(command.map(Self.text) == nil)
    }

    /// All properties, and what they hold.
    private static func text(_ command: StatusCommand) -> String {
        var text = ""
        dump(command, to: &text)
        return text
    }
}
