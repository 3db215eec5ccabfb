package import FoundationEssentials
import GRDB

/// What came of one cleanup of old events.
package struct RetentionRun: Hashable, Sendable {
    /// For which moment of the schedule; `nil` of one that somebody has started.
    package var scheduledAt: Date?
    package var finishedAt: Date
    /// Photos that were proved to be archived.
    package var archived: Int
    /// Events whose texts are gone, with or without a photo.
    package var deleted: Int
    /// Events that were kept, for a reason that is no failure, and because something failed.
    package var skipped: Int
    package var failed: Int
    /// Events that wait for the store: the run did not come to them.
    package var waiting: Int

    package init(
        scheduledAt: Date? = nil, finishedAt: Date, archived: Int = 0, deleted: Int = 0, skipped: Int = 0,
        failed: Int = 0, waiting: Int = 0
    ) {
        self.scheduledAt = scheduledAt
        self.finishedAt = finishedAt
        self.archived = archived
        self.deleted = deleted
        self.skipped = skipped
        self.failed = failed
        self.waiting = waiting
    }

    /// Whether it left nothing that was due.
    package var isWhole: Bool { skipped + failed + waiting == 0 }
}

extension Ledger {
    /// More than a year of daily runs is kept.
    private static let runsKept = 400

    /// Notes a run, which is the latest one then. One that waited for the store goes on, and is one run with what it was
    /// before. What was kept is counted when it is over.
    package func noteRetentionRun(_ run: RetentionRun) throws(LedgerError) {
        try write("note a cleanup") { db in
            try db.run(
                """
                INSERT INTO retention_runs (scheduled_at, finished_at, archived, deleted, skipped, failed, waiting)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (scheduled_at) DO UPDATE SET
                    id = (SELECT MAX(id) + (MAX(id) <> retention_runs.id) FROM retention_runs AS others),
                    finished_at = excluded.finished_at,
                    archived = archived + excluded.archived, deleted = deleted + excluded.deleted,
                    skipped = excluded.skipped, failed = excluded.failed, waiting = excluded.waiting
                """,
                [
                    run.scheduledAt?.milliseconds, run.finishedAt.milliseconds, run.archived, run.deleted, run.skipped,
                    run.failed, run.waiting,
                ])
            if run.waiting == 0 { try db.count(.retentionFailures, by: Int64(run.skipped + run.failed)) }
            try db.run(
                "DELETE FROM retention_runs WHERE id <= (SELECT MAX(id) FROM retention_runs) - ?", [Self.runsKept])
        }
    }

    /// The latest run that tells whether something was kept. One that the store has ended before it had kept anything
    /// did not come to all, and tells nothing.
    package func lastTellingRetentionRun() throws(LedgerError) -> RetentionRun? {
        try read("look up a cleanup") { try $0.row(LedgerQuery.lastTellingRetentionRun, []) }
    }

    /// Whether a cleanup has come to an event that was created before a moment, and has kept it. It walks an
    /// index over those that are due.
    package func isAnyKept(createdBefore time: Date) throws(LedgerError) -> Bool {
        try read("look for events that were kept") {
            try $0.number(LedgerQuery.keptEvent, [time.milliseconds]) != nil
        }
    }

    /// The latest first.
    package func retentionRuns(limit: Int) throws(LedgerError) -> [RetentionRun] {
        try read("list the cleanups") { try $0.rows(LedgerQuery.retentionRuns, [limit]) }
    }
}

extension RetentionRun: FetchableRecord {
    static let columns = "scheduled_at, finished_at, archived, deleted, skipped, failed, waiting"

    init(row: Row) {
        self.init(
            scheduledAt: row.time(0), finishedAt: Date(milliseconds: row[1]), archived: row[2], deleted: row[3],
            skipped: row[4], failed: row[5], waiting: row[6])
    }
}

extension LedgerQuery {
    package static let lastTellingRetentionRun = """
        SELECT \(RetentionRun.columns) FROM retention_runs WHERE waiting = 0 OR skipped + failed > 0
        ORDER BY id DESC LIMIT 1
        """
    package static let keptEvent = """
        SELECT 1 FROM events INDEXED BY events_due
        WHERE retention = 'kept' AND created_at < ? AND retention_problem IS NOT NULL LIMIT 1
        """
    package static let retentionRuns = "SELECT \(RetentionRun.columns) FROM retention_runs ORDER BY id DESC LIMIT ?"
}
