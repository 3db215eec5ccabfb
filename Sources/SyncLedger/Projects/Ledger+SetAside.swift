import FoundationEssentials
import GRDB
import SyncCore

extension Ledger {
    /// Notes that a content which the store no longer has under the key of its file is in a version of it: what counts as
    /// stored under the key is stored as that from now on. An object that was stored anew since it was looked at is left
    /// alone.
    /// - Parameters:
    ///   - name: of the file, as its versions are called.
    ///   - maker: whose the version is, as it tells; where it does not, it is this machine's if the file is.
    /// - Returns: whether nothing is stored under the key any more, as far as this ledger knows, which forgets it then.
    package func noteSetAside(
        _ version: ObjectRecord, of name: String, maker: VersionMaker, inPlaceOf gone: ObjectRecord
    ) throws(LedgerError) -> Bool {
        try write("note what a file is stored as") { db in
            guard let id = try db.objectID(gone.key), let known = try db.record(ofObject: id), known.md5 == gone.md5,
                known.storedAt.milliseconds == gone.storedAt.milliseconds
            else { return false }
            let stored = try db.store(version)
            let isOwn = try db.number(LedgerQuery.ownPhotoOfObject, [gone.key.rawValue]) != nil
            try db.noteVersion(version.key, of: name, maker == .unknown && isOwn ? .this : maker)
            try db.lead(holdersOf: gone.key, to: stored, version)
            // Photos that were lost for want of it are not.
            try db.takeBackAsStored(stored)
            let forgotten = try db.run(
                """
                DELETE FROM objects WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM photos WHERE object_id = ?1)
                AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = ?1)
                """, [id])
            if forgotten == 0 { return false }
            try db.run("DELETE FROM project_versions WHERE key = ?", [gone.key.rawValue])
            try db.lead(restoresOf: gone, to: version)
            return true
        }
    }
}

extension Database {
    /// What was asked back from under a key, and is still to be saved, comes from the version. One in the archive would have
    /// to be asked for first.
    fileprivate func lead(restoresOf gone: ObjectRecord, to version: ObjectRecord) throws {
        if version.storageClass.isArchive { return }
        try run(
            """
            UPDATE restore_items SET key = ?1, size = ?2, sha256 = ?3, storage_class = ?4
            WHERE key = ?5 AND state = 'restored' AND saved_at IS NULL AND (sha256 IS NULL OR sha256 IS ?6)
            """,
            [
                version.key.rawValue, version.size, version.sha256?.blob, version.storageClass.rawValue,
                gone.key.rawValue, gone.sha256?.blob,
            ])
    }
}
