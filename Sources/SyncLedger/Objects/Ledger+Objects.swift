package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// What ``Ledger/lookUp(_:of:orBelow:)`` has found.
package struct ObjectLookup: Hashable, Sendable {
    /// Whatever is known under the key.
    package let atKey: ObjectRecord?
    /// An object of which nothing is known to be wrong, of the photo with these bytes, or with these bytes itself.
    package let holding: ObjectRecord?
    /// Whether that object, or else the one under the key, is being deleted at this moment: nobody can count on it.
    package let isBeingDeleted: Bool
}

extension Ledger {
    /// What is known of an object; `nil` when nothing is.
    package func object(_ key: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up an object") { try $0.row(LedgerQuery.object, [key.rawValue]) }
    }

    /// What is known under a key, what is stored of some bytes already, and whether that is on its way out.
    /// - Parameter prefix: where else than under the key they may be stored; `nil` for nowhere.
    package func lookUp(
        _ key: ObjectKey, of digest: ContentDigest, orBelow prefix: String?
    ) throws(LedgerError) -> ObjectLookup {
        try read("look up an object") { db in
            let atKey: ObjectRecord? = try db.row(LedgerQuery.object, [key.rawValue])
            var holding: ObjectRecord?
            if let atKey, atKey.problem == nil, atKey.md5 == digest.md5 || atKey.sha256 == digest.sha256 {
                holding = atKey
            } else if let prefix {
                let range = KeyRange(prefix: prefix, after: nil)
                holding = try db.row(LedgerQuery.objectOfDigest, [digest.sha256.blob, range.from, range.to])
            }
            let isBeingDeleted = try db.isBeingDeleted(holding?.key ?? key, isSent: true)
            return ObjectLookup(atKey: atKey, holding: holding, isBeingDeleted: isBeingDeleted)
        }
    }

    /// What is kept of a photo's own bytes; `nil` when only its copy is.
    package func original(of copy: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up an original") { try $0.original(of: copy) }
    }

    /// A page of the objects that may move to an archive class, the oldest first, and by their keys: those whose key
    /// begins with `prefix`, of these classes, stored before a moment and larger than so many bytes. What is young or
    /// archived costs nothing, what is small a step in an index.
    /// - Parameters:
    ///   - classes: archive classes among them have no candidates.
    ///   - last: the last one of the page before; `nil` for the first page.
    package func archiveCandidates(
        classes: [StorageClass], storedBefore time: Date, largerThan size: Int64, prefix: String,
        after last: (storedAt: Date, key: ObjectKey)?, limit: Int
    ) throws(LedgerError) -> [ObjectRecord] {
        // SQLite can use no index for a list of nothing.
        if classes.isEmpty { return [] }
        let range = KeyRange(prefix: prefix, after: nil)
        let (since, key) = (last?.storedAt.milliseconds ?? .min, last?.key.rawValue ?? "")
        return try read("list what may be archived") { db in
            let names = StatementArguments(classes.map(\.rawValue))
            return try db.rows(
                LedgerQuery.archiveCandidates(classes: classes.count),
                [time.milliseconds, since, key, range.from, range.to, size] + names + [limit])
        }
    }

    /// Notes that an object was moved to another class by a copy in place. That leaves no readable copy of an archived
    /// one, and its content and age as they were. Its ETag may be another one: the next listing tells it.
    package func setStorageClass(_ storageClass: StorageClass, of key: ObjectKey, at time: Date) throws(LedgerError) {
        try write(
            "note a storage class",
            """
            UPDATE objects SET storage_class = ?1, class_since = ?2, restore_state = 'none', restored_until = NULL,
                etag = NULL
            WHERE key = ?3 AND storage_class <> ?1
            """, [storageClass.rawValue, time.milliseconds, key.rawValue])
    }

    /// Notes that the store has objects for less long than was noted, by a clock that was behind.
    /// - Parameter times: as it was noted, and as it is. What was stored anew meanwhile is left alone.
    package func noteStoredLater(_ times: [(key: ObjectKey, noted: Date, storedAt: Date)]) throws(LedgerError) {
        if times.isEmpty { return }
        try write("note when objects were stored") { db in
            for time in times {
                try db.run(
                    "UPDATE objects SET stored_at = ? WHERE key = ? AND stored_at = ?",
                    [time.storedAt.milliseconds, time.key.rawValue, time.noted.milliseconds])
            }
        }
    }

    /// Where the photos are, or were, of which an object is the stored copy: absolute paths, first seen first. Where
    /// there is none, those whose file has changed since and is not stored as it is now; else those that it is an
    /// earlier version of.
    package func photoPaths(of key: ObjectKey, limit: Int) throws(LedgerError) -> [FilePath] {
        try read("look up the photos of an object") { db in
            for query in [LedgerQuery.photosOfObject, LedgerQuery.anyPhotosOfObject] {
                let places = try db.rows(query, [key.named.rawValue, limit], as: PhotoPlace.self)
                if !places.isEmpty { return places.map(\.absolute) }
            }
            return try db.photos(ofVersion: key.named, limit: limit)
        }
    }
}

extension Database {
    func objectID(_ key: ObjectKey) throws -> Int64? {
        try number("SELECT id FROM objects WHERE key = ?", [key.rawValue])
    }

    func record(ofObject id: Int64) throws -> ObjectRecord? {
        try row("SELECT \(ObjectRecord.columns) FROM objects WHERE id = ?", [id])
    }

    /// Adds an object, or replaces all that was known of it. The store has proved it: what was wrong is no longer.
    func store(_ object: ObjectRecord) throws -> Int64 {
        let isMended = try number(LedgerQuery.brokenObject, [object.key.rawValue]) != nil
        let id = try number(
            """
            \(ObjectRecord.insertion)
            ON CONFLICT (key) DO UPDATE SET size = excluded.size, md5 = excluded.md5, sha256 = excluded.sha256,
                content_type = excluded.content_type, storage_class = excluded.storage_class,
                restore_state = excluded.restore_state, restored_until = excluded.restored_until,
                width = excluded.width, height = excluded.height, taken_at = excluded.taken_at,
                taken_offset = excluded.taken_offset, taken_rules = excluded.taken_rules,
                stored_at = excluded.stored_at, stored_md5 = excluded.stored_md5, etag = excluded.etag,
                dropped = excluded.dropped, note = excluded.note, encoding = excluded.encoding,
                duration = excluded.duration,
                problem = NULL, verified_at = NULL,
                class_since = CASE WHEN storage_class = excluded.storage_class THEN class_since END
            RETURNING id
            """, object.arguments)
        guard let id else { throw UnknownName() }
        if isMended { try takeBackAsStored(id) }
        try endForgottenRuin(object.key)
        return id
    }

    /// Of a copy that is stored, or was.
    func original(of copy: ObjectKey) throws -> ObjectRecord? {
        guard let key = copy.original, let object: ObjectRecord = try row(LedgerQuery.object, [key.rawValue]) else {
            return nil
        }
        return object.problem == nil ? object : nil
    }
}

// MARK: Objects that are deleted while a photo is uploaded

extension Database {
    func isBeingDeleted(_ key: ObjectKey, isSent: Bool = false) throws -> Bool {
        try number(
            "SELECT 1 FROM object_deletions WHERE key = ? AND gone_at IS NULL AND (sent_at IS NOT NULL OR NOT ?)",
            [key.rawValue, isSent]) != nil
    }

    /// The outcome of an upload that has found or made an object. One whose deletion was not begun yet stays, since there
    /// is a photo for it again. One that is being deleted, or was when the upload began, may be gone: the photo is stored
    /// again.
    func withoutDeleted(_ outcome: Outcome, of claim: Claim, at time: Date) throws -> Outcome {
        guard case .uploaded(_, let record) = outcome, try !mayCount(record.key, attempt: claim.attemptID) else {
            return outcome
        }
        return .waits(
            "what was stored of it was deleted for good at this moment; it is stored again",
            until: time.addingTimeInterval(1))
    }

    /// Whether that an object was found in the store says that it stays there.
    func mayCount(_ key: ObjectKey, attempt: Int64) throws -> Bool {
        let row = try rawRow("SELECT sent_at, last_attempt FROM object_deletions WHERE key = ?", [key.rawValue])
        guard let row else { return true }
        if row.hasNull(atIndex: 0) {
            try run("DELETE FROM object_deletions WHERE key = ?", [key.rawValue])
            return true
        }
        guard let last = row[1] as Int64? else { return false }
        return attempt > last
    }
}

/// A photo on the disk whose object has its capture time from before offsets were kept.
package struct DatedBefore: Hashable, Sendable {
    package let object: Int64
    /// Absolute.
    package let file: FilePath
    /// As it was when it was stored.
    package let stamp: FileStamp
}

extension Ledger {
    /// A page of the photos on the disk whose capture time is to be read again, by their objects.
    /// - Parameter last: the object of the last one of the page before; 0 for the first page.
    package func photosDatedBefore(after last: Int64, limit: Int) throws(LedgerError) -> [DatedBefore] {
        try read("list capture times of before") { try $0.rows(LedgerQuery.datedBefore, [last, limit]) }
    }

    /// Notes when photos were taken, as their files tell it now. The vacations of those that change are to be looked at.
    package func noteCaptureTimes(_ times: [Int64: CaptureTime?]) throws(LedgerError) {
        try write("note capture times") { db in
            for (object, time) in times {
                try db.run(
                    """
                    UPDATE vacations SET revision = revision + 1 WHERE id IN (
                        SELECT directories.vacation_id FROM objects
                        CROSS JOIN photos ON photos.object_id = objects.id
                        CROSS JOIN directories ON directories.id = photos.directory_id
                        WHERE objects.id = ?1 AND (taken_at IS NOT ?2 OR taken_offset IS NOT ?3))
                    """, [object, time?.clock, time?.offset])
                try db.run(
                    "UPDATE objects SET taken_at = ?2, taken_offset = ?3, taken_rules = 1 WHERE id = ?1",
                    [object, time?.clock, time?.offset])
            }
        }
    }
}

extension DatedBefore: FetchableRecord {
    init(row: Row) throws {
        self.init(object: row[10], file: try PhotoPlace(row: row).absolute, stamp: FileStamp(row: row, from: 11))
    }
}

extension LedgerQuery {
    /// - Parameter classes: how many there are to choose from.
    package static func archiveCandidates(classes: Int) -> String {
        let names = [String](repeating: "?", count: classes).joined(separator: ", ")
        return """
            SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_unarchived
            WHERE storage_class NOT IN ('GLACIER', 'DEEP_ARCHIVE')
            AND stored_at < ? AND (stored_at, key) > (?, ?) AND \(KeyRange.condition)
            AND size > ? AND storage_class IN (\(names)) ORDER BY stored_at, key LIMIT ?
            """
    }
    /// Of the photos on the disk, those whose capture time was read before offsets were kept.
    package static let datedBefore = """
        SELECT \(PhotoPlace.columns), objects.id, \(FileStamp.columns(of: "photos"))
        FROM objects INDEXED BY objects_taken_before
        CROSS JOIN photos ON photos.object_id = objects.id AND photos.state = 'uploaded'
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        WHERE objects.taken_rules = 0 AND objects.id > ?
        AND (objects.content_type GLOB 'image/*' OR objects.content_type GLOB 'video/*')
        ORDER BY objects.id LIMIT ?
        """
    package static let objectOfDigest = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_by_sha256
        WHERE sha256 = ? AND \(KeyRange.condition) AND problem IS NULL ORDER BY key LIMIT 1
        """
}
