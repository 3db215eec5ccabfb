import ArgumentParser
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct RestoreCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore archived photos by path.",
        discussion: """
            Names files, folders (an album), quoted wildcards, vacations, shares or object keys, also of photos that \
            are no longer on this machine. What it costs is shown first, and on a terminal it asks; elsewhere limits say \
            what is too much (--max-cost, restore.max_cost_usd). The agent follows the \
            job, tells when it is ready, and saves the photos where --output says; without an agent, --wait does. What can \
            be read already is saved at once.

            Tiers, from cheap to fast: bulk (48 h from DEEP_ARCHIVE), standard (12 h), expedited (minutes, from GLACIER \
            only).

            EXAMPLES
              sync-agent restore ~/Pictures/Vacations/Paris_France_2024-06-15_2024-06-22
              sync-agent restore --estimate '~/Pictures/Gallery/IMG_20*.jpg'
              sync-agent restore --tier bulk --days 60 ~/Pictures/Gallery/2019
              sync-agent restore --rush --wait --output ~/paris ~/Pictures/Vacations/Paris
              sync-agent restore --suggest
            """
    )

    @Argument(help: "What to restore.", completion: .file())
    var paths: [PathArgument] = []

    @Option(help: "bulk, standard or expedited (default: restore.tier).")
    var tier: RestoreTier?

    @Flag(help: "The fastest tier that each photo's storage class has.")
    var rush = false

    @Option(
        help: ArgumentHelp(
            "How long the copies stay available (default: restore.days); it also extends copies that are available already.",
            valueName: "days"))
    var days: Int?

    @Flag(help: "Show what each tier would cost; no restore is requested.")
    var estimate = false

    @Option(
        name: .customLong("max-cost"),
        help: ArgumentHelp(
            "Refuse when it would cost more (default: restore.max_cost_usd).", valueName: "usd"))
    var maximumCost: Double?

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @Flag(help: "Wait until the photos are available; Ctrl-C leaves the restore running.")
    var wait = false

    @Option(
        help: ArgumentHelp("Save the photos in this folder when they are available.", valueName: "dir"),
        completion: .directory)
    var output: PathArgument?

    @Option(
        help: ArgumentHelp(
            "An earlier version of the photos, as status PATH lists them: its number (1 is the one before), a day, or its id.",
            valueName: "n|day|id"))
    var version: String?

    @Flag(help: "Suggest albums that you may want soon; no restore is requested.")
    var suggest = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if paths.isEmpty, !suggest { throw ValidationError("name what to restore, or use --suggest") }
        if suggest, !paths.isEmpty { throw ValidationError("--suggest takes no paths") }
        if let version, RestoreVersion(version) == nil {
            throw ValidationError("--version takes a number, a day (2026-11-22), or six or more digits of an id")
        }
        if tier != nil, rush { throw ValidationError("--rush chooses the tier; leave out --tier") }
        if let days, !(1...3_650).contains(days) { throw ValidationError("--days takes 1 to 3650") }
        if let maximumCost, !(maximumCost >= 0) { throw ValidationError("--max-cost takes dollars, such as 2.50") }
        if estimate, wait || output != nil {
            throw ValidationError("--estimate only shows; leave out --wait and --output")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        if let output { try workspace.console.announce(output.path, workspace.installation) }
        let parts = try await RestoreServices(workspace, access: estimate || suggest ? .reads : .writes)
        return suggest ? try await suggestions(workspace, parts) : try await order(workspace, parts)
    }

    // MARK: An order

    private func order(_ workspace: Workspace, _ parts: RestoreServices) async throws -> Answer {
        let installation = workspace.installation
        let prices = try installation.prices()
        let isFree = parts.store.capabilities.lifecycle == .byAgent
        var proposal = try await proposal(installation, parts)
        if proposal.isAllUnknown { throw Self.unknown(proposal) }
        if estimate {
            let estimated = proposal
            return Answer(
                EstimateReport(estimated, prices: prices), status: estimated.problems.isEmpty ? .done : .partlyDone
            ) { RestoreView(terminal: $0, prices: prices, isFree: isFree).proposal(estimated) }
        }
        let people = workspace.console.people
        let view = RestoreView(terminal: people, prices: prices, isFree: isFree)
        if wait, !proposal.runningJobs.isEmpty {
            try await wait(for: proposal.runningJobs, parts, workspace)
            proposal = try await self.proposal(installation, parts)
        }
        if !workspace.console.isSilent { view.proposal(proposal).forEach(people.writeLine) }
        if !proposal.candidates.isEmpty {
            try RestoreLimit(maximumCost: maximumCost, installation.settings.restore).check(proposal)
            guard yes || Question.confirm("Restore them?", on: people) else {
                throw CommandFailure(.failed, "no restore was requested")
            }
        }
        return try await carryOut(proposal, workspace, parts, view)
    }

    private func carryOut(
        _ proposal: RestoreProposal, _ workspace: Workspace, _ parts: RestoreServices, _ view: RestoreView
    ) async throws -> Answer {
        let (output, errors) = (workspace.console.output, workspace.console.errors)
        let (job, collided) = try await parts.desk.accept(proposal)
        var refusals: Set<StoreError.Code> = []
        if let job { refusals = try await send(job, parts, workspace) }
        let changes = try await change(proposal, job, parts)
        let hours = parts.desk.hours(of: proposal)
        func report() async throws -> RestoreReport {
            var items: [RestoreItem] = []
            if let id = job?.id {
                items = try await parts.ledger { try $0.restoreItems(of: id, after: 0, limit: .max) }
            }
            return RestoreReport(
                proposal, job: job, taken: collided, items: items, changes: changes, hours: hours)
        }
        var answer = try await report()
        let comesLater = answer.items.contains { ["planned", "retrieving"].contains($0.state) }
        if !options.json {
            view.result(answer, readyAt: comesLater ? job?.end(after: hours) : nil).forEach(output.writeLine)
        }
        var last: RestoreJobSummary?
        var isSaved = true
        // What can be read needs no agent to be saved, and nobody who waits.
        if !wait, let job, let folder = job.output, answer.items.contains(where: { $0.state == "restored" }) {
            let delivered = try await save(job, parts, workspace)
            answer = try await report()
            isSaved = delivered.failures.isEmpty
            if !options.json {
                // By the agent, too.
                let saved = try await parts.ledger { try $0.restoreJob(job.id)?.saved } ?? delivered.saved
                output.writeLine("\(Quantities.counted(saved, "photo")) saved in \(folder.text.escapingControls)")
            }
        }
        if wait, let job {
            last = try await wait(for: [job.id], parts, workspace)
            answer = try await report()
        }
        isSaved = last?.isSaved ?? isSaved
        // Photos that another restore is bringing back are not saved by this one.
        let isLeftToOthers = self.output != nil && answer.skipped.contains { $0.state == "retrieving" }
        if isLeftToOthers {
            errors.writeLine(
                "What another restore is bringing back is not saved by this one: run it again with --wait, or when it is ready."
            )
        }
        let status: ExitStatus =
            switch answer.status {
            case .failed where refusals == [.accessDenied]: .refused
            case .done where !isSaved || isLeftToOthers: .partlyDone
            case let status: status
            }
        return Answer(answer, status: status) { [answer, last] _ in last.map { view.end(answer, $0) } ?? [] }
    }

    /// Saves what can be read already. The agent may be at it too: then it is told as saved by whoever saved it.
    private func save(
        _ job: RestoreJob, _ parts: RestoreServices, _ workspace: Workspace
    ) async throws -> RestoreDownloader.SaveSummary {
        do {
            let delivered = try await parts.service.save(job.id)
            let errors = workspace.console.errors
            for failure in delivered.failures {
                errors.writeLine(errors.styled("not saved", .red) + "  \(failure.escapingControls)")
            }
            return delivered
        } catch let error as StoreError {
            throw CommandFailure(
                ExitStatus(error),
                "\(error). Restore \(job.id) is kept: the agent, or sync-agent restores --refresh, saves the photos")
        }
    }

    /// - Returns: how the last of the jobs ended.
    @discardableResult
    private func wait(
        for jobs: [RestoreJobID], _ parts: RestoreServices, _ workspace: Workspace
    ) async throws -> RestoreJobSummary? {
        let waiting = RestoreWait(parts, time: workspace.time, terminal: workspace.console.errors)
        var last: RestoreJobSummary?
        for job in jobs { last = try await waiting.run(job) }
        return last
    }

    private func proposal(_ installation: Installation, _ parts: RestoreServices) async throws -> RestoreProposal {
        let settings = installation.settings
        let order = RestoreOrder(
            names: try await names(installation, parts), wish: rush ? .rush : .tier(tier ?? settings.restore.tier),
            days: days ?? settings.restore.days, extends: days != nil,
            output: output?.path,
            requestedBy: ProcessEnvironment.userName ?? "unknown")
        do {
            return try await parts.desk.propose(order, in: installation.restorePlaces)
        } catch let error as TierNotOffered {
            throw CommandFailure(.usage, "\(error); no restore was requested")
        }
    }

    private func names(_ installation: Installation, _ parts: RestoreServices) async throws -> [String] {
        guard let wanted = version.flatMap(RestoreVersion.init) else { return paths.map(\.text) }
        let (paths, locator) = (paths.map(\.text), installation.pathLocator)
        return try await parts.ledger { try wanted.keys(of: paths, in: $0, locator) }
    }

    /// What is not sent because the store is away stays in the job, and the agent sends it.
    /// - Returns: for what reasons items failed.
    private func send(
        _ job: RestoreJob, _ parts: RestoreServices, _ workspace: Workspace
    ) async throws -> Set<StoreError.Code> {
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { line.finish() }
        var sent = 0
        do {
            return try await parts.sender.run(job: job.id) { answered in
                sent += answered
                line.show("\(Quantities.counted(sent, "photo")) requested")
            }
        } catch let error as StoreError {
            throw CommandFailure(
                ExitStatus(error),
                "\(error). Restore \(job.id) is kept: the agent, or sync-agent restores --refresh, continues it")
        }
    }

    private func change(
        _ proposal: RestoreProposal, _ job: RestoreJob?, _ parts: RestoreServices
    ) async throws -> [RestoreUpgrader.Change] {
        do {
            return try await parts.changer.run(proposal)
        } catch let error as StoreError {
            let kept = job.map { ". Restore \($0.id) was made and goes on" } ?? ""
            throw CommandFailure(
                ExitStatus(error), "\(error); restores that are under way were not changed, ask again\(kept)")
        }
    }

    private static func unknown(_ proposal: RestoreProposal) -> CommandFailure {
        // A name that is no path is none of a folder that cannot be read either.
        let hidden = proposal.order.names.compactMap { UnreadableFolder(above: ProcessEnvironment.absolute($0)) }
        return CommandFailure(
            hidden.isEmpty ? .noSuchPath : .refused,
            (RestoreReport.Skipped.all(in: proposal).map { "\(($0.path ?? "").escapingControls): \($0.reason)" }
                + Set(hidden.map(\.description)).sorted()).joined(separator: "\n"))
    }

    // MARK: Suggestions

    private func suggestions(_ workspace: Workspace, _ parts: RestoreServices) async throws -> Answer {
        let settings = workspace.settings.restore
        let found = try await RestoreSuggestions(
            ledger: parts.ledger, prices: try workspace.installation.prices(), tier: settings.tier, days: settings.days
        ).find(at: workspace.time.now(), limit: 10)
        return Answer(SuggestionReport(found))
    }
}

extension RestoreTier: ExpressibleByArgument {}
