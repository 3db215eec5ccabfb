import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

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

    init(_ services: RetentionServices, daysOld: Int, now: Date) async throws {
        let cutoff = services.retention.cutoff(days: daysOld)
        let age = Double(daysOld) * 86_400
        self.daysOld = daysOld
        unclear = try await services.retention.takeIn().prefix(Self.named).compactMap { issue in
            issue.file.map { Unclear(file: $0.text, reason: issue.reason) }
        }
        let (count, due) = try await services.ledger { ledger in
            let due = try ledger.dueEvents(createdBefore: cutoff, after: nil, limit: Self.named)
            return (try ledger.dueEventCount(createdBefore: cutoff), due)
        }
        let untried = due.filter { $0.event.retentionProblem == nil }
        let obstacles = try await services.retention.obstacles(to: untried)
        overdue = count
        events = due.map { due in
            let event = due.event
            return Overdue(
                event: event.eventID, profile: event.profileUUID ?? event.profile, eventType: event.type.rawValue,
                createdAt: event.createdAt, dueSince: event.createdAt.addingTimeInterval(age),
                files: due.files.map(\.text), triedAt: event.triedAt,
                reason: event.retentionProblem ?? obstacles[event.id])
        }
        let counts = try await services.ledger { try $0.eventCounts().retention }
        archived = counts[.archived] ?? 0
        deleted = archived + (counts[.deleted] ?? 0)
        let run = try await services.ledger { try $0.dailyRun(RetentionService.task) }
        _lastRun = Nullable(wrappedValue: run.map { Run(scheduledAt: $0.scheduledAt, finishedAt: $0.finishedAt) })
        nextRun = services.schedule.next(after: now)
        let runs = try await services.ledger { try $0.retentionRuns(limit: Self.runsTold) }
        self.runs = runs.map(History.init)
        _successRate = Nullable(wrappedValue: Self.successRate(of: runs))
        signedOff = try await services.ledger { try $0.retentionRecords(limit: Self.recent) }.map { record in
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
