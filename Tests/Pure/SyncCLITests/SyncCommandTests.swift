import ArgumentParser
import Testing

@testable import SyncCLI

@Suite struct SyncCommandTests {
    @Test func `a new drive is noted, and so is none in a dry run`() throws {
        let command = try SyncAgentCommand.parseAsRoot(["sync", "--new-drive", "/media/SD"]) as? SyncCommand
        #expect(command?.newDrive?.text == "/media/SD")
        #expect(throws: (any Error).self) {
            _ = try SyncAgentCommand.parseAsRoot(["sync", "--new-drive", "/media/SD", "--dry-run"])
        }
    }
}
