import ArgumentParser
import Glibc
import SyncCore
import SyncEngine
import SyncLedger

struct ProjectsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete projects: here and in the store.",
        discussion: """
            Removes what is stored of a project, earlier images included, then its record in projects.json, then its image \
            and metadata on this machine. It asks first. What fails is named and stays; asked again, it goes on from there.

            EXAMPLES
              sync-agent projects delete 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
              sync-agent projects delete --dry-run 0F3A9C21-6C0E-4C57-9C55-1B1A0C9B5B2D
            """
    )

    @Argument(help: "Ids of projects, whole.")
    var ids: [String]

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Only say what would be deleted.")
    var dryRun = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let parts = ProjectParts(installation, ledger: ledger)
            try parts.requireFolder()
            let output = Terminal.standardOutput(environment)
            let report = try await delete(parts, output, .standardError(environment))
            if json { output.writeLine(try JSONOutput.text(report)) } else { report.lines.forEach(output.writeLine) }
            try ledger.close()
            if report.status != .done { throw report.status.code }
        }
    }

    private func delete(
        _ parts: ProjectParts, _ output: Terminal, _ errors: Terminal
    ) async throws -> ProjectDeletionReport {
        let remover = try parts.makeRemover()
        var targets: [ProjectRemover.Target] = []
        var unknown: [String] = []
        var seen: Set<ByteString> = []
        for id in ids where seen.insert(id.inBytes).inserted {
            let found = try await remover.find(id, in: parts.folders)
            targets += found
            if found.isEmpty { unknown.append(id) }
        }
        if dryRun { return ProjectDeletionReport(planned: targets, unknown: unknown) }
        if !targets.isEmpty, !yes { try ask(targets, json ? errors : output) }
        let outcomes = targets.isEmpty ? [] : try await remover.remove(targets)
        return ProjectDeletionReport(outcomes, unknown: unknown)
    }

    private func ask(_ targets: [ProjectRemover.Target], _ terminal: Terminal) throws {
        ProjectDeletionReport.plan(targets).forEach(terminal.writeLine)
        // What is deleted here is gone for good: silence is no yes.
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "nobody is there to be asked; say --yes to delete, or --dry-run to look")
        }
        let count = Quantities.counted(Set(targets.map(\.id.inBytes)).count, "project")
        guard Question.confirm("Delete \(count) for good, here and in the store?", on: terminal) else {
            throw CommandFailure(.failed, "nothing was deleted")
        }
    }
}
