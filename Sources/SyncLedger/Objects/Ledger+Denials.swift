package import FoundationEssentials
import GRDB
package import SyncCore

/// Work that comes to the same objects again in each of its runs.
package enum RecurringWork: String, Hashable, Sendable, CaseIterable {
    case restores, archive, originals, verification, vacations, cleanup, profiles
}

/// Objects that the store denied. It is no state of theirs: it tells only what a work begins its next run with.
extension Ledger {
    /// What a work was denied since a moment, and when.
    package func denials(of work: RecurringWork, since time: Date) throws(LedgerError) -> [ObjectKey: Date] {
        try read("look up what the store denied") { db in
            let rows = try db.rawRows(
                "SELECT key, denied_at FROM denied_objects WHERE work = ? AND denied_at > ?",
                [work.rawValue, time.milliseconds])
            var denials: [ObjectKey: Date] = [:]
            for row in rows {
                let key = try ObjectKey(row[0] as String)
                denials[key] = Date(milliseconds: row[1] as Int64)
            }
            return denials
        }
    }

    /// - Parameter start: what a work was denied before it is forgotten.
    package func noteDenial(
        _ key: ObjectKey, of work: RecurringWork, at time: Date, forgettingBefore start: Date
    ) throws(LedgerError) {
        try write("note what the store denied") { db in
            try db.run(
                "DELETE FROM denied_objects WHERE work = ? AND denied_at <= ?", [work.rawValue, start.milliseconds])
            try db.run(
                """
                INSERT INTO denied_objects VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET denied_at = excluded.denied_at
                """, [work.rawValue, key.rawValue, time.milliseconds])
        }
    }

    /// Notes that the store gives an object again.
    package func endDenial(_ key: ObjectKey, of work: RecurringWork) throws(LedgerError) {
        try write(
            "note what the store gives again", "DELETE FROM denied_objects WHERE work = ? AND key = ?",
            [work.rawValue, key.rawValue])
    }
}
