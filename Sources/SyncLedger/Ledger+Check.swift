import GRDB
import SyncCore

extension Ledger {
    /// Looks for contradictions: a damaged file, rows without what they refer to, aggregates that differ from the rows
    /// they stand for. It walks everything: minutes with millions of photos.
    /// - Returns: a sentence for each; none when all is well.
    package func check() throws(LedgerError) -> [String] {
        try read("check the ledger") { db in
            let damage = try String.fetchAll(db, sql: "PRAGMA quick_check").filter { $0 != "ok" }
            let orphans = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { row in
                "a row of \(row[0] as String) refers to a row of \(row[2] as String) that is not there"
            }
            let audits = [
                Self.photoAudit, Self.objectAudit, Self.ageAudit, Self.restoreAudit, Self.vacationAudit,
                Self.eventAudit,
            ]
            return try damage + orphans + audits.flatMap { try db.disagreements($0) }
        }
    }

    /// How SQLite would run a query: one line for each step (https://www.sqlite.org/eqp.html).
    package func plan(of query: String) throws(LedgerError) -> [String] {
        try read("explain a query") { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query)")
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0[3] }
        }
    }

    private static let photoAudit = """
        SELECT state || ' photos of folder ' || folder_id, SUM(files), SUM(bytes), SUM(rows), SUM(size) FROM (
            SELECT folder_id, state, files, bytes, 0 AS rows, 0 AS size FROM photo_tallies
            UNION ALL
            SELECT folder_id, state, 0, 0, COUNT(*), SUM(size) FROM photos GROUP BY folder_id, state
        ) GROUP BY folder_id, state HAVING SUM(files) <> SUM(rows) OR SUM(bytes) <> SUM(size)
        """

    private static let objectAudit = """
        SELECT 'objects of class ' || storage_class, SUM(objects), SUM(bytes), SUM(rows), SUM(size) FROM (
            SELECT storage_class, objects, bytes, 0 AS rows, 0 AS size FROM object_tallies
            UNION ALL
            SELECT storage_class, 0, 0, COUNT(*), SUM(size) FROM objects GROUP BY storage_class
        ) GROUP BY storage_class HAVING SUM(objects) <> SUM(rows) OR SUM(bytes) <> SUM(size)
        """

    private static let ageAudit = """
        SELECT 'objects of class ' || storage_class || ' below "' || family || '" since day ' || day, SUM(objects),
            SUM(bytes), SUM(rows), SUM(size)
        FROM (
            SELECT family, storage_class, day, is_small, objects, bytes, 0 AS rows, 0 AS size FROM object_ages
            UNION ALL
            SELECT family, storage_class, since_day, size < (SELECT archive_floor FROM agent), 0, 0, COUNT(*), SUM(size)
            FROM objects GROUP BY 1, 2, 3, 4
        ) GROUP BY family, storage_class, day, is_small HAVING SUM(objects) <> SUM(rows) OR SUM(bytes) <> SUM(size)
        """

    private static let restoreAudit = """
        SELECT state || ' items of restore jobs', SUM(items), SUM(bytes), SUM(rows), SUM(size) FROM (
            SELECT state, items, bytes, 0 AS rows, 0 AS size FROM restore_tallies
            UNION ALL
            SELECT state, 0, 0, COUNT(*), SUM(size) FROM restore_items GROUP BY state
        ) GROUP BY state HAVING SUM(items) <> SUM(rows) OR SUM(bytes) <> SUM(size)
        """

    private static let eventAudit = """
        SELECT retention || ' events with photo ' || photo_state, SUM(events), 0, SUM(rows), 0 FROM (
            SELECT photo_state, retention, events, 0 AS rows FROM event_tallies
            UNION ALL
            SELECT photo_state, retention, 0, COUNT(*) FROM events GROUP BY 1, 2
        ) GROUP BY photo_state, retention HAVING SUM(events) <> SUM(rows)
        """
}

extension Database {
    fileprivate func disagreements(_ audit: String) throws -> [String] {
        try Row.fetchAll(self, sql: audit).map { row in
            let (what, tallied, bytes): (String, Int, Int64) = (row[0], row[1], row[2])
            let (walked, size): (Int, Int64) = (row[3], row[4])
            return "\(what): the tally says \(tallied) with \(bytes) bytes, the rows \(walked) with \(size)"
        }
    }
}

extension Ledger {
    /// Whether the file can be read: a walk over its pages, some seconds for a million photos.
    /// - Throws: ``LedgerError``, `.damaged` among them.
    package func requireWhole() throws(LedgerError) {
        let damage = try read("check the ledger") { try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }
        guard let damage, damage != "ok" else { return }
        throw LedgerError(
            code: .damaged, operation: "check the ledger", path: path, message: "the file is damaged: \(damage)")
    }
}
