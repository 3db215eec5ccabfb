import ArgumentParser
import SyncConfig
import SyncEngine
import SyncLedger
import SyncPhone

struct ProfilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles",
        abstract: "Map telephone numbers to profiles.",
        discussion: """
            Gallery events may name their profile by a telephone number. Keys in the store hold no numbers: the number has \
            to be given a profile, by whose UUID its photos are archived. Events wait until it has one.

            EXAMPLES
              sync-agent profiles add "+1 778 814 3739" --name Grandma
              sync-agent profiles list
              sync-agent profiles migrate --dry-run
            """,
        subcommands: [ProfilesListCommand.self, ProfilesAddCommand.self, ProfilesMigrateCommand.self]
    )
}

struct ProfilesListCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List profiles, the oldest first.",
        discussion: """
            EXAMPLES
              sync-agent profiles list
              sync-agent profiles list --json | jq -r '.profiles[].id'
            """
    )

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let settings = workspace.settings.share
        return Answer(
            try await workspace.ledger {
                ProfileListReport(try $0.profileBook(settings), uses: try $0.profileUses())
            })
    }
}

extension Ledger {
    func profileBook(_ settings: ShareSettings) throws -> ProfileBook {
        ProfileBook(
            try profiles(), phones: LibPhoneNumbers(), region: settings.phoneRegion, pseudonyms: try Pseudonyms(self))
    }
}
