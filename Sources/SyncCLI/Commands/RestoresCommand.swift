import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore

struct RestoresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restores",
        abstract: "Say how far restores are.",
        discussion: """
            Without a number: the newest jobs. With one: its photos. The store is asked only with --refresh; otherwise it \
            says what the agent has seen.

            EXAMPLES
              sync-agent restores
              sync-agent restores 7
              sync-agent restores --refresh       ask the store now, and save what is ready
            """
    )

    @Argument(help: ArgumentHelp("A job's number.", valueName: "id"))
    var id: Int64?

    @Flag(help: "Ask the store now, send what was not sent, and save what is ready.")
    var refresh = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    private static let jobsShown = 50

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let now = installation.time.now()
            if refresh {
                try await RestoreParts(installation, ledger: ledger, access: .writes).service.round(isUrgent: true)
            } else {
                try ledger.expireRestores(at: now)
            }
            let output = Terminal.standardOutput(environment)
            let view = JobView(terminal: output, now: now)
            if let id {
                guard let summary = try ledger.restoreJob(RestoreJobID(rawValue: id)) else {
                    throw CommandFailure(.noSuchPath, "there is no restore \(id); sync-agent restores lists them")
                }
                let items = try ledger.restoreItems(of: summary.job.id, after: 0, limit: .max)
                let report = JobReport(summary, items: items)
                if json {
                    output.writeLine(try JSONOutput.text(JobListReport(restores: [report])))
                } else {
                    view.detail(report).forEach(output.writeLine)
                }
            } else {
                let jobs = try ledger.restoreJobs(limit: Self.jobsShown).map { JobReport($0) }
                if json {
                    output.writeLine(try JSONOutput.text(JobListReport(restores: jobs)))
                } else {
                    view.list(jobs).forEach(output.writeLine)
                }
            }
            try ledger.close()
        }
    }
}
