import SyncCore
import SyncEngine
import SystemPackage

/// What `cleanup` answers. It holds no text of any event.
struct CleanupReport: Report, Sendable {
    struct Issue: Encodable, Sendable {
        let event: String
        @Nullable var file: String?
        let reason: String

        init(_ issue: RetentionSummary.Issue) {
            event = issue.event
            _file = Nullable(wrappedValue: issue.file?.string)
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

    init(_ summary: RetentionSummary, daysOld: Int, dryRun: Bool) {
        archived = summary.archived
        deleted = summary.deleted
        skipped = summary.skipped.count
        failed = summary.errors.count
        waiting = summary.waiting
        errors = summary.errors.named.map(Issue.init)
        skippedEvents = summary.skipped.named.map(Issue.init)
        self.daysOld = daysOld
        self.dryRun = dryRun
    }

    var status: ExitStatus { errors.isEmpty ? .done : .partlyDone }
}

extension CleanupReport {
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
        lines += skippedEvents.prefix(most).map { terminal.styled("skipped", .yellow) + "  " + Self.line($0) }
        lines += Self.more(skipped - most, "skipped")
        lines += errors.prefix(most).map { terminal.styled("error", .red) + "    " + Self.line($0) }
        lines += Self.more(failed - most, "failed")
        lines += waits
        if !errors.isEmpty { lines.append("What failed keeps its text, and is tried again by the next cleanup.") }
        return lines
    }

    private static func more(_ count: Int, _ what: String) -> [String] {
        count > 0 ? ["\(Quantities.count(count)) more \(what); see sync-agent cleanup --report"] : []
    }

    private static func line(_ issue: Issue) -> String {
        let place = issue.file.map { " in \($0.escapingControls)" } ?? ""
        return "\(issue.event.escapingControls)\(place): \(issue.reason)"
    }
}
