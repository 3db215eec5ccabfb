package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

/// What is forgotten for good. A path goes first, with all that would call its object stored; the object follows when
/// nothing refers to it any more, and is on record until the store has proved that it is gone.
extension Ledger {
    /// What else needs the objects of photos, those of their earlier contents included.
    /// - Parameter photos: by their rows; they do not count as a need.
    package func objectsToForget(_ photos: [Int64]) throws(LedgerError) -> [ForgottenObject] {
        try read("look up what photos share") { db in
            let named = Set(photos)
            var holders: [Int64: [Int64]] = [:]
            var order: [Int64] = []
            for photo in photos {
                for object in try db.objects(of: photo) {
                    if holders[object] == nil { order.append(object) }
                    holders[object, default: []].append(photo)
                }
            }
            let lists = try VacationLists(db)
            return try order.compactMap { id in
                guard let record = try db.record(ofObject: id) else { return nil }
                let photos = holders[id] ?? []
                let left = try Set(photos.compactMap { try db.vacation(of: $0) })
                return ForgottenObject(
                    record: record, photos: photos,
                    references: try db.references(of: id, record, except: named, lists, left: left),
                    since: try db.classSince(of: id, record))
            }
        }
    }

    /// Those of the photos that are files of gallery events, and whether all of their events were signed off.
    package func eventFiles(among photos: [Int64]) throws(LedgerError) -> [Int64: Bool] {
        try read("look for files of events") { db in
            try photos.reduce(into: [:]) { files, photo in
                let kept = try db.number(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM event_files JOIN events ON events.id = event_files.event
                        WHERE event_files.photo_id = event_notes.photo_id AND events.retention = 'kept'
                    ) FROM event_notes WHERE photo_id = ?
                    """, [photo])
                files[photo] = kept.map { $0 == 0 }
            }
        }
    }

    /// Those of the photos that no scan of this ledger has met: a catalogue alone tells of them.
    package func unseen(among photos: [Int64]) throws(LedgerError) -> Set<Int64> {
        try read("look for photos that were never seen here") { db in
            let sql = "SELECT 1 FROM photos WHERE id = ? AND \(FileStamp.isOfCatalog)"
            return Set(try photos.filter { try db.number(sql, [$0]) != nil })
        }
    }

    /// Those of the photos of which nothing is left that anybody could have back.
    package func lost(among photos: [PhotoStatus]) throws(LedgerError) -> Set<Int64> {
        try read("look for lost photos") { db in
            let ids = try photos.filter { photo in
                if photo.state == .lost { return true }
                guard photo.state == .missing, photo.object?.problem != nil,
                    let copy = try db.number("SELECT object_id FROM photos WHERE id = ?", [photo.id])
                else { return false }
                return try db.loss(of: copy) != nil
            }.map(\.id)
            return Set(ids)
        }
    }

    /// What is stored of an earlier content of a photo alone, and is gone or damaged, with its original: nothing brings it
    /// back. ``forget(photos:objects:deleting:at:)`` ends that it is told.
    package func lostVersion(_ key: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up a lost version") { db in
            guard let id = try db.number(LedgerQuery.versionOfKey, [key.rawValue]), try db.loss(of: id) != nil else {
                return nil
            }
            return try db.record(ofObject: id)
        }
    }

    /// Forgets photos, and notes the objects that nothing refers to any more as such that are to be deleted. What was
    /// changed since it was looked at is left alone. On the disk when this returns.
    /// - Parameters:
    ///   - photos: by their rows, with the states that they were seen in.
    ///   - kept: objects that others need, as far as this ledger does not know it, by what catalogues call them.
    /// - Returns: the rows that were forgotten.
    package func beginForget(
        _ photos: [(id: Int64, state: PhotoState)], keeping kept: Set<ObjectKey> = [], at time: Date
    ) throws(LedgerError) -> Set<Int64> {
        try write("forget photos for good", isDurable: true) { db in
            var forgotten: Set<Int64> = []
            var objects: Set<Int64> = []
            var order: [Int64] = []
            for (id, state) in photos {
                guard let row = try db.row(LedgerQuery.rowOfPhoto, [id], as: PhotoRow.self), row.state == state,
                    state != .uploading
                else { continue }
                let stored = try db.objects(of: id)
                if try stored.contains(where: { try db.hold(on: $0) != nil }) { continue }
                try db.run(
                    """
                    UPDATE vacations SET has_forgotten = 1
                    WHERE id = (SELECT vacation_id FROM directories WHERE id = ?)
                    """, [row.directoryID.rawValue])
                try db.run("DELETE FROM photos WHERE id = ?", [id])
                try DirectoryTable(db).removeIfEmpty(row.directoryID)
                forgotten.insert(id)
                for object in stored where objects.insert(object).inserted { order.append(object) }
            }
            let lists = try VacationLists(db)
            for id in order {
                guard let record = try db.record(ofObject: id) else { continue }
                guard record.isInStore, !kept.contains(record.key.named),
                    try db.references(of: id, record, except: [], lists, left: []).isEmpty
                else {
                    // Nobody can count on it: the store has nothing, or a ruin. What other photos miss is told still.
                    if record.problem != nil, try !db.isOriginalOfPhoto(record.key), try db.forgetUnused(id) > 0 {
                        try db.noteForgottenRuin(record)
                        if kept.contains(record.key.named) { continue }
                        try db.deleteOriginalOnItsWay(of: record.key.named, at: time)
                    }
                    continue
                }
                try db.run("UPDATE events SET object_id = NULL WHERE object_id = ? AND photo_state <> 'stored'", [id])
                try db.run("DELETE FROM objects WHERE id = ?", [id])
                try db.run("DELETE FROM project_versions WHERE key = ?", [record.key.rawValue])
                try db.noteForgottenRuin(record)
                try db.beginDeletion(
                    ObjectDeletion(key: record.key, size: record.size, storageClass: record.storageClass), at: time)
                try db.deleteOriginalOnItsWay(of: record.key, at: time)
            }
            return forgotten
        }
    }

    /// What is to be deleted, and not yet proved to be gone, in the order of keys.
    package func openDeletions() throws(LedgerError) -> [ObjectDeletion] {
        try read("list what is to be deleted") { db in
            try db.rows("SELECT key, size, storage_class FROM object_deletions WHERE gone_at IS NULL ORDER BY key")
        }
    }

    /// Notes that objects are about to be deleted: from now on, nobody's word that they are stored counts. What was stored
    /// anew since is taken off the list. On the disk when this returns.
    /// - Returns: those that may be deleted.
    package func beginDeletions(_ keys: [ObjectKey], at time: Date) throws(LedgerError) -> [ObjectKey] {
        try write("note what is about to be deleted", isDurable: true) { db in
            try keys.filter { key in
                if try db.objectID(key) != nil {
                    try db.run("DELETE FROM object_deletions WHERE key = ?", [key.rawValue])
                    return false
                }
                return try db.run(
                    "UPDATE object_deletions SET sent_at = COALESCE(sent_at, ?) WHERE key = ? AND gone_at IS NULL",
                    [time.milliseconds, key.rawValue]) > 0
            }
        }
    }

    /// The store has proved that objects are gone. Uploads that are in hand at this moment may have seen them: what those
    /// say of them does not count either.
    package func endDeletions(_ keys: [ObjectKey], at time: Date) throws(LedgerError) {
        try write("note what was deleted", isDurable: true) { db in
            let last = try db.number("SELECT MAX(id) FROM attempts") ?? 0
            for key in keys {
                try db.endForgottenRuin(key)
                // Somebody has noted it while it went. Where it was stored anew since, the next look finds it.
                if let object: ObjectRecord = try db.row(LedgerQuery.object, [key.rawValue]) {
                    var count = BrokenCount()
                    try db.markBroken(BrokenObject(object, .missing), at: time, &count)
                }
                try db.run(
                    "UPDATE object_deletions SET gone_at = ?, last_attempt = ? WHERE key = ? AND gone_at IS NULL",
                    [time.milliseconds, last, key.rawValue])
            }
            try db.forgetEndedDeletions()
        }
    }

    /// Objects are needed after all, or the store has refused to delete them: whoever meets them may count on them again.
    /// - Parameter isOver: whether that is so for good; else they are tried again.
    package func withdrawDeletions(_ keys: [ObjectKey], isOver: Bool) throws(LedgerError) {
        try write("take back a deletion") { db in
            for key in keys {
                try db.run(
                    isOver
                        ? "DELETE FROM object_deletions WHERE key = ? AND gone_at IS NULL"
                        : "UPDATE object_deletions SET sent_at = NULL WHERE key = ? AND gone_at IS NULL",
                    [key.rawValue])
                if isOver { try db.run("DELETE FROM forgotten_keys WHERE key = ?", [key.rawValue]) }
            }
        }
    }

    /// Those that were forgotten for good, and that nothing here has needed since: of a listing of another store, which was
    /// used before, or is a copy of what this one was.
    package func forgotten(among objects: [ObjectInfo]) throws(LedgerError) -> [ObjectInfo] {
        try read("look up what was forgotten") { db in
            try objects.filter { object in
                try db.number(
                    "SELECT 1 FROM forgotten_keys WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM objects WHERE key = ?1)",
                    [object.key.rawValue]) != nil
            }
        }
    }

    /// Notes objects that were forgotten before, and are there again, as such that are to be deleted.
    package func forgetAgain(_ objects: [ObjectInfo], at time: Date) throws(LedgerError) {
        try write("forget for good once more", isDurable: true) { db in
            for object in objects {
                try db.beginDeletion(
                    ObjectDeletion(key: object.key, size: object.size, storageClass: object.storageClass), at: time)
            }
        }
    }
}

extension LedgerQuery {
    /// Of no photo's content of now.
    package static let versionOfKey = """
        SELECT objects.id FROM objects WHERE objects.key = ?
        AND EXISTS (SELECT 1 FROM photo_versions WHERE photo_versions.object_id = objects.id)
        AND NOT EXISTS (SELECT 1 FROM photos INDEXED BY photos_by_object WHERE photos.object_id = objects.id)
        AND NOT EXISTS (SELECT 1 FROM events INDEXED BY events_by_object WHERE events.object_id = objects.id)
        """
}

extension ObjectRecord {
    /// Whether it is deleted when its photos are forgotten. So is a ruin: left in the store, it would be a photo of its
    /// own after a rebuild, and pass for whole until somebody reads it.
    package var isInStore: Bool { problem?.isDamage ?? true }
}

extension ObjectDeletion: FetchableRecord {
    init(row: Row) throws {
        self.init(key: try ObjectKey(row[0] as String), size: row[1], storageClass: StorageClass(rawValue: row[2]))
    }
}

extension Database {
    /// Since when an object is in its class, which is billed for a minimum of days.
    func classSince(of object: Int64, _ record: ObjectRecord) throws -> Date {
        try number("SELECT COALESCE(class_since, stored_at) FROM objects WHERE id = ?", [object])
            .map(Date.init(milliseconds:)) ?? record.storedAt
    }

    /// Notes an object as one that is to be deleted. An original on its way there counts no more, and is deleted when it has
    /// come.
    func beginDeletion(_ object: ObjectDeletion, at time: Date) throws {
        try run(
            """
            INSERT INTO object_deletions (key, size, storage_class, begun_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET size = ?2, storage_class = ?3, begun_at = ?4, sent_at = NULL, gone_at = NULL,
                last_attempt = NULL
            """, [object.key.rawValue, object.size, object.storageClass.rawValue, time.milliseconds])
        try run("INSERT OR IGNORE INTO forgotten_keys VALUES (?)", [object.key.rawValue])
        try run("UPDATE original_uploads SET is_void = 1 WHERE key = ?", [object.key.rawValue])
    }

    /// Those that no upload in hand can have seen.
    fileprivate func forgetEndedDeletions() throws {
        try run(
            """
            DELETE FROM object_deletions WHERE gone_at IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM photos JOIN attempts ON attempts.photo_id = photos.id
                WHERE photos.state = 'uploading' AND attempts.finished_at IS NULL
                AND attempts.id <= object_deletions.last_attempt
            )
            """)
    }
}
