package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// What became of the photos of objects that are gone or damaged.
package struct BrokenCount: Hashable, Sendable {
    /// Objects of which that was not known before.
    package var objects = 0
    /// Photos that are stored again from their files.
    package var pending = 0
    /// Photos of which nothing is left, neither on the disk nor in the store.
    package var lost = 0

    package init() {}
}

/// An object, and what is wrong with it.
package struct BrokenObject: Hashable, Sendable {
    package var record: ObjectRecord
    package var problem: ObjectFault

    package init(_ record: ObjectRecord, _ problem: ObjectFault) {
        self.record = record
        self.problem = problem
    }
}

extension Ledger {
    /// Notes that objects are not what was stored, whoever has found out: a listing, a read, a restore, a copy or a
    /// verification. This is the one way by which a photo stops being safe while its file is as it was. Objects that only
    /// other machines need are not counted: see ``leftToOthers()``.
    ///
    /// Photos whose file is on the disk are pending again; those whose file is gone are lost, and so are those in
    /// folders that are no longer watched, whose file nobody would store; but for files of events whose photo is in the
    /// archive as well. Events whose photo it was have none stored, and their files are read again. An
    /// object that was stored anew since it was looked at is left alone.
    @discardableResult
    package func markBroken(_ broken: [BrokenObject], at time: Date) throws(LedgerError) -> BrokenCount {
        if broken.isEmpty { return BrokenCount() }
        return try write("note what the store no longer has") { db in
            var count = BrokenCount()
            for object in broken { try db.markBroken(object, at: time, &count) }
            return count
        }
    }

    /// Notes that the bytes of an object were found to be right, and what was learned of it. Photos that were lost for want
    /// of it are stored again; those that wait for their upload will find it.
    /// - Parameter isRead: its bytes were read or, of an archived one, held against what the store says of them; else it
    ///   was only asked for.
    package func noteProof(_ object: ObjectRecord, isRead: Bool, at time: Date) throws(LedgerError) {
        try write("note a proof") { try $0.noteProof(object, isRead: isRead, at: time) }
    }

    /// Notes the ETags that a listing told of objects that had none.
    package func noteTags(_ tags: [(key: ObjectKey, etag: String)]) throws(LedgerError) {
        if tags.isEmpty { return }
        try write("note ETags") { db in
            for tag in tags {
                try db.run("UPDATE objects SET etag = ? WHERE key = ? AND etag IS NULL", [tag.etag, tag.key.rawValue])
            }
        }
    }

    /// Photos of which nothing is left, those that were found first at the head; also those of other machines, since a
    /// rebuild.
    package func lostPhotos(limit: Int) throws(LedgerError) -> [PhotoStatus] {
        try read("list lost photos") { try $0.firstPhotos(LedgerQuery.firstLost, limit: limit, unwatched: true) }
    }

    /// Where the photos of an object are or were, whatever their state.
    package func anyPhotoPaths(of key: ObjectKey, limit: Int) throws(LedgerError) -> [FilePath] {
        try read("look up the photos of an object") { db in
            try db.rows(LedgerQuery.anyPhotosOfObject, [key.named.rawValue, limit], as: PhotoPlace.self).map(\.absolute)
        }
    }
}

extension Database {
    func isBroken(_ object: Int64?) throws -> Bool {
        guard let object else { return false }
        return try number("SELECT 1 FROM objects WHERE id = ? AND problem IS NOT NULL", [object]) != nil
    }

    func noteProof(_ object: ObjectRecord, isRead: Bool, at time: Date) throws {
        let id = try number(
            """
            UPDATE objects SET size = ?1, sha256 = ?2, stored_md5 = ?3, etag = ?4, width = ?5, height = ?6, duration = ?11,
                problem = NULL, verified_at = IIF(?7, ?8, verified_at)
            WHERE key = ?9 AND stored_at = ?10 RETURNING id
            """,
            [
                object.size, object.sha256?.blob, object.storedMD5?.blob, object.etag, object.width, object.height,
                isRead, time.milliseconds, object.key.rawValue, object.storedAt.milliseconds,
                object.duration?.inMilliseconds,
            ])
        if let id, object.problem != nil { try takeBackAsStored(id) }
    }

    func markBroken(_ broken: BrokenObject, at time: Date, _ count: inout BrokenCount) throws {
        let (key, problem) = (broken.record.key, broken.problem)
        let id = try number(
            """
            UPDATE objects SET problem = ?, ruin = NULL WHERE key = ? AND stored_at = ? AND problem IS NOT ?
            RETURNING id
            """, [problem.text, key.rawValue, broken.record.storedAt.milliseconds, problem.text])
        guard let id else { return }
        if let copy = key.copyOfOriginal { count.lost += try noteOriginalBroken(of: copy) }
        // Before its photos: the file of an event has the object of its first photo, and is read anew.
        try unstoreEvents(of: id, problem)
        let pending = try queueAgain(photosOf: id, problem, watched: true, at: time)
        try queueAgain(photosOf: id, problem, watched: false, at: time)
        try run("UPDATE photos SET queued_at = ? WHERE object_id = ? AND state = 'missing'", [time.milliseconds, id])
        // Another name of the photo is here: what has gone with the object comes back with it.
        let lost = try lose(photosOf: id)
        count.pending += pending
        if pending == 0 { count.lost += lost }
        if try !isLeftToOthers(id) { count.objects += 1 }
    }

    /// - Parameter watched: those in folders that are watched, or the others.
    @discardableResult
    private func queueAgain(
        photosOf object: Int64, _ problem: ObjectFault, watched: Bool, at time: Date
    ) throws -> Int {
        try run(
            """
            UPDATE photos SET state = 'pending', queued_at = ?, attempts = 0, next_try_at = 0, error = ?
            WHERE object_id = ? AND state = 'uploaded' AND folder_id IN (SELECT id FROM folders WHERE active = ?)
            """, [time.milliseconds, "what was stored of it \(problem.words); it is stored again", object, watched])
    }

    /// Whether nothing that is stored of a photo can be had back: its copy is broken, and so is its original, if it has one.
    /// - Parameter copy: the row of the object.
    /// - Returns: what is wrong with the copy; `nil` while something is left.
    func loss(of copy: Int64) throws -> ObjectFault? {
        guard let object = try record(ofObject: copy), let problem = object.problem, try original(of: object.key) == nil
        else { return nil }
        return problem
    }

    /// Photos that are not on the disk, and of which nothing that is stored can be had back. Nobody looks whether those in
    /// folders that are no longer watched are on the disk, and nobody stores them: they count as gone until their folder
    /// is watched again. What other machines need of it they tell: a ledger that was rebuilt knows what they named then.
    /// - Parameter object: their copy.
    @discardableResult
    func lose(photosOf object: Int64) throws -> Int {
        guard let fault = try loss(of: object) else { return 0 }
        return try run(
            """
            UPDATE photos SET state = 'lost', next_try_at = 0, error = CASE
                WHEN folder_id IN (SELECT id FROM folders WHERE machine IS NOT NULL) THEN ?1
                WHEN folder_id IN (SELECT id FROM folders WHERE active = 0) THEN ?2
                ELSE ?3 END
            WHERE object_id = ?4 AND (state = 'missing' OR \(LedgerQuery.isOnUnwatchedDisk))
            AND \(LedgerQuery.isLostWithItsObject)
            """,
            [fault.othersLossWords, fault.unwatchedLossWords, fault.lossWords, object])
    }

    /// What is gone or damaged of photos whose folder was watched still when that was found, and is not any more.
    func losePhotosNoLongerWatched() throws {
        for object in try numbers(LedgerQuery.brokenOfUnwatched) { try lose(photosOf: object) }
    }

    /// Photos that were to be stored again when their folder was watched still, and whose copies are there by now: nobody
    /// stores them any more, and nobody has to.
    func takeBackPhotosNoLongerWatched() throws {
        for folder in try numbers("SELECT id FROM folders WHERE active = 0") {
            for state in [PhotoState.pending, .failed] {
                try noteStoredAsTheyAre(numbers(LedgerQuery.storedOfUnwatched(state), [folder]))
            }
        }
    }

    private func noteStoredAsTheyAre(_ photos: [Int64]) throws {
        for photo in photos {
            try run(
                "UPDATE photos SET state = 'uploaded', attempts = 0, next_try_at = 0, error = NULL WHERE id = ?",
                [photo])
        }
    }

    /// The other way round: what was lost for want of an object that is there.
    func takeBackAsStored(_ object: Int64) throws {
        if let key = try record(ofObject: object)?.key.copyOfOriginal, let copy = try objectID(key) {
            try run("UPDATE photos SET state = 'missing', error = NULL WHERE object_id = ? AND state = 'lost'", [copy])
        }
        try run("UPDATE photos SET state = 'missing', error = NULL WHERE object_id = ? AND state = 'lost'", [object])
        // In a folder that is not watched, nobody stores again what waits for that, and what was stored of it is there.
        let waiting = try numbers(
            """
            SELECT id FROM photos WHERE object_id = ? AND state IN ('pending', 'failed')
            AND \(LedgerQuery.isStoredAsItIs) AND folder_id IN (SELECT id FROM folders WHERE active = 0)
            """, [object])
        try noteStoredAsTheyAre(waiting)
        try run(
            """
            UPDATE events SET photo_state = 'stored', problem = NULL, photo_name = NULL,
                photo_md5 = (SELECT md5 FROM objects WHERE id = ?1)
            WHERE object_id = ?1 AND photo_state <> 'stored'
            AND (SELECT md5 FROM objects WHERE id = ?1) IS NOT NULL
            """, [object])
    }

    private func unstoreEvents(of object: Int64, _ problem: ObjectFault) throws {
        try run(
            """
            UPDATE photos SET state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
                generation = generation + 1, attempts = 0, next_try_at = 0, error = NULL
            WHERE state NOT IN ('missing', 'lost') AND id IN (
                SELECT event_files.photo_id FROM events JOIN event_files ON event_files.event = events.id
                WHERE events.object_id = ? AND events.photo_state = 'stored' AND event_files.clean = 0
            )
            """, [object])
        try run(
            """
            UPDATE events SET photo_state = 'failed', photo_md5 = NULL, problem = ?
            WHERE object_id = ? AND photo_state = 'stored'
            """, ["what was stored of its photo \(problem.words)", object])
    }
}

/// What is wrong with a stored object.
package enum ObjectFault: Hashable, Sendable {
    /// The store does not have it any more.
    case missing
    /// The store has other bytes than were stored; the reason is in plain words.
    case damaged(String)

    private static let missingText = "missing"
    private static let damagedText = "damaged: "

    /// As the ledger keeps it.
    package var text: String {
        switch self {
        case .missing: Self.missingText
        case .damaged(let reason): Self.damagedText + reason
        }
    }

    package init(text: String) {
        self =
            text == Self.missingText
            ? .missing
            : .damaged(text.hasPrefix(Self.damagedText) ? String(text.dropFirst(Self.damagedText.count)) : text)
    }

    package var isDamage: Bool { if case .damaged = self { true } else { false } }

    /// Why a photo is not safe: what follows after "what was stored of it".
    package var words: String {
        switch self {
        case .missing: "is no longer in the store"
        case .damaged(let reason): "is damaged in the store (\(reason))"
        }
    }

    /// Why a photo is lost.
    var lossWords: String { "its file is gone, and \(othersLossWords)" }

    /// The same of a photo in a folder that is no longer watched, where its file may be.
    var unwatchedLossWords: String {
        "its folder is no longer watched, and \(othersLossWords)"
    }

    /// The same of a photo of another machine, whose file may be there.
    var othersLossWords: String {
        "what was stored of it \(words); any copy of the photo in a watched folder brings it back"
    }
}

extension Ledger {
    /// Archived photos of events and earlier images of projects that are gone or damaged, in the order of keys.
    package func lostBesidePhotos(after last: ObjectKey? = nil, limit: Int) throws(LedgerError) -> [ObjectRecord] {
        try read("list what is lost") { db in
            guard try db.isAnythingBroken() else { return [] }
            return try db.rows(LedgerQuery.lostBesidePhotos, [last?.rawValue ?? "", limit])
        }
    }

    /// What is gone or damaged and no file brings back, in the order of keys: what ``lostBesidePhotos(after:limit:)`` has, the
    /// copies of lost photos that are no other machine's, what was stored of earlier contents, and in the pool photos of
    /// events that no file holds any more.
    package func brokenWithoutFile(after last: ObjectKey? = nil, limit: Int) throws(LedgerError) -> [ObjectRecord] {
        try read("list what no file brings back") { db in
            guard try db.isAnythingBroken() else { return [] }
            return try db.rows(LedgerQuery.brokenWithoutFile, [last?.rawValue ?? "", limit])
        }
    }

    /// Objects of which nothing is known to be wrong, and that have the bytes of one that is broken; where there is none, those
    /// below a prefix, which few objects have, that are of the same photo.
    package func twins(
        of broken: ObjectRecord, orBelow prefix: String, limit: Int
    ) throws(LedgerError) -> [ObjectRecord] {
        let range = KeyRange(prefix: prefix, after: nil)
        return try read("look for the same content") { db in
            var found: [ObjectRecord] = []
            if let sha256 = broken.sha256 {
                found = try db.rows(LedgerQuery.objectsOfDigest, [sha256.blob, broken.key.rawValue, limit])
            }
            guard found.isEmpty, let md5 = broken.md5 else { return found }
            return try db.rows(
                LedgerQuery.objectsOfPhoto, [range.from, range.to, md5.blob, broken.key.rawValue, limit])
        }
    }

    /// Notes an object that was stored again.
    package func noteStoredAgain(_ object: ObjectRecord) throws(LedgerError) {
        try write("note an object that was stored again") { db in _ = try db.store(object) }
    }
}

extension Database {
    /// Whether any object is gone or damaged, which is rare. The statements that ask who needs what is broken are long: to
    /// prepare them was a twelfth of `status`.
    func isAnythingBroken() throws -> Bool {
        try number("SELECT 1 FROM objects INDEXED BY objects_broken WHERE problem IS NOT NULL LIMIT 1") != nil
    }
}

extension LedgerQuery {
    /// Of a photo: whether it was on the disk when its folder was watched last, which it is no longer. What is in hand
    /// is settled when its upload is committed.
    static let isOnUnwatchedDisk = """
        (photos.state IN ('uploaded', 'pending', 'failed', 'skipped')
        AND photos.folder_id IN (SELECT id FROM folders WHERE active = 0))
        """
    /// Of a photo: whether nobody else tells what becomes of it, and nothing of it is in the archive of events.
    static let isLostWithItsObject = """
        (photos.folder_id IN (SELECT id FROM folders WHERE \(isNoOthers)) AND NOT EXISTS (
            SELECT 1 FROM event_files JOIN events ON events.id = event_files.event
            WHERE event_files.photo_id = photos.id AND events.object_id = photos.object_id
            AND events.retention = 'archived'
        ))
        """
    /// Copies with photos that are to be lost. What stays as it is is no part of it, however often it is asked for, and where
    /// no folder has left the configuration, no copy is looked at.
    static let brokenOfUnwatched = """
        SELECT id FROM objects INDEXED BY objects_broken WHERE problem IS NOT NULL AND key > ''
        AND EXISTS (SELECT 1 FROM folders WHERE active = 0 AND \(isNoOthers))
        AND EXISTS (
            SELECT 1 FROM photos
            WHERE photos.object_id = objects.id AND \(isOnUnwatchedDisk) AND \(isLostWithItsObject)
        )
        AND NOT EXISTS (
            SELECT 1 FROM objects AS original
            WHERE original.key = \(keyOfOriginal) AND original.problem IS NULL
        )
        """
    /// Of a photo that waits to be stored again, or could not be: whether what was stored of its content is there. What has
    /// failed without being read may have another one by now.
    fileprivate static let isStoredAsItIs = """
        (photos.object_generation = photos.generation AND photos.error IS NOT NULL AND photos.supposed_drive IS NULL
        AND (photos.state = 'pending' OR photos.md5 IS NOT NULL)
        AND EXISTS (
            SELECT 1 FROM objects
            WHERE objects.id = photos.object_id AND objects.problem IS NULL AND objects.md5 IS photos.md5
        ))
        """
    static func storedOfUnwatched(_ state: PhotoState) -> String {
        """
        SELECT id FROM photos INDEXED BY photos_unsynced
        WHERE folder_id = ? AND state = '\(state.rawValue)' AND \(isStoredAsItIs)
        """
    }
    package static let brokenWithoutFile = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_broken
        WHERE problem IS NOT NULL AND key > ? AND (
            \(isBesidePhotos)
            OR EXISTS (SELECT 1 FROM photo_versions WHERE photo_versions.object_id = objects.id)
            OR \(isOfEventWithoutFile)
            OR EXISTS (
                SELECT 1 FROM photos JOIN folders ON folders.id = photos.folder_id
                WHERE photos.object_id = objects.id AND photos.state = 'lost' AND \(isNoOthers)
            )
        ) ORDER BY key LIMIT ?
        """
    package static let objectsOfDigest = """
        SELECT \(ObjectRecord.columns) FROM objects INDEXED BY objects_by_sha256
        WHERE sha256 = ? AND key <> ? AND problem IS NULL ORDER BY key LIMIT ?
        """
    package static let objectsOfPhoto = """
        SELECT \(ObjectRecord.columns) FROM objects
        WHERE \(KeyRange.condition) AND md5 = ? AND key <> ? AND sha256 IS NOT NULL AND problem IS NULL
        ORDER BY key LIMIT ?
        """
    package static let firstLost = """
        SELECT id FROM photos INDEXED BY photos_lost_in_folder
        WHERE folder_id = ? AND state = 'lost' ORDER BY queued_at LIMIT ?
        """
}
