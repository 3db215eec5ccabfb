import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger

struct ProjectsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List projects, the newest first.",
        discussion: """
            EXAMPLES
              sync-agent projects list
              sync-agent projects list --search "oil painting" --status Completed
              sync-agent projects list --json | jq -r '.projects[].key'
            """
    )

    @Option(help: ArgumentHelp("Only those with this in id, template, name or request.", valueName: "text"))
    var search: String?

    @Option(help: "Only Processing, Completed or Failed ones.")
    var status: ProjectRecord.Status?

    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
    }

    func run() async throws {
        try await Self.run(ProjectFilter(text: search, status: status), limit: limit, json: json, global)
    }

    static func run(_ filter: ProjectFilter, limit: Int?, json: Bool, _ global: GlobalOptions) async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let entries = try ProjectParts(installation, ledger: ledger).entries()
            let found = entries.filter { filter.accepts($0.record) }.prefix(limit ?? .max).map { ProjectReport($0) }
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(ProjectListReport(projects: found)))
            } else {
                ProjectView(terminal: output).list(found, of: entries.count).forEach(output.writeLine)
            }
            try ledger.close()
        }
    }
}

struct ProjectsSearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find projects by id, template, name or request.",
        discussion: """
            EXAMPLES
              sync-agent projects search sunset
              sync-agent projects search --status Failed portrait
            """
    )

    @Argument(help: "What to look for, in any case.")
    var text: String

    @Option(help: "Only Processing, Completed or Failed ones.")
    var status: ProjectRecord.Status?

    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
    }

    func run() async throws {
        try await ProjectsListCommand.run(
            ProjectFilter(text: text, status: status), limit: limit, json: json, global)
    }
}

struct ProjectsShowCommand: AsyncParsableCommand {
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

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let entry = try ProjectFilter.project(id, in: try ProjectParts(installation, ledger: ledger).entries())
            let details = ProjectDetails(entry, versions: try ledger.projectVersions(of: entry.record.id))
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(details))
            } else {
                ProjectView(terminal: output).details(details).forEach(output.writeLine)
            }
            try ledger.close()
        }
    }
}

struct ProjectsStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count projects by status, template and month.",
        discussion: """
            EXAMPLES
              sync-agent projects stats
              sync-agent projects stats --json | jq .byTemplate
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let statistics = ProjectStatistics(try ProjectParts(installation, ledger: ledger).entries())
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(statistics))
            } else {
                statistics.lines(on: output).forEach(output.writeLine)
            }
            try ledger.close()
        }
    }
}
