import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage
import UnixSignals

/// What somebody wants back from the archive, and what they say in advance to what they would be asked.
struct RestoreWish {
    /// Paths, wildcards, vacations, shares and object keys.
    var names: [String]
    /// Which of what they name, and of which machine.
    var scope = RestoreScope()
    /// `nil`: that of the configuration.
    var tier: TierChoice?
    /// How long the copies stay; `nil`: as the configuration says.
    var days: Int?
    /// Whether what is readable already is to stay for `days` from now.
    var extends = false
    /// Absolute.
    var output: FilePath?
    /// In dollars; `nil`: that of the configuration.
    var maximumCost: Double?
    var isAgreed = false
}

/// Restores as commands ask for them, in the one order that all of them keep: propose, limit, ask, accept, send, report;
/// then wait and save.
struct Restores: Sendable {
    /// What the photos are wanted for: it says what else does not happen when none is requested.
    enum Purpose {
        case reading, download, share

        fileprivate var refusal: String {
            switch self {
            case .reading: "no restore was requested"
            case .download: "no restore was requested, and nothing was downloaded"
            case .share: "set restore.tier, or restore them first. Nothing was shared"
            }
        }

        fileprivate func kept(_ job: RestoreJobID) -> String {
            switch self {
            case .reading, .download:
                "Restore \(job) is kept: the agent, or sync-agent restores --refresh, continues it"
            case .share:
                "Restore \(job) and the share are kept: a running agent, or the next sync, goes on with them"
            }
        }
    }

    /// What was requested of a proposal.
    struct Request {
        let proposal: RestoreProposal
        /// `nil` when nothing was to be sent.
        let job: RestoreJob?
        /// What other jobs have taken meanwhile.
        let taken: [ObjectKey]
        /// For what reasons items of the job failed.
        let refusals: Set<StoreError.Code>
        /// How long it takes at most; `nil` when that is not known.
        let hours: Double?
        let changes: [RestoreUpgrader.Change]
    }

    let services: RestoreServices
    let purpose: Purpose

    init(_ services: RestoreServices, for purpose: Purpose) { (self.services, self.purpose) = (services, purpose) }

    var workspace: Workspace { services.workspace }
    private var people: Terminal { workspace.console.people }
    private var errors: Terminal { workspace.console.errors }
    private var time: TimeSource { workspace.time }

    /// For what people read of them.
    func view() throws -> RestoreView {
        RestoreView(
            terminal: people, prices: try workspace.installation.prices(),
            isFree: services.store.capabilities.lifecycle == .byAgent)
    }

    // MARK: From the order to the report

    /// - Throws: ``CommandFailure`` when the tier cannot be had; ``StoreError``, ``LedgerError``.
    func propose(_ wish: RestoreWish) async throws -> RestoreProposal {
        let settings = workspace.settings.restore
        let order = RestoreOrder(
            names: wish.names, scope: wish.scope, wish: wish.tier ?? .tier(settings.tier),
            days: wish.days ?? settings.days,
            extends: wish.extends, output: wish.output, requestedBy: ProcessEnvironment.userName ?? "unknown")
        do {
            return try await services.planner.propose(order, in: places)
        } catch let error as TierNotOffered {
            throw CommandFailure.usage("\(error); \(purpose.refusal)")
        } catch let error as UnknownRestoreMachine {
            throw CommandFailure.noSuchPath("\(error)")
        }
    }

    /// Keys of archived photos are looked up in no folder.
    private var places: RestoreSelection.Places {
        purpose == .download
            ? RestoreSelection.Places(workingFolder: "/", vacationRoots: [], candidates: { _ in [] })
            : workspace.installation.restorePlaces
    }

    /// Shows what it comes to, and lets the limit and the person decide.
    /// - Throws: ``CommandFailure`` when it costs too much, or somebody says no: then nothing was requested.
    func agree(to proposal: RestoreProposal, _ wish: RestoreWish) async throws {
        if !workspace.console.isSilent { try view().proposal(proposal).forEach(people.writeLine) }
        guard !proposal.candidates.isEmpty else { return }
        try requireLimit(proposal, maximumCost: wish.maximumCost)
        try await workspace.afterAsking {
            try Question.require("Restore them?", on: people, unless: wish.isAgreed, no: purpose.refusal)
        }
    }

    /// - Throws: ``CommandFailure`` with what would be cheaper.
    func requireLimit(_ proposal: RestoreProposal, maximumCost: Double? = nil) throws {
        guard let limit = maximumCost ?? workspace.settings.restore.maximumCostUSD else { return }
        let source = maximumCost == nil ? "restore.max_cost_usd" : "--max-cost"
        guard proposal.estimate.unpriced.isEmpty else {
            let classes = proposal.estimate.unpriced.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure.failed(
                "\(source) sets a limit, and no price of \(classes) is known; no restore was requested. Add it to the file that "
                    + "cost.prices names, or leave the limit out")
        }
        guard proposal.estimate.totalUSD > limit else { return }
        let cheaper = proposal.options.first { $0.estimate.totalUSD <= limit && $0.tier != proposal.tier }.map {
            "; --tier \($0.tier.rawValue) would cost \(Quantities.dollars($0.estimate.totalUSD))"
        }
        throw CommandFailure.failed(
            "it would cost \(Quantities.aboutDollars(proposal.estimate.totalUSD)), and the limit is "
                + "$\(limit) (\(source)); no restore was requested"
                + (cheaper ?? ". Name fewer photos, or raise the limit"))
    }

    /// Writes the job down and sends all that the proposal has a price for. From here on the job is carried out whatever
    /// happens to this process. Where photos are to be saved, the folder is made first, and gets the job's file: one that cannot
    /// be written is told before there is a job, and before anything is paid for.
    /// - Throws: ``CommandFailure`` when the store is away: the job is kept. ``FolderError``, ``DownloadError`` of a folder
    ///   that cannot be written: nothing was requested.
    func request(_ proposal: RestoreProposal) async throws -> Request {
        let (job, taken) = try await writeDown(proposal)
        var refusals: Set<StoreError.Code> = []
        if let job { refusals = try await send(job.id) }
        let changes = try await change(proposal, besides: job?.id)
        return Request(
            proposal: proposal, job: job, taken: taken, refusals: refusals, hours: services.planner.hours(of: proposal),
            changes: changes)
    }

    /// The folder has the job's file before there is a job: a running agent sends what is written down at once.
    private func writeDown(_ proposal: RestoreProposal) async throws -> (job: RestoreJob?, collided: [ObjectKey]) {
        guard let output = proposal.order.output, services.planner.needsJob(proposal) else {
            return try await services.planner.accept(proposal)
        }
        let folders = RestoreFolders(
            ledger: services.ledger, owner: services.owner, pool: workspace.threads.disk, time: time)
        try OutputPlace.checkAgain(output, workspace.installation)
        try OutputPlace.check(proposal.folders, below: output, workspace.installation)
        let strangers = try await folders.strangers(in: output)
        if !strangers.isEmpty {
            errors.wrapped(
                "\(output.text.escapingControls) has a hidden file of a restore that is not, or no longer, known here "
                    + "(\(strangers.prefix(3).map(\.string).joined(separator: ", "))). Another sync-agent saves there; or the "
                    + "state folder of that restore is gone, and the file may be deleted"
            ).forEach(errors.writeLine)
        }
        let reservation = try await folders.reserve(output)
        do {
            let accepted = try await services.planner.accept(proposal, as: reservation)
            if accepted.job == nil { await folders.cancel(reservation) }
            return accepted
        } catch {
            await folders.cancel(reservation)
            throw error
        }
    }

    /// What is not sent because the store is away stays in the job, and the agent sends it.
    /// - Returns: for what reasons items failed.
    @discardableResult
    func send(_ job: RestoreJobID) async throws -> Set<StoreError.Code> {
        // Others have a line of their own for all that they do.
        let line = purpose == .reading ? ProgressLine(errors, time: time) : nil
        defer { line?.finish() }
        var sent = 0
        return try await withStoreErrors(adding: purpose.kept(job)) {
            try await services.sender.run(job: job) { answered in
                sent += answered
                line?.show("\(Quantities.counted(sent, "photo")) requested")
            }
        }
    }

    /// Makes restores that are under way faster, and lets copies stay longer, as the proposal says.
    /// - Parameter job: what was made of the rest of the proposal.
    func change(_ proposal: RestoreProposal, besides job: RestoreJobID?) async throws -> [RestoreUpgrader.Change] {
        do {
            return try await services.upgrader.run(proposal)
        } catch let error as StoreError {
            let kept = job.map { ". Restore \($0) was made and goes on" } ?? ""
            throw CommandFailure(
                ExitStatus(error), "\(error); restores that are under way were not changed, ask again\(kept)")
        }
    }

    /// How it stands now.
    func report(_ request: Request) async throws -> RestoreReport {
        let items = try await services.ledger { [id = request.job?.id] ledger in
            try id.map { try ledger.restoreItems(of: $0, after: 0, limit: .max) } ?? []
        }
        return RestoreReport(request, items: items)
    }

    // MARK: Saving and waiting

    /// Saves what can be read already. The agent may be at it too: then it is told as saved by whoever saved it.
    func save(_ job: RestoreJobID) async throws -> RestoreDownloader.SaveSummary {
        let rest = "Restore \(job) is kept: the agent, or sync-agent restores --refresh, saves the photos"
        let delivered = try await withStoreErrors(adding: rest) { try await services.service.save(job) }
        for failure in delivered.lines { errors.writeLine(unsaved(failure)) }
        return delivered
    }

    /// What can be read, and another process has begun to save: it is waited for a while, and told where that is not the end.
    /// - Parameter told: what could not be saved here.
    /// - Returns: what is not saved in the end.
    func unfinished(
        of job: RestoreJobID, in output: FilePath, besides told: [RestoreDownloader.Problem]
    ) async throws -> [RestoreDownloader.Problem] {
        let known = Set(told.map(\.item))
        for attempt in 1... {
            let isStopped = try await summary(of: job).job.output == nil
            if isStopped { return try await givenUp(of: job, in: output, besides: told) }
            let items = try await services.ledger { try $0.restoreItems(of: job, after: 0, limit: .max) }
            let left = items.filter { $0.state == .restored && $0.savedAt == nil && !known.contains($0.id) }
            guard !left.isEmpty else { return told }
            if attempt > StoppedSaving.mostTries {
                let problems = left.map { RestoreDownloader.Problem($0, in: output, Self.inOtherHands(job)) }
                for failure in RestoreDownloader.SaveSummary.lines(problems.map(\.description)) {
                    errors.writeLine(unsaved(failure))
                }
                return told + problems
            }
            try await time.sleep(.seconds(1))
            // Whoever had it may have been stopped.
            _ = try await services.service.save(job)
        }
        return told
    }

    /// Why a photo is not known to be saved that is on its way there.
    static func inOtherHands(_ job: RestoreJobID) -> String {
        "another process has it in hand; sync-agent restores \(job) tells when it is saved"
    }

    /// Tells that another process has stopped the saving of a job, and what is not saved.
    /// - Parameter told: what could not be saved before.
    /// - Returns: what is not saved in the end.
    private func givenUp(
        of job: RestoreJobID, in output: FilePath, besides told: [RestoreDownloader.Problem]
    ) async throws -> [RestoreDownloader.Problem] {
        let stopped = StoppedSaving(
            job: job, output: output, ledger: services.ledger, owner: services.owner, time: time)
        let problems = try await stopped.unsaved(besides: Set(told.map(\.item)))
        if !problems.isEmpty {
            errors.writeLine("another process has stopped the saving of restore \(job) (--stop-saving)")
            stopped.lines(problems, errors).forEach(errors.writeLine)
        }
        return try await stopped.stillLeft(told) + problems
    }

    /// Waits for jobs, with a bar, and saves what they bring. The agent may work on the same jobs meanwhile: what it has
    /// noted counts. Ctrl-C ends the waiting, not the job.
    /// - Parameter output: where the photos are to be saved: where another process stops that, nobody waits for more.
    /// - Returns: how the last of them ended, and what of it could not be saved.
    /// - Throws: `LedgerError`; ``CommandFailure`` when somebody pressed Ctrl-C. A store that is away is waited for.
    @discardableResult
    func wait(for jobs: [RestoreJobID], savingIn output: FilePath? = nil) async throws -> Ended? {
        var last: Ended?
        for job in jobs {
            switch try await Interruptible.run(until: .sigint, .sigterm, body: { try await follow(job, output) }) {
            case .done(let ended): last = ended
            case .interrupted(let signal, _):
                throw CommandFailure(
                    ExitStatus(endedBy: signal),
                    "restore \(job) continues in the background; follow it with: sync-agent restores \(job)")
            }
        }
        return last
    }

    /// How a job ended that was waited for.
    struct Ended: Sendable {
        let summary: RestoreJobSummary
        /// Where its photos were to be saved.
        let output: FilePath?
        let unsaved: [RestoreDownloader.Problem]
        /// Whether all that can be read is there.
        let isSaved: Bool
    }

    private func follow(_ job: RestoreJobID, _ output: FilePath?) async throws -> Ended {
        let line = ProgressLine(errors, time: time)
        defer { line.finish() }
        // What could not be saved would meet the same a second later.
        var rounds = RestoreService.Rounds()
        var unsaved: [RestoreDownloader.Problem] = []
        while true {
            let (saved, obstacle) = try await services.service.round(of: job, &rounds)
            // The others are tried again.
            unsaved += saved.problems.filter { saved.unsaved[job]?.contains($0.item) ?? false }
            for failure in rounds.news(in: saved) {
                line.finish()
                errors.writeLine(self.unsaved(failure))
            }
            for refusal in rounds.newRefusals() {
                line.finish()
                errors.writeLine(
                    errors.styled("not told", .yellow) + "  \(refusal.escapingControls); it is asked again")
            }
            let summary = try await summary(of: job)
            if let output, summary.job.output == nil {
                line.finish()
                unsaved = try await givenUp(of: job, in: output, besides: unsaved)
                // What was in hand may have come meanwhile.
                return Ended(
                    summary: try await self.summary(of: job), output: output, unsaved: unsaved,
                    isSaved: unsaved.isEmpty)
            }
            if let obstacle {
                line.show("the store is away, the restore goes on when it is back: \(obstacle)")
            } else {
                if summary.isOver || summary.isStuck(leaving: rounds.unsaved[job]?.count ?? 0) {
                    // The agent may have saved them meanwhile.
                    return Ended(
                        summary: summary, output: output, unsaved: summary.isSaved ? [] : unsaved,
                        isSaved: summary.isSaved)
                }
                line.show(progress(summary))
            }
            try await time.sleep(.seconds(1))
        }
    }

    private func summary(of job: RestoreJobID) async throws -> RestoreJobSummary {
        guard let summary = try await services.ledger({ try $0.restoreJob(job) }) else {
            throw CommandFailure.failed("restore \(job) is no longer known")
        }
        return summary
    }

    private func unsaved(_ failure: String) -> String {
        errors.styled("not saved", .red) + "  \(failure.escapingControls)"
    }

    private func progress(_ summary: RestoreJobSummary) -> String {
        let ready = summary.counts[.restored] ?? 0
        let done = summary.job.output == nil ? ready : summary.saved
        var text = ProgressBar.text(done, of: summary.total, "photo")
        text += summary.job.output == nil ? " restored" : " saved"
        if ready < summary.total, let end = summary.job.end(after: summary.job.estimatedHours) {
            text += end > time.now() ? "  ready by \(Quantities.time(end))" : "  ready any moment"
        }
        return text
    }
}

extension RestoreJobSummary {
    /// All is answered, and what is not saved will not be by waiting.
    /// - Parameter unsaved: items that could not be saved, and would meet the same again.
    fileprivate func isStuck(leaving unsaved: Int) -> Bool {
        let open = (counts[.planned] ?? 0) + (counts[.retrieving] ?? 0)
        return open == 0 && unsaved > 0 && readableUnsaved <= unsaved
    }

    /// Whether all that came is where it was to be saved, also what has ended since.
    var isSaved: Bool { job.output == nil || readableUnsaved + endedUnsaved == 0 }
}
