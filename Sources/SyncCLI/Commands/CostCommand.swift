import ArgumentParser
import SyncConfig
import SyncCore
import SyncEngine
import SyncSystem

struct CostCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cost",
        abstract: "Say what the stored photos cost, and what bringing them back would.",
        discussion: """
            Estimates by list prices, from what the store told last of classes and sizes; sync-agent status --refresh \
            asks it anew. Other prices: cost.prices in the configuration.

            EXAMPLES
              sync-agent cost
              sync-agent cost --json | jq .monthlyUSD
            """
    )

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = LedgerQueue(
                try installation.openLedger(), pool: BlockingPool(name: "ledger", threads: 1))
            let report = try await CostReport(installation, ledger: ledger)
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(report))
            } else {
                let view = CostView(
                    report: report, terminal: output, now: installation.time.now(),
                    isEmbedded: installation.configuredIdentity.type == StoreType.directory.rawValue)
                view.lines.forEach(output.writeLine)
            }
        }
    }
}
