package import FoundationEssentials
import GRDB
package import SyncCore

/// Work that comes to the same objects again in each of its runs.
package enum RecurringWork: String, Hashable, Sendable, CaseIterable {
    case restores, archive, originals, verification
}

/// Objects that the store denied. It is no state of theirs: it tells only what a work begins its next run with.
extension Ledger {
    /// What a work was denied, and when.
    package func denials(of work: RecurringWork) throws(LedgerError) -> [ObjectKey: Date] {
        try read("look up what the store denied") { db in
            let rows = try db.rawRows("SELECT key, denied_at FROM denied_objects WHERE work = ?", [work.rawValue])
            var denials: [ObjectKey: Date] = [:]
            for row in rows {
                let key = try ObjectKey(row[0] as String)
                denials[key] = Date(milliseconds: row[1] as Int64)
            }
            return denials
        }
    }

    package func noteDenial(_ key: ObjectKey, of work: RecurringWork, at time: Date) throws(LedgerError) {
        try write(
            "note what the store denied",
            """
            INSERT INTO denied_objects VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET denied_at = excluded.denied_at
            """, [work.rawValue, key.rawValue, time.milliseconds])
    }

    /// - Parameters:
    ///   - start: what a work was denied then or before is forgotten.
    ///   - end: what it was denied after that is, too.
    package func forgetDenials(of work: RecurringWork, before start: Date, after end: Date) throws(LedgerError) {
        try write(
            "forget what the store denied long ago",
            "DELETE FROM denied_objects WHERE work = ? AND (denied_at <= ? OR denied_at > ?)",
            [work.rawValue, start.milliseconds, end.milliseconds])
    }

    /// Notes that the store gives an object again.
    package func endDenial(_ key: ObjectKey, of work: RecurringWork) throws(LedgerError) {
        try write(
            "note what the store gives again", "DELETE FROM denied_objects WHERE work = ? AND key = ?",
            [work.rawValue, key.rawValue])
    }
}
