import FoundationEssentials
import GRDB
import SyncCore

extension Ledger {
    /// Forgets an earlier image of a project, or an earlier list or metadata, which is in the store no longer. One that a
    /// file is stored as stays known, and so does what was stored anew.
    /// - Returns: whether it is forgotten.
    package func forgetPrunedVersion(_ gone: ObjectRecord) throws(LedgerError) -> Bool {
        try write("forget a version of a project that was pruned") { db in
            let count = try db.run(
                """
                DELETE FROM objects WHERE key = ? AND stored_at = ?
                AND EXISTS (SELECT 1 FROM project_versions WHERE project_versions.key = objects.key)
                AND NOT EXISTS (SELECT 1 FROM photos WHERE photos.object_id = objects.id)
                AND NOT EXISTS (SELECT 1 FROM events WHERE events.object_id = objects.id)
                """, [gone.key.rawValue, gone.storedAt.milliseconds])
            if count == 0 { return false }
            try db.run("DELETE FROM project_versions WHERE key = ?", [gone.key.rawValue])
            return true
        }
    }
}
