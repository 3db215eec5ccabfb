import GRDB
package import SyncCore

extension Ledger {
    /// Forgets photos of which nothing is left, and objects that are gone or damaged and nobody's any more. Whatever is on
    /// the disk or in the store stays known.
    /// - Parameters:
    ///   - photos: those that are neither lost nor missing with a broken copy are left alone.
    ///   - objects: archived photos of events and earlier images of projects, likewise.
    /// - Returns: how many were forgotten.
    package func forget(photos: [Int64], objects: [ObjectKey]) throws(LedgerError) -> Int {
        try write("forget what is lost") { db in
            var count = 0
            for photo in photos {
                let object = try db.number(
                    """
                    SELECT objects.id FROM photos JOIN objects ON objects.id = photos.object_id
                    WHERE photos.id = ? AND photos.state IN ('missing', 'lost') AND objects.problem IS NOT NULL
                    """, [photo])
                guard let object else { continue }
                count += try db.run("DELETE FROM photos WHERE id = ?", [photo])
                try db.forgetUnused(object)
            }
            for key in objects {
                guard let id = try db.number(LedgerQuery.brokenObject, [key.rawValue]) else { continue }
                // The record of what was signed off stays: it tells that there was an event.
                try db.run("DELETE FROM project_versions WHERE key = ?", [key.rawValue])
                count += try db.forgetUnused(id)
            }
            return count
        }
    }

    /// Archived photos of events and earlier images of projects that are gone or damaged, in the order of keys.
    package func lostBesidePhotos(after last: ObjectKey? = nil, limit: Int) throws(LedgerError) -> [ObjectRecord] {
        try read("list what is lost") { try $0.rows(LedgerQuery.lostBesidePhotos, [last?.rawValue ?? "", limit]) }
    }

    /// Notes an object that was stored again.
    package func noteStoredAgain(_ object: ObjectRecord) throws(LedgerError) {
        try write("note an object that was stored again") { db in _ = try db.store(object) }
    }
}

extension Database {
    @discardableResult
    fileprivate func forgetUnused(_ object: Int64) throws -> Int {
        try run("UPDATE events SET object_id = NULL WHERE object_id = ? AND photo_state <> 'stored'", [object])
        return try run(
            """
            DELETE FROM objects WHERE id = ?1 AND problem IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM photos WHERE object_id = ?1)
            AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = ?1)
            """, [object])
    }
}
