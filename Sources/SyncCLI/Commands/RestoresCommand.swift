import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore

struct RestoresCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "restores",
        abstract: "Show the progress of restores.",
        usage: "sync-agent restores [<id>] [<options>]",
        discussion: """
            Without a number: the newest jobs. With one: its photos. The store is asked only with --refresh; otherwise it \
            says what the agent has seen.

            EXAMPLES
              sync-agent restores
              sync-agent restores 7
              sync-agent restores --refresh       ask the store now, and save what is ready
              sync-agent restores 7 --stop-saving     save no more of its photos
            """
    )

    @Argument(help: ArgumentHelp("A job's number.", valueName: "id"))
    var id: Int64?

    @Flag(help: "Query the store now, send pending requests, and save what is available.")
    var refresh = false

    @Flag(help: "Save no more photos of this job into its folder. What is available stays so.")
    var stopSaving = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if stopSaving, id == nil {
            throw ValidationError("--stop-saving needs the number of a job: sync-agent restores lists them")
        }
    }

    private static let jobsShown = 50

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (ledger, now) = (try await workspace.ledger, workspace.time.now())
        var status = ExitStatus.done
        if stopSaving, let id { try await ledger { try $0.stopSaving(RestoreJobID(rawValue: id)) } }
        if refresh {
            let saved = try await RestoreServices(workspace, access: .writes).service.round(isUrgent: true)
            let errors = workspace.console.errors
            for problem in saved.problems {
                errors.writeLine(errors.styled("not saved", .red) + "  \("\(problem)".escapingControls)")
            }
            if !saved.problems.isEmpty { status = .partlyDone }
        } else {
            try await ledger { _ = try $0.expireRestores(at: now) }
        }
        guard let id else {
            let jobs = try await ledger { try $0.restoreJobs(limit: Self.jobsShown) }.map { JobReport($0) }
            return Answer(JobListReport(restores: jobs), status: status) { JobView(terminal: $0, now: now).list(jobs) }
        }
        guard let summary = try await ledger({ try $0.restoreJob(RestoreJobID(rawValue: id)) }) else {
            throw CommandFailure(.noSuchPath, "there is no restore \(id); sync-agent restores lists them")
        }
        let items = try await ledger { try $0.restoreItems(of: summary.job.id, after: 0, limit: .max) }
        let job = JobReport(summary, items: items)
        return Answer(JobListReport(restores: [job]), status: status) { JobView(terminal: $0, now: now).detail(job) }
    }
}
