import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
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
            let parts = try await RetentionServices(lookingAt: workspace, waits: false)
            let report = try await OverdueReport(parts, daysOld: days, now: now)
            return Answer(report) { _ in report.lines(now: now) }
        }
        if !trustClock, let doubt = try await ledger({ try ClockCheck($0).doubt(at: now) }) {
            throw CommandFailure.failed("\(doubt)")
        }
        let summary =
            dryRun
            ? try await RetentionServices(lookingAt: workspace, waits: true).retention.preview(olderThan: days)
            : try await cleanUp(days, workspace)
        return Answer(CleanupReport(summary, daysOld: days, dryRun: dryRun), failure: summary.outage)
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
        let (parts, unclear) = try await takeIn(workspace)
        // Before anything is done: with a clock that is wrong after all, the next one notices.
        let now = workspace.time.now()
        try await parts.ledger.finish { try ClockCheck($0).accept(at: now) }
        let cutoff = parts.retention.cutoff(days: days)
        let total = try await parts.ledger { try $0.dueEventCount(createdBefore: cutoff) }
        let line = ProgressLine(workspace.console.errors, time: workspace.time, elsewhere: .nothing)
        defer { line.finish() }
        let summary = try await parts.retention.run(olderThan: days, after: unclear) {
            line.count($0, of: total, "event")
        }
        let run = RetentionRun(summary, scheduledAt: nil, at: workspace.time.now())
        try await parts.ledger.finish { try $0.noteRetentionRun(run) }
        return summary
    }

    /// Looks at the galleries. Where an agent is at work, it does so; a lock is held no longer than that takes.
    private func takeIn(_ workspace: Workspace) async throws -> (RetentionServices, unclear: [RetentionSummary.Issue]) {
        let agent = try await workspace.takeLockIfFree()
        defer { withExtendedLifetime(agent) {} }
        let parts = try await RetentionServices(workspace, writes: true, scans: agent != nil)
        return (parts, try await parts.retention.takeIn())
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

/// What `cleanup --report` answers: what should have been cleaned up and was not, and what was signed off.
struct OverdueReport: Encodable, Sendable {
    struct Overdue: Encodable, Sendable {
        let event: String
        let profile: String
        let eventType: String
        let createdAt: Date
        let dueSince: Date
        let files: [String]
        @Nullable var triedAt: Date?
        /// Why the last try did not succeed, or what a first one would meet.
        @Nullable var reason: String?
    }

    struct Unclear: Encodable, Sendable {
        let file: String
        let reason: String
    }

    struct Run: Encodable, Sendable {
        let scheduledAt: Date
        let finishedAt: Date
    }

    /// One of the last cleanups.
    struct History: Encodable, Sendable {
        /// `null` of one that somebody has started.
        @Nullable var scheduledAt: Date?
        let finishedAt: Date
        let archived: Int
        let deleted: Int
        let skipped: Int
        let failed: Int
        let waiting: Int
    }

    struct SignedOff: Encodable, Sendable {
        let event: String
        let profile: String
        let signedOffAt: Date
        @Nullable var key: String?
        @Nullable var sha256: String?
    }

    /// So many overdue events are named, the oldest first.
    static let named = 1_000
    private static let recent = 10
    private static let runsTold = 30
    private static let runsShown = 10

    let daysOld: Int
    let overdue: Int
    let events: [Overdue]
    /// Files in which something cannot be told: it may be due, and keeps its text.
    let unclear: [Unclear]
    let archived: Int
    let deleted: Int
    /// The last daily run of an agent.
    @Nullable var lastRun: Run?
    let nextRun: Date
    /// The last cleanups, the latest first.
    let runs: [History]
    /// The part of them that left nothing that was due, from 0 to 1; `null` before the first.
    @Nullable var successRate: Double?
    let signedOff: [SignedOff]

    init(_ parts: RetentionServices, daysOld: Int, now: Date) async throws {
        let cutoff = parts.retention.cutoff(days: daysOld)
        let age = Double(daysOld) * 86_400
        self.daysOld = daysOld
        unclear = try await parts.retention.takeIn().prefix(Self.named).compactMap { issue in
            issue.file.map { Unclear(file: $0.text, reason: issue.reason) }
        }
        let (count, due) = try await parts.ledger { ledger in
            let due = try ledger.dueEvents(createdBefore: cutoff, after: nil, limit: Self.named)
            return (try ledger.dueEventCount(createdBefore: cutoff), due)
        }
        let untried = due.filter { $0.event.retentionProblem == nil }
        let obstacles = try await parts.retention.obstacles(to: untried)
        overdue = count
        events = due.map { due in
            let event = due.event
            return Overdue(
                event: event.eventID, profile: event.profileUUID ?? event.profile, eventType: event.type.rawValue,
                createdAt: event.createdAt, dueSince: event.createdAt.addingTimeInterval(age),
                files: due.files.map(\.text), triedAt: event.triedAt,
                reason: event.retentionProblem ?? obstacles[event.id])
        }
        let counts = try await parts.ledger { try $0.eventCounts().retention }
        archived = counts[.archived] ?? 0
        deleted = archived + (counts[.deleted] ?? 0)
        let run = try await parts.ledger { try $0.dailyRun(RetentionService.task) }
        _lastRun = Nullable(wrappedValue: run.map { Run(scheduledAt: $0.scheduledAt, finishedAt: $0.finishedAt) })
        nextRun = parts.schedule.next(after: now)
        let runs = try await parts.ledger { try $0.retentionRuns(limit: Self.runsTold) }
        self.runs = runs.map(History.init)
        _successRate = Nullable(wrappedValue: Self.successRate(of: runs))
        signedOff = try await parts.ledger { try $0.retentionRecords(limit: Self.recent) }.map { record in
            SignedOff(
                event: record.eventID, profile: record.profile, signedOffAt: record.signedOffAt,
                key: record.photo?.key.rawValue, sha256: record.photo.map { "\($0.sha256)" })
        }
    }

    static func successRate(of runs: [RetentionRun]) -> Double? {
        runs.isEmpty ? nil : Double(runs.count(where: \.isWhole)) / Double(runs.count)
    }

    /// The last cleanups, and the part of them that left nothing that was due; none before the first.
    static func history(_ ledger: Ledger) throws -> [String] {
        let runs = try ledger.retentionRuns(limit: runsTold)
        return history(runs.map(History.init), successRate(of: runs))
    }

    private static func history(_ runs: [History], _ successRate: Double?) -> [String] {
        guard let successRate else { return [] }
        let table = Table(.left(18), .right(9), .right(9), .right(9), .right(9), .right(9))
        let rows = runs.prefix(runsShown).map { run in
            table.row(
                [Quantities.time(run.finishedAt)]
                    + [run.archived, run.deleted, run.skipped, run.failed, run.waiting].map(Quantities.count))
        }
        let whole = Int((successRate * Double(runs.count)).rounded())
        let last = Quantities.counted(runs.count, "cleanup")
        let percent = Int((successRate * 100).rounded(.down))
        return ["", table.row(["Cleanup", "archived", "deleted", "skipped", "failed", "waiting"])] + rows
            + ["\(whole) of the last \(last) left nothing behind (\(percent) %).", ""]
    }

    /// For people.
    func lines(now: Date) -> [String] {
        var lines = [
            "Archived \(Quantities.counted(archived, "photo")) and deleted the text of "
                + "\(Quantities.counted(deleted, "event")) so far.",
            lastRun.map { "Last daily run \(Quantities.ago($0.finishedAt, now: now))." } ?? "No daily run yet.",
            "The next one is due at \(Quantities.time(nextRun)), while an agent runs.",
        ]
        lines += Self.history(runs, successRate)
        if overdue == 0, unclear.isEmpty { return lines + ["Nothing is overdue."] }
        if overdue > 0 { lines.append("\(Quantities.counted(overdue, "event")) overdue:") }
        let shown = events.prefix(20)
        lines += shown.map { event in
            let reason = event.reason ?? "not tried yet"
            let place = CleanupReport.place(of: event.event, in: event.files.first)
            return "  \(place)  due since \(Quantities.day(event.dueSince)): \(reason)"
        }
        if overdue > shown.count { lines.append("  and \(Quantities.count(overdue - shown.count)) more") }
        if !unclear.isEmpty {
            lines.append("\(Quantities.counted(unclear.count, "file")) with something that cannot be told:")
            lines += unclear.prefix(20).map { "  \($0.file.escapingControls): \($0.reason.escapingControls)" }
            if unclear.count > 20 { lines.append("  and \(Quantities.count(unclear.count - 20)) more") }
        }
        return lines
    }
}

extension OverdueReport.History {
    init(_ run: RetentionRun) {
        self.init(
            scheduledAt: run.scheduledAt, finishedAt: run.finishedAt, archived: run.archived, deleted: run.deleted,
            skipped: run.skipped, failed: run.failed, waiting: run.waiting)
    }
}
