import ArgumentParser
import Testing

@testable import SyncCLI

@Suite struct OutputArgumentTests {
    private static func below(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap(below)
    }

    /// Where something is written is an `OutputArgument`, which is held against the store and the state folder. `init` makes a
    /// configuration of its folders, which is judged as any other.
    @Test func `paths that are held against nothing are those that are read`() {
        var found: Set<String> = []
        for command in Self.below(SyncAgentCommand.self) {
            for (label, value) in Mirror(reflecting: command.init()).children
            where String(describing: type(of: value)).contains("PathArgument") {
                found.insert("\(command)\(label ?? "")")
            }
        }
        #expect(
            found == [
                "ForgetCommand_paths", "InitCommand_root", "InitCommand_storePath", "ProjectsMigrateCommand_old",
                "RestoreCommand_paths", "RetryCommand_paths", "ShareCommand_vacation", "StatusCommand_paths",
                "SyncCommand_newDrive", "VerifyCommand_paths",
            ])
    }
}
