import ArgumentParser
package import SyncCore

struct ProjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "projects",
        abstract: "List, find, move, export and delete generated images.",
        discussion: """
            A folder of kind projects holds projects.json, and for each project {id}.jpg and perhaps {id}-metadata.json. \
            Completed projects are stored; duplicates, failed ones and files without a record are not, and status says why.

            EXAMPLES
              sync-agent projects list --status Completed --limit 20
              sync-agent projects search sunset
              sync-agent projects show 0F3A9C21
              sync-agent projects export ~/Desktop/prints
              sync-agent projects delete 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
            """,
        subcommands: [
            ProjectsListCommand.self, ProjectsSearchCommand.self, ProjectsShowCommand.self, ProjectsDeleteCommand.self,
            ProjectsMigrateCommand.self, ProjectsExportCommand.self, ProjectsStatsCommand.self,
        ]
    )
}

extension ProjectRecord.Status: ExpressibleByArgument {
    /// In any case.
    package init?(argument: String) {
        guard let status = Self.allCases.first(where: { $0.rawValue.lowercased() == argument.lowercased() }) else {
            return nil
        }
        self = status
    }
}
