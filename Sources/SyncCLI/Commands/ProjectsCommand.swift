import ArgumentParser
package import SyncCore
import SyncEngine
import SyncLedger

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

struct ProjectsListCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List projects, the newest first.",
        usage: "sync-agent projects list [<options>]",
        discussion: """
            EXAMPLES
              sync-agent projects list
              sync-agent projects list --search "oil painting" --status Completed
              sync-agent projects list --json | jq -r '.projects[].key'
            """
    )

    @Option(help: ArgumentHelp("Only projects with this text in id, template, name or request.", valueName: "text"))
    var search: String?

    @OptionGroup var which: ProjectOptions

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer { try await which.list(search, workspace) }
}

/// Which projects are listed, and how many.
struct ProjectOptions: ParsableArguments {
    @Option(help: "Only projects with this status: Processing, Completed or Failed.")
    var status: ProjectRecord.Status?

    @Option(help: ArgumentHelp("The maximum number of results.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
    }

    fileprivate func list(_ text: String?, _ workspace: Workspace) async throws -> Answer {
        let filter = ProjectFilter(text: text, status: status)
        let entries = try await workspace.projects()
        let found = entries.filter { filter.accepts($0.record) }.prefix(limit ?? .max).map { ProjectReport($0) }
        return Answer(["projects": found]) { output in
            ProjectView(terminal: output).list(found, of: entries.count)
        }
    }
}

struct ProjectsSearchCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find projects by id, template, name or request.",
        usage: "sync-agent projects search <text> [<options>]",
        discussion: """
            EXAMPLES
              sync-agent projects search sunset
              sync-agent projects search --status Failed portrait
            """
    )

    @Argument(help: "The text to search for; case does not matter.")
    var text: String

    @OptionGroup var which: ProjectOptions

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer { try await which.list(text, workspace) }
}

struct ProjectsShowCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one project: its record, its files, and its earlier images.",
        discussion: """
            EXAMPLES
              sync-agent projects show 0F3A9C21
              sync-agent projects show --json 0F3A9C21 | jq '.history[].key'
            """
    )

    @Argument(help: "The project's id, or the beginning of it.")
    var id: String

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let entry = try ProjectFilter.project(id, in: try await workspace.projects())
        let versions = try await workspace.ledger { try $0.projectVersions(of: entry.record.id) }
        let details = ProjectDetails(entry, versions: versions)
        return Answer(details) { output in ProjectView(terminal: output).details(details) }
    }
}

struct ProjectsStatsCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count projects by status, template and month.",
        discussion: """
            EXAMPLES
              sync-agent projects stats
              sync-agent projects stats --json | jq .byTemplate
            """
    )

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        Answer(ProjectStatistics(try await workspace.projects()))
    }
}

extension Workspace {
    /// All of them, the newest first.
    func projects() async throws -> [ProjectEntry] {
        try await ProjectServices(self).entries()
    }
}

/// Which projects are meant.
struct ProjectFilter {
    /// Found in id, template, name or request, in any case.
    var text: String?
    var status: ProjectRecord.Status?

    func accepts(_ record: ProjectRecord) -> Bool {
        if let status, record.status != status { return false }
        guard let text = text?.lowercased(), !text.isEmpty else { return true }
        return [record.id, record.templateID, record.templateName, record.requestID ?? ""].contains {
            $0.lowercased().contains(text)
        }
    }

    /// The project that a person means by its id, or by a beginning of it that no other has.
    /// - Throws: ``CommandFailure``.
    static func project(_ id: String, in entries: [ProjectEntry]) throws -> ProjectEntry {
        if let exact = entries.first(where: { $0.record.id.inBytes == id.inBytes }) { return exact }
        let found = entries.filter { !id.isEmpty && $0.record.id.lowercased().hasPrefix(id.lowercased()) }
        guard let first = found.first else {
            throw CommandFailure.noSuchPath(
                "\(id.escapingControls): no such project; sync-agent projects list names them")
        }
        guard found.count == 1 else {
            throw CommandFailure.noSuchPath(
                "\(id.escapingControls): \(found.count) projects begin with it: "
                    + found.prefix(5).map(\.record.id.escapingControls).joined(separator: ", "))
        }
        return first
    }
}
