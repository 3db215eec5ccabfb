import ArgumentParser
import SyncConfig
import SyncCore

struct CostCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "cost",
        abstract: "Show what the stored photos cost, and what restoring them would.",
        discussion: """
            Estimates from list prices, and from the classes and sizes that the store last reported; sync-agent status \
            --refresh updates them. For other prices, set cost.prices in the configuration.

            EXAMPLES
              sync-agent cost
              sync-agent cost --json | jq .monthlyUSD
            """
    )

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let report = try await CostReport(workspace.installation, ledger: try await workspace.ledger)
        return Answer(report) { output in
            CostView(
                report: report, terminal: output, now: workspace.time.now(),
                isEmbedded: workspace.installation.configuredIdentity.type == StoreType.directory.rawValue
            ).lines
        }
    }
}
