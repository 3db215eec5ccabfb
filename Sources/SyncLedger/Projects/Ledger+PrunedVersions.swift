import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// Forgets an earlier state of a file in a projects folder, which is in the store no longer. One that a file of this
    /// machine is stored as stays known, and so does what was stored anew. What another machine was known to have stored
    /// as it, as of a rebuild, it has stored as another one since: what its catalogue names nobody removes.
    /// - Returns: whether it is forgotten.
    package func forgetPrunedVersion(_ gone: ObjectRecord) throws(LedgerError) -> Bool {
        try write("forget a version of a project that was pruned") { db in
            let id = try db.number(
                """
                SELECT id FROM objects WHERE key = ? AND stored_at = ?
                AND NOT EXISTS (
                    SELECT 1 FROM photos JOIN folders ON folders.id = photos.folder_id
                    WHERE photos.object_id = objects.id AND folders.machine IS NULL
                )
                AND NOT EXISTS (SELECT 1 FROM events WHERE events.object_id = objects.id)
                """, [gone.key.rawValue, gone.storedAt.milliseconds])
            guard let id else { return false }
            try db.run("DELETE FROM photos WHERE object_id = ?", [id])
            try db.run("DELETE FROM objects WHERE id = ?", [id])
            try db.run("DELETE FROM project_versions WHERE key = ?", [gone.key.rawValue])
            return true
        }
    }

    /// Whether a file of this machine is stored as an object, or was, before it was gone.
    package func isOfOwnFile(_ key: ObjectKey) throws(LedgerError) -> Bool {
        try read("look up whose an object is") { db in
            try db.number(LedgerQuery.ownPhotoOfObject, [key.rawValue]) != nil
        }
    }
}

extension LedgerQuery {
    package static let ownPhotoOfObject = """
        SELECT photos.id FROM objects
        JOIN photos ON photos.object_id = objects.id
        JOIN folders ON folders.id = photos.folder_id
        WHERE objects.key = ? AND folders.machine IS NULL LIMIT 1
        """
}
