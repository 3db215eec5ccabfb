import ArgumentParser
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger

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
            throw CommandFailure(.failed, "\(doubt)")
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
