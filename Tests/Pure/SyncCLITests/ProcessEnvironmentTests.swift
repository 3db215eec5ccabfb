import ArgumentParser
import SyncCore
import Testing

@testable import SyncCLI

@Suite struct ProcessEnvironmentTests {
    @Test(
        arguments: [
            ("sync-agent\0status\0--json\0", ["status", "--json"]), ("sync-agent\0", []),
            ("sync-agent\0a b\0\0é\0", ["a b", "", "é"]), ("", nil), ("no end", nil),
        ] as [(String, [String]?)])
    func `The words of the command line are those that the kernel tells`(bytes: String, words: [String]?) {
        #expect(ProcessEnvironment.words(inCommandLine: Array(bytes.utf8)) == words)
    }

    @Test func `a quoted path begins in the home folder with ~`() {
        for (argument, path) in [
            ("~/Pictures/IMG_*.jpg", "/home/ana/Pictures/IMG_*.jpg"), ("~ben/a", "~ben/a"), ("./~/a", "./~/a"),
            ("~", "/home/ana"), ("./~", "./~"), ("~~", "~~"),
            ("Pictures/~/a", "Pictures/~/a"),
        ] {
            #expect(PathArgument.expandingHome(argument, home: "/home/ana") == path)
        }
        #expect(PathArgument.expandingHome("~/a", home: nil) == "~/a")
        #expect(PathArgument.expandingHome("~/a", home: "") == "~/a")
    }

    @Test func `a path of the command line keeps its bytes, whatever they are`() throws {
        let bytes: [UInt8] = Array("/photos/d".utf8) + [0xFF] + Array("/é".utf8) + [0xC3] + Array(".jpg".utf8)
        let words = try #require(ProcessEnvironment.words(inCommandLine: Array("agent\0status\0".utf8) + bytes + [0]))
        let command = try #require(try SyncAgentCommand.parseAsRoot(words) as? StatusCommand)
        #expect(command.paths.map(\.path.bytes) == [bytes])
        #expect(command.paths.map(\.path.text) == ["/photos/d\\xff/é\\xc3.jpg"])
        try TextArguments.check(command)
    }

    @Test(arguments: [
        ["share", "--from"], ["shares", "--revoke"], ["profiles", "add", "--name"], ["init", "--user"],
    ])
    func `a text that is no UTF-8 is refused`(words: [String]) throws {
        let raw = RawText.text(of: [0x41, 0xFF])
        let words = words + [raw] + (words[0] == "share" || words[0] == "profiles" ? ["Paris"] : [])
        let command = try SyncAgentCommand.parseAsRoot(words)
        #expect(throws: (any Error).self) { try TextArguments.check(command) }
    }
}
