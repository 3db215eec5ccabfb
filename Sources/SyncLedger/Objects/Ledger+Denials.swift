package import FoundationEssentials
import GRDB
package import SyncCore

/// Work that comes to the same objects again in each of its runs.
package enum RecurringWork: String, Hashable, Sendable, CaseIterable {
    case restores, archive, originals, verification, vacations, cleanup, profiles
    /// Copies that are made anew from originals: here, also one that was begun and did not come to its end.
    case copies
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

    /// Notes that the store gives objects again, or may.
    package func endDenials(_ keys: [ObjectKey], of work: RecurringWork) throws(LedgerError) {
        try write(
            "note what the store gives again", "DELETE FROM denied_objects WHERE work = ? AND key = ?",
            each: keys.map { [work.rawValue, $0.rawValue] })
    }
}
