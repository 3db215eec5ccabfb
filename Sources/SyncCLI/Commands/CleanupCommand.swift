import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhone
import SyncPhotos
import SyncWatch
import SystemPackage

struct CleanupCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "cleanup",
        abstract: "Archive the photos of old gallery events, and delete their texts.",
        usage: "sync-agent cleanup [<options>]",
        discussion: """
            Each photo is stored below gallery-archive/ first, with its dates and, unless retention.keep_titles is \
            false, its title. Once the stored copy is verified, the text is removed from every file that holds the \
            event. An event without a photo only loses its text. What cannot be archived keeps its text and is named. \
            The agent does the same every day at retention.at. Events are handled in batches of 500 \
            (retention.batch_size) until none is due. Freed disk blocks are not overwritten.

            The galleries are scanned first, so that files that no sync has seen count too. An event that an edit has \
            turned into another one waits for its own time. Whatever cannot be decided in a file is kept, and the file \
            is named.

            archived counts photos, deleted counts events whose text is gone, with or without a photo. Exit code 3 means \
            that some events or files could not be cleaned up; each is named with its reason.

            If the clock is earlier than the last cleanup, or more than a year later than the newest file, event and \
            cleanup, the command exits with 1 before it does anything: it would delete texts that are not due. If the \
            clock is right (for example, the machine was off for a long time), run it once with --trust-clock.

            EXAMPLES
              sync-agent cleanup --dry-run
              sync-agent cleanup --days-old 30
              sync-agent cleanup --report           what is overdue, and why
              sync-agent cleanup --json | jq .errors
            """
    )

    @Option(
        name: .customLong("days-old"),
        help: ArgumentHelp("Only events older than this many days (default: retention.event_days).", valueName: "n"))
    var daysOld: Int?

    @Flag(help: "Dry run: show what would be done; nothing is stored, deleted or remembered.")
    var dryRun = false

    @Flag(help: "Trust this machine's clock even if nothing confirms it.")
    var trustClock = false

    @Flag(help: "Show what is overdue and why, and the last runs; nothing is done.")
    var report = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if let daysOld, !(0...36_500).contains(daysOld) { throw ValidationError("--days-old takes 0 to 36500") }
        if report, dryRun { throw ValidationError("--report only shows; leave out --dry-run") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (ledger, now) = (try await workspace.ledger, workspace.time.now())
        let days = daysOld ?? workspace.settings.retention.eventDays
        if report {
            let services = try await RetentionServices(lookingAt: workspace, waits: false)
            let report = try await OverdueReport(services, daysOld: days, now: now)
            return Answer(report) { _ in report.lines(now: now) }
        }
        try await requireRightClock(ledger, at: now)
        let summary = try await dryRun ? preview(days, workspace) : cleanUp(days, workspace)
        return Answer(CleanupReport(summary, daysOld: days, dryRun: dryRun), failure: summary.outage)
    }

    private func requireRightClock(_ ledger: LedgerQueue, at now: Date) async throws {
        if !trustClock, let doubt = try await ledger({ try ClockCheck($0).doubt(at: now) }) {
            throw CommandFailure.failed("\(doubt)")
        }
    }

    private func preview(_ days: Int, _ workspace: Workspace) async throws -> RetentionSummary {
        let services = try await RetentionServices(lookingAt: workspace, waits: true)
        let summary = try await services.retention.preview(olderThan: days)
        try await requireRightClock(services.ledger, at: workspace.time.now())
        return summary
    }

    private func cleanUp(_ days: Int, _ workspace: Workspace) async throws -> RetentionSummary {
        let lock: AgentLock
        do {
            lock = try workspace.installation.takeCleanupLock()
        } catch let held as AgentLock.Held {
            let who = held.holder.map { "process \($0.pid)" } ?? "another process"
            throw CommandFailure(.locked, "another cleanup is at work (\(who)); wait for it")
        }
        defer { withExtendedLifetime(lock) {} }
        let (services, unclear) = try await takeIn(workspace)
        // A ledger that knew nothing could not tell.
        let now = workspace.time.now()
        try await requireRightClock(services.ledger, at: now)
        // Before anything is done: with a clock that is wrong after all, the next one notices.
        try await services.ledger.finish { try ClockCheck($0).accept(at: now) }
        let cutoff = services.retention.cutoff(days: days)
        let total = try await services.ledger { try $0.dueEventCount(createdBefore: cutoff) }
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        let summary = try await services.retention.run(olderThan: days, after: unclear) {
            line.count($0, of: total, "event")
        }
        let run = RetentionRun(summary, scheduledAt: nil, at: workspace.time.now())
        try await services.ledger.finish { try $0.noteRetentionRun(run) }
        return summary
    }

    /// Looks at the galleries. Where an agent is at work, it does so; a lock is held no longer than that takes.
    private func takeIn(_ workspace: Workspace) async throws -> (RetentionServices, unclear: [RetentionSummary.Issue]) {
        let agent = try await workspace.takeLockIfFree()
        defer { withExtendedLifetime(agent) {} }
        let services = try await RetentionServices(workspace, writes: true, scans: agent != nil)
        return (services, try await services.retention.takeIn())
    }
}

/// What `cleanup` answers. It holds no text of any event.
struct CleanupReport: Report, Sendable {
    struct Issue: Encodable, Sendable {
        let event: String
        @Nullable var file: String?
        let reason: String

        init(_ issue: RetentionSummary.Issue) {
            event = issue.event
            _file = Nullable(wrappedValue: issue.file?.text)
            reason = issue.reason
        }
    }

    /// Photos that are proven in the archive now.
    let archived: Int
    /// Events whose texts are gone, with or without a photo.
    let deleted: Int
    let skipped: Int
    let failed: Int
    /// Due, and left for the time when the store is back.
    let waiting: Int
    /// Those that failed, and those that were skipped; the first thousand of each.
    let errors: [Issue]
    let skippedEvents: [Issue]
    let daysOld: Int
    let dryRun: Bool

    /// What was skipped is due, and has its text still.
    var status: ExitStatus { failed + skipped == 0 ? .done : .partlyDone }
}

extension CleanupReport {
    init(_ summary: RetentionSummary, daysOld: Int, dryRun: Bool) {
        self.init(
            archived: summary.archived, deleted: summary.deleted, skipped: summary.skipped.count,
            failed: summary.errors.count, waiting: summary.waiting, errors: summary.errors.named.map(Issue.init),
            skippedEvents: summary.skipped.named.map(Issue.init), daysOld: daysOld, dryRun: dryRun)
    }

    /// For people.
    func lines(on terminal: Terminal) -> [String] {
        let age = daysOld == 0 ? "" : " older than \(Quantities.counted(daysOld, "day"))"
        let waits =
            waiting > 0
            ? [
                "\(Quantities.counted(waiting, "event"))\(age) still \(waiting == 1 ? "has its text and waits" : "have their text and wait") for the store."
            ] : []
        guard deleted + skipped + failed > 0 else {
            return waits.isEmpty ? ["No gallery event\(age) has text to delete."] : waits
        }
        let photos = Quantities.counted(archived, "photo")
        let texts = Quantities.counted(deleted, "event")
        var lines = [
            dryRun
                ? "Would archive \(photos), and delete the text of \(texts)\(age)."
                : "Archived \(photos), and deleted the text of \(texts)\(age)."
        ]
        let most = RetentionSummary.Issues.mostTold
        let table = Table(.left(7, gap: 2), .rest)
        lines += skippedEvents.prefix(most).map {
            table.row("skipped", Self.line($0)) { terminal.styled($0, .yellow) }
        }
        lines += Self.more(skipped - most, "skipped")
        lines += errors.prefix(most).map { table.row("error", Self.line($0)) { terminal.styled($0, .red) } }
        lines += Self.more(failed - most, "failed")
        lines += waits
        if failed + skipped > 0 {
            lines.append("What was skipped or failed keeps its text, and is tried again by the next cleanup.")
        }
        return lines
    }

    private static func more(_ count: Int, _ what: String) -> [String] {
        count > 0 ? ["\(Quantities.count(count)) more \(what); see sync-agent cleanup --report"] : []
    }

    private static func line(_ issue: Issue) -> String {
        "\(Self.place(of: issue.event, in: issue.file)): \(issue.reason)"
    }

    /// An event and its file, or the file alone where it is about no event.
    static func place(of event: String, in file: String?) -> String {
        guard let file = file?.escapingControls else { return event.escapingControls }
        return event == RetentionSummary.Issue.noEvent ? file : "\(event.escapingControls) in \(file)"
    }
}

extension DailySchedule {
    init(_ settings: RetentionSettings) {
        self.init(hour: settings.at.hour, minute: settings.at.minute, in: settings.timeZone)
    }
}

/// The parts of retention, put together from the configuration: for the agent, and for `cleanup`.
struct RetentionServices: Sendable {
    let retention: RetentionPass
    let schedule: DailySchedule
    let ledger: LedgerQueue

    private let workspace: Workspace

    /// - Parameters:
    ///   - store: with retries.
    ///   - folders: those that are scanned first; `nil` where another process does it.
    ///   - work: signalled when the queue has got something new.
    ///   - waits: for files that are just being written.
    init(
        _ workspace: Workspace, store: any ObjectStore, scanning folders: [FolderRecord]?, work: Wakeup? = nil,
        waits: Bool = true
    ) async throws {
        let (ledger, settings) = (try await workspace.ledger, workspace.settings)
        let pass = folders.map { folders in
            workspace.pass(over: folders.filter { $0.kind == .gallery }, ledger, settle: waits ? nil : .zero)
        }
        self.workspace = workspace
        self.ledger = ledger
        schedule = DailySchedule(settings.retention)
        retention = RetentionPass(
            folders: settings.watch.filter { $0.kind == .gallery }.map(\.path), ledger: ledger, store: store,
            scanner: FileTreeScanner(), reducer: workspace.reducer, phones: LibPhoneNumbers(),
            rules: RetentionPass.Rules(
                keys: try workspace.keys, policy: settings.photos.reduce,
                batchSize: settings.retention.batchSize, settle: settings.upload.settle,
                keepsTitles: settings.retention.keepTitles, phoneRegion: settings.share.phoneRegion),
            pool: workspace.threads.photos,
            intake: EventIntake(
                pass: pass, ledger: ledger, scanner: FileTreeScanner(), reducer: workspace.reducer,
                settle: settings.upload.settle, pool: workspace.threads.disk, work: work, time: workspace.time),
            moves: try await workspace.mergedPhotos(store), time: workspace.time)
    }

    /// For a command: with the store that the configuration names.
    /// - Parameters:
    ///   - writes: `false` for a look at a copy of the ledger, which need not be about this store.
    ///   - scans: whether the folders are this process's to scan: no agent does it.
    ///   - waits: for files that are just being written.
    init(_ workspace: Workspace, writes: Bool, scans: Bool, waits: Bool = true) async throws {
        let (ledger, watched) = (try await workspace.ledger, workspace.settings.watch)
        let store = try await writes ? workspace.store(.founds) : workspace.readStore()
        let folders = scans ? try await ledger { try $0.register(watched) } : []
        try await self.init(workspace, store: store, scanning: scans ? folders : nil, waits: waits)
    }

    /// For a look: on a copy of the ledger, of which nothing is kept.
    init(lookingAt workspace: Workspace, waits: Bool) async throws {
        try await self.init(try await workspace.withLedgerCopy(), writes: false, scans: true, waits: waits)
    }

    func service(_ patience: LedgerPatience) -> RetentionService {
        RetentionService(
            retention, days: workspace.settings.retention.eventDays, schedule: schedule, ledger: ledger,
            hold: { [installation = workspace.installation] in try installation.takeCleanupLock() },
            patience: patience, time: workspace.time, logger: workspace.logger)
    }
}
