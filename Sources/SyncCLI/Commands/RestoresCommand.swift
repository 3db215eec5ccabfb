import ArgumentParser
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct RestoresCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "restores",
        abstract: "Show the progress of restores.",
        usage: "sync-agent restores [<id>] [<options>]",
        discussion: """
            Without a number it lists the newest jobs, with one the photos of that job. The store is asked only with \
            --refresh; otherwise it shows what the agent has seen.

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

    @Flag(help: "Save no more photos of this job; what is available stays available.")
    var stopSaving = false

    @OptionGroup var options: AnswerOptions

    var isQuery: Bool { !refresh && !stopSaving }

    func validate() throws {
        if stopSaving, id == nil {
            throw ValidationError("--stop-saving needs the number of a job: sync-agent restores lists them")
        }
    }

    private static let jobsShown = 50

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (ledger, now) = (try await workspace.ledger, workspace.time.now())
        var status = ExitStatus.done
        var unsaved: [PathRemark] = []
        if stopSaving, let id { unsaved = try await giveUp(RestoreJobID(rawValue: id), workspace) }
        if refresh {
            let round = try await RestoreServices(workspace, access: .writes).service.round(isUrgent: true)
            let errors = workspace.console.errors
            for failure in round.saved.lines {
                errors.writeLine(errors.styled("not saved", .red) + "  \(failure.escapingControls)")
            }
            unsaved += round.saved.problems.map { PathRemark($0.path, $0.reason) }
            for refusal in round.unanswered {
                errors.writeLine(errors.styled("not told", .red) + "  \("\(refusal)".escapingControls)")
            }
            if !round.saved.problems.isEmpty || !round.unanswered.isEmpty { status = .partlyDone }
        } else {
            let owner = workspace.installation.makeClaimOwner()
            try await ledger { ledger in
                _ = try ledger.expireRestores(at: now)
                // Of a process that was killed, nothing more comes.
                try ledger.releaseRestoreClaims(of: owner.hasEnded)
            }
        }
        guard let id else {
            let jobs = try await ledger { try $0.restoreJobs(limit: Self.jobsShown) }.map { JobReport($0) }
            return Answer(JobListReport(restores: jobs, notSaved: unsaved), status: status) {
                JobView(terminal: $0, now: now).list(jobs)
            }
        }
        guard let summary = try await ledger({ try $0.restoreJob(RestoreJobID(rawValue: id)) }) else {
            throw CommandFailure.noSuchPath("there is no restore \(id); sync-agent restores lists them")
        }
        let items = try await ledger { try $0.restoreItems(of: summary.job.id, after: 0, limit: .max) }
        let job = JobReport(summary, items: items)
        return Answer(JobListReport(restores: [job], notSaved: unsaved), status: status) {
            JobView(terminal: $0, now: now).detail(job)
        }
    }

    /// - Returns: what would still have been saved; of a job that somebody has stopped before, what was given up then.
    private func giveUp(_ job: RestoreJobID, _ workspace: Workspace) async throws -> [PathRemark] {
        let ledger = try await workspace.ledger
        let (owner, errors) = (workspace.installation.makeClaimOwner(), workspace.console.errors)
        var unsaved: [RestoreDownloader.Problem] = []
        func saving(_ output: FilePath) -> StoppedSaving {
            StoppedSaving(job: job, output: output, ledger: ledger, owner: owner, time: workspace.time)
        }
        if let ended = try await ledger({ try $0.stopSaving(job, releasing: owner.hasEnded) }) {
            let stopped = saving(ended.output)
            // Named before anything else can fail.
            unsaved = ended.left.filter { !$0.isBeingSaved }.map(stopped.problem)
            stopped.lines(unsaved, errors).forEach(errors.writeLine)
            if unsaved.count < ended.left.count {
                let more = try await stopped.unsaved(besides: Set(unsaved.map(\.item)))
                stopped.lines(more, errors).forEach(errors.writeLine)
                unsaved += more
            }
        } else if let known = try await ledger({ try $0.restoreJob(job) }) {
            // As after a run that was killed while it named the photos.
            let stopped = known.job.stoppedOutput.map(saving)
            unsaved = try await stopped?.unsaved(besides: []) ?? []
            errors.writeLine(
                unsaved.isEmpty
                    ? "nothing more of restore \(job) was to be saved"
                    : "the saving of restore \(job) was stopped already; \(Quantities.counted(unsaved.count, "photo")) given up"
            )
            stopped?.lines(unsaved, errors).forEach(errors.writeLine)
        }
        do {
            try await RestoreFolders(
                ledger: ledger, owner: owner, pool: workspace.threads.disk, time: workspace.time
            ).leaveEnded()
        } catch let error as LedgerError {
            // The next run that saves takes it away.
            errors.writeLine("the job's hidden file may still be there: \(error)")
        }
        return unsaved.map { PathRemark($0.path, $0.reason) }
    }
}

/// `restores --json`: the fields are a contract (docs/commands.md).
struct JobListReport: Encodable {
    var restores: [JobReport]
    /// What `--refresh` could not save, of all jobs, and what `--stop-saving` gives up.
    var notSaved: [PathRemark]
}

struct JobReport: Encodable {
    /// `sending`, `retrieving`, `saving`, `ready`, `partlyReady`, `failed`, `expired`.
    enum State: String, Encodable {
        case sending, retrieving, saving, ready, partlyReady, failed, expired
    }

    struct Item: Encodable {
        @Nullable var path: String?
        var paths: [String]
        var key: String
        var state: String
        var storageClass: String
        var tier: String
        var bytes: Int64
        @Nullable var readyAt: Date?
        @Nullable var expiresAt: Date?
        @Nullable var savedAt: Date?
        @Nullable var error: String?
        /// In what it differs from what was asked for, and that it was given up.
        @Nullable var note: String?
    }

    var jobId: String
    var state: State
    var tier: String
    var requestedAt: Date
    var requestedBy: String
    /// When the last item could be read; while it is under way, when that will be at the latest.
    @Nullable var readyAt: Date?
    @Nullable var expiresAt: Date?
    var items: Int
    var done: Int
    var saved: Int
    var failed: Int
    /// Archived again.
    var expired: Int
    var bytes: Int64
    @Nullable var costUSD: Double?
    @Nullable var output: String?
    /// Where one job was asked for.
    @Nullable var itemList: [Item]?
}

extension JobReport {
    init(_ summary: RestoreJobSummary, items list: [RestoreItem]? = nil) {
        let (job, counts, state) = (summary.job, summary.counts, State(summary))
        let isUnderWay = state == .sending || state == .retrieving
        self.init(
            jobId: "\(job.id)", state: state, tier: job.tier.rawValue, requestedAt: job.requestedAt,
            requestedBy: job.requestedBy,
            readyAt: isUnderWay ? job.end(after: job.estimatedHours) : summary.latestReadyAt,
            expiresAt: summary.earliestExpiry, items: summary.total,
            done: (counts[.restored] ?? 0) + (counts[.expired] ?? 0), saved: summary.saved,
            failed: counts[.failed] ?? 0, expired: counts[.expired] ?? 0, bytes: summary.bytes,
            costUSD: job.estimatedCostUSD.map(\.roundedUSD), output: job.output?.text,
            itemList: list.map { $0.map(Item.init) })
    }
}

extension JobReport.State {
    fileprivate init(_ summary: RestoreJobSummary) {
        let counts = summary.counts
        let (failed, expired) = (counts[.failed] ?? 0, counts[.expired] ?? 0)
        if counts[.planned] ?? 0 > 0 {
            self = .sending
        } else if counts[.retrieving] ?? 0 > 0 {
            self = .retrieving
        } else if failed == summary.total {
            self = .failed
        } else if summary.copies == 0, expired > 0 {
            // What was never archived can be read all the same, and is not what anybody waits for.
            self = .expired
        } else if summary.job.output != nil, summary.readableUnsaved > 0 {
            self = .saving
        } else {
            self = failed + expired > 0 ? .partlyReady : .ready
        }
    }
}

extension JobReport.Item {
    fileprivate init(_ item: RestoreItem) {
        self.init(
            path: item.path?.text, paths: item.paths, key: item.key.rawValue, state: item.state.rawValue,
            storageClass: item.storageClass.rawValue, tier: item.tier.rawValue,
            bytes: item.size, readyAt: item.readyAt, expiresAt: item.expiresAt, savedAt: item.savedAt,
            error: item.error, note: item.error == nil ? item.remark : nil)
    }
}

/// Restore jobs for people, in 80 columns.
struct JobView {
    let terminal: Terminal
    let now: Date

    func list(_ jobs: [JobReport]) -> [String] {
        guard !jobs.isEmpty else {
            return terminal.wrapped("No restores yet. Ask for one with: sync-agent restore PATH")
        }
        if terminal.isNarrow(for: 80) { return jobs.flatMap(narrow) }
        let table = Table(
            .left(3, gap: 1), .left(16, gap: 1), .left(5, gap: 1), .left(9, gap: 1), .left(11, gap: 1),
            .left(9, gap: 1), .rest)
        let head = table.row("no.", "requested", "by", "tier", "photos", "costs", "state")
        return [terminal.styled(head, .bold)]
            + jobs.map { job in
                table.row(
                    job.jobId, Quantities.time(job.requestedAt), job.requestedBy.escapingControls, job.tier,
                    "\(Quantities.count(job.done))/\(Quantities.count(job.items))",
                    job.costUSD.map(Quantities.dollars) ?? "", shortStateText(job).escapingControls)
            }
    }

    private func narrow(_ job: JobReport) -> [String] {
        var parts = [
            "\(Quantities.count(job.done))/\(Quantities.count(job.items)) photos", job.tier,
            "\(Quantities.time(job.requestedAt)) by \(job.requestedBy.escapingControls)",
        ]
        if let cost = job.costUSD { parts.append(Quantities.dollars(cost)) }
        return terminal.wrapped("\(job.jobId)  \(shortStateText(job).escapingControls)")
            + terminal.wrapped(parts.joined(separator: ", "), indent: 3)
    }

    func detail(_ job: JobReport) -> [String] {
        let (facts, isNarrow) = (Table(indent: 2, .left(9, gap: 2), .rest), terminal.isNarrow(for: 64))
        func fact(_ name: String, _ text: String) -> [String] {
            isNarrow ? terminal.wrapped("\(name) \(text)", indent: 2) : [facts.row(name, text)]
        }
        let (bytes, bar) = (Quantities.bytes(job.bytes), ProgressBar.text(job.done, of: job.items))
        var lines =
            isNarrow
            ? terminal.wrapped("Restore \(job.jobId): \(stateText(job))")
            : [terminal.styled("Restore \(job.jobId)", .bold) + ": \(stateText(job))"]
        lines += fact(
            "requested",
            "\(Quantities.time(job.requestedAt)) by \(job.requestedBy.escapingControls), tier \(job.tier)")
        lines +=
            isNarrow
            ? terminal.wrapped("\(job.done) of \(job.items) photos, \(bytes)", indent: 2)
            : [facts.row("photos", "\(bar) \(job.done) of \(job.items), \(bytes)")]
        if let cost = job.costUSD { lines.append(facts.row("cost", Quantities.aboutDollars(cost))) }
        if let output = job.output {
            lines += fact("saved", "\(job.saved) of \(job.items) in \(output.escapingControls)")
        }
        lines.append("")
        let items = Table(indent: 2, .left(terminal.hasStyle ? 3 : 11), .right(9, gap: 2), .rest)
        for item in job.itemList ?? [] {
            let name = (item.path ?? item.key).escapingControls
            lines.append(
                items.row(
                    symbol(item), Quantities.bytes(item.bytes),
                    isNarrow ? "" : TextLayout.shortened(name, to: max(terminal.width - 26, 30))))
            if isNarrow { lines += terminal.wrapped(name, indent: 4) }
            if let text = item.error ?? item.note {
                lines += terminal.wrapped(text, indent: 6, .yellow)
            }
        }
        return lines
    }

    private func symbol(_ item: JobReport.Item) -> String {
        // What was never archived was not restored: it could be read all along.
        let isPlain =
            item.state == RestoreItemState.restored.rawValue && !StorageClass(rawValue: item.storageClass).isArchive
        guard terminal.hasStyle else { return isPlain ? "readable" : item.state }
        if isPlain { return "" }
        return switch RestoreItemState(rawValue: item.state) {
        case .restored: "✨"
        case .failed: "⚠️"
        case .expired: "❄️"
        default: "⏳"
        }
    }

    /// For the last column of the list, which has 21 of the 80.
    private func shortStateText(_ job: JobReport) -> String {
        switch job.state {
        case .retrieving: job.readyAt.map { $0 > now ? "due in \(span(to: $0))" : "due any moment" } ?? "retrieving"
        case .ready: "available" + (job.expiresAt.map { " for \(span(to: $0))" } ?? "")
        default: stateText(job)
        }
    }

    /// In one unit, the next whole one.
    private func span(to end: Date) -> String {
        let seconds = end.timeIntervalSince(now)
        let hours = (seconds / 3_600).rounded(.up)
        if hours > 48 { return Quantities.counted(Int((hours / 24).rounded(.up)), "day") }
        return hours > 1 ? "\(Int(hours)) h" : Quantities.span(.seconds(seconds))
    }

    private func stateText(_ job: JobReport) -> String {
        switch job.state {
        case .sending: "requesting"
        case .retrieving:
            "retrieving" + (job.readyAt.map { $0 > now ? ", by \(Quantities.time($0))" : ", any moment" } ?? "")
        case .saving: "ready, being saved"
        case .ready: "available" + (job.expiresAt.map { " until \(Quantities.time($0))" } ?? "")
        case .partlyReady:
            [(job.failed, "failed"), (job.expired, "archived again")].filter { $0.0 > 0 }
                .map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        case .failed: "failed"
        case .expired: "archived again"
        }
    }
}
