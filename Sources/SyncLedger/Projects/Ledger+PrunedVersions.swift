import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

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

    /// Whether this machine has told the others, by its catalogue, that it has files of a project: nobody deletes the
    /// project then.
    package func hasToldOfProject(_ id: String) throws(LedgerError) -> Bool {
        try read("look for files of a project") { db in
            guard try db.number("SELECT first FROM catalog_segments LIMIT 1", []) != nil else { return false }
            let folders = try db.numbers("SELECT id FROM folders WHERE kind = 'projects' AND machine IS NULL")
            // No name goes on with a byte that UTF-8 does not have.
            let (from, to) = (Data(id.utf8), Data(id.utf8) + [0xFF])
            return try folders.contains { folder in
                guard let root = try DirectoryTable(db).find("", in: FolderID(rawValue: folder)) else { return false }
                return try db.texts(LedgerQuery.cataloguedInDirectory, [root.rawValue, from, to]).contains {
                    ProjectFileName($0).id?.inBytes == id.inBytes
                }
            }
        }
    }
}

extension LedgerQuery {
    package static let cataloguedInDirectory = """
        SELECT CAST(photos.name AS TEXT) FROM \(catalogued)
        WHERE photos.directory_id = ? AND photos.name >= ? AND photos.name < ?
        """
    package static let ownPhotoOfObject = """
        SELECT photos.id FROM objects
        JOIN photos ON photos.object_id = objects.id
        JOIN folders ON folders.id = photos.folder_id
        WHERE objects.key = ? AND folders.machine IS NULL LIMIT 1
        """
}
