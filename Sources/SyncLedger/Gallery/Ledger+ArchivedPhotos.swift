import GRDB
package import SyncCore

extension Ledger {
    /// Notes that the archived photo of an event has another key now, with a profile's UUID in it. The old object is
    /// forgotten.
    package func moveArchivedPhoto(
        _ old: ObjectKey, to object: ObjectRecord, profile: String
    ) throws(LedgerError) {
        try write("note the new key of an archived photo", isDurable: true) { db in
            _ = try db.store(object)
            try db.run(
                "UPDATE retention_records SET key = ?, profile = ? WHERE key = ?",
                [object.key.rawValue, profile, old.rawValue])
            try db.run(
                """
                DELETE FROM objects WHERE key = ?
                AND NOT EXISTS (SELECT 1 FROM photos WHERE object_id = objects.id)
                AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = objects.id)
                """, [old.rawValue])
            return
        }
    }
}
