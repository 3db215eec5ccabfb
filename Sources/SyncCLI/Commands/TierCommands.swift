import ArgumentParser
import SyncConfig
import SyncCore

struct LifecycleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lifecycle",
        abstract: "Show or write the rules by which old photos move to the archive.",
        discussion: """
            EXAMPLES
              sync-agent lifecycle show
              sync-agent lifecycle apply --dry-run
            """,
        subcommands: [ShowCommand.self, ApplyCommand.self]
    )

    struct ShowCommand: QueryCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show which rules the store has, and which are missing.",
            discussion: """
                Only reads. Rules of others in the same bucket are counted and named, and never touched.

                EXAMPLES
                  sync-agent lifecycle show
                  sync-agent lifecycle show --json | jq '.rules[] | select(.state != "active")'
                """
        )

        @OptionGroup var options: AnswerOptions

        func answer(_ workspace: Workspace) async throws -> Answer {
            let inspector = try await LifecycleInspector(workspace)
            let report = try await inspector.status().report
            return Answer(report) { output in
                LifecycleView(terminal: output).rules(report, in: inspector.store.identity)
            }
        }
    }

    struct ApplyCommand: WorkspaceCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply",
            abstract: "Update the rules in the store to match the configuration.",
            usage: "sync-agent lifecycle apply [<options>]",
            discussion: """
                Shows the difference first, and asks on a terminal. Rules of others are written back byte for byte; \
                afterwards everything is read back, and what the store has altered is reported (exit code 1).

                EXAMPLES
                  sync-agent lifecycle apply --dry-run    only the difference
                  sync-agent lifecycle apply --yes
                """
        )

        @Flag(help: "Dry run: show the difference.")
        var dryRun = false

        @OptionGroup var consent: ConsentOptions
        @OptionGroup var options: AnswerOptions

        func answer(_ workspace: Workspace) async throws -> Answer {
            let inspector = try await LifecycleInspector(workspace)
            let status = try await inspector.status()
            // Nobody is asked about what was not shown.
            let people = workspace.console.people
            LifecycleView(terminal: people).difference(status.report).forEach(people.writeLine)
            let notes = try await write(status, inspector, workspace)
            return Answer(inspector.report(status.inStore, applied: notes != nil)) { _ in
                [end(status, notes: notes)]
            }
        }

        /// - Returns: what the store did not keep, in plain words; `nil` when nothing was written.
        private func write(
            _ status: LifecycleInspector.Status, _ inspector: LifecycleInspector, _ workspace: Workspace
        ) async throws -> [String]? {
            guard let (current, plan) = status.inStore, !plan.isNothingToDo, !dryRun else { return nil }
            let terminal = workspace.console.errors
            try await workspace.afterAsking {
                try Question.require("Write these rules?", on: terminal, unless: consent.yes, no: "nothing was written")
            }
            let notes = try await inspector.editor.carryOut(plan, from: current)
            for warning in notes {
                terminal.writeLine(terminal.styled("note", .yellow) + "  \(warning)".escapingControls)
            }
            return notes
        }

        private func end(_ status: LifecycleInspector.Status, notes: [String]?) -> String {
            guard let plan = status.inStore?.plan else {
                return
                    "Nothing to write: the store keeps no rules. sync-agent lifecycle show tells who carries them out."
            }
            if plan.isNothingToDo { return "Nothing to do: the rules in the store are as they should be." }
            guard let notes else { return "Nothing was written (--dry-run)." }
            return notes.isEmpty
                ? "Written, read again, and found as it should be."
                : "Written; what the store did not keep is named above."
        }
    }
}

struct CostCommand: QueryCommand {
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
