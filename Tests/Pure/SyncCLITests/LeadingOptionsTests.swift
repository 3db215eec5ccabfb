import Testing

@testable import SyncCLI

@Suite struct LeadingOptionsTests {
    @Test(
        arguments: [
            (["--config", "c.yaml", "status", "--json"], ["status", "--config", "c.yaml", "--json"]),
            (["--config=c.yaml", "config", "check"], ["config", "check", "--config=c.yaml"]),
            (["-v", "--config", "c", "sync"], ["sync", "-v", "--config", "c"]),
            (["status", "--config", "c"], ["status", "--config", "c"]),
            (["--help"], ["--help"]),
            (["--config"], ["--config"]),
        ])
    func `options in front go to the command that they are for`(given: [String], expected: [String]) {
        #expect(LeadingOptions.moved(given, root: SyncAgentCommand.self) == expected)
    }
}
