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
}
