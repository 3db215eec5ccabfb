import ArgumentParser
import SyncCore
import SyncEngine

struct ProjectsDeleteCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete projects: here and in the store.",
        usage: "sync-agent projects delete <ids> ... [<options>]",
        discussion: """
            Removes what is stored of a project, earlier images included, then its record in projects.json, then its \
            image and metadata on this machine. It asks first. What fails is named and kept; run it again to continue.

            EXAMPLES
              sync-agent projects delete 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
              sync-agent projects delete --dry-run 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
            """
    )

    @Argument(help: "Full project ids.")
    var ids: [String]

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @Flag(help: "Dry run: show what would be deleted.")
    var dryRun = false

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let parts = try await ProjectServices(workspace)
        try parts.requireFolder()
        let remover = try await parts.makeRemover()
        var targets: [ProjectRemover.Target] = []
        var unknown: [String] = []
        var seen: Set<ByteString> = []
        for id in ids where seen.insert(id.inBytes).inserted {
            let found = try await remover.find(id, in: parts.folders)
            targets += found
            if found.isEmpty { unknown.append(id) }
        }
        if dryRun { return answer(ProjectDeletionReport(planned: targets, unknown: unknown)) }
        if !targets.isEmpty, !yes { try ask(targets, workspace.console.people) }
        let outcomes = targets.isEmpty ? [] : try await remover.remove(targets)
        return answer(ProjectDeletionReport(outcomes, unknown: unknown))
    }

    private func answer(_ report: ProjectDeletionReport) -> Answer { Answer(report, failure: report.failure) }

    private func ask(_ targets: [ProjectRemover.Target], _ terminal: Terminal) throws {
        ProjectDeletionReport.plan(targets).forEach(terminal.writeLine)
        let count = Quantities.counted(Set(targets.map(\.id.inBytes)).count, "project")
        // What is deleted here is gone for good.
        try Question.confirmLoss(
            "Delete \(count) for good, here and in the store?", on: terminal, to: "delete", no: "nothing was deleted")
    }
}
