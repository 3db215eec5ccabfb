package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A stored photo of which the original is to be kept, too.
package struct OriginalCandidate: Hashable, Sendable {
    fileprivate let photo: Int64
    fileprivate let generation: Int64
    /// Absolute.
    package let file: FilePath
    /// As it was when it was stored.
    package let stamp: FileStamp
    /// What is stored of it.
    package let copy: ObjectRecord
}

/// How far the originals are that are to be kept.
package struct OriginalsStatus: Hashable, Sendable {
    /// Objects.
    package var kept = 0
    /// Stored bytes of them.
    package var bytes: Int64 = 0
    /// Photos that are stored, and whose original is not, as far as is known.
    package var waiting = 0
    /// Bytes of their files.
    package var waitingBytes: Int64 = 0
    /// Those of them that were begun: it has failed, was killed, or is under way.
    package var begun = 0
}

/// Originals: objects beside the copies, by the same MD5. A photo's row tells the generation of which its original is kept
/// or need not be, so that those that are left are read from an index.
extension Ledger {
    /// A page of the photos whose original is not kept yet. Those on the way that need none are noted as such: what is stored
    /// as it is, what has the same bytes as another photo, files of events, and images of projects.
    /// - Parameter last: the last row of the page before; 0 for the first page.
    /// - Returns: the last row of this page; `nil` when there is none behind it.
    package func photosWithoutOriginal(
        after last: Int64, limit: Int
    ) throws(LedgerError) -> (candidates: [OriginalCandidate], last: Int64?) {
        // Most of the time there is none, and nothing to write.
        let isAny = try read("look for originals") {
            try !$0.rawRows(LedgerQuery.photosWithoutOriginal, [last, 1]).isEmpty
        }
        guard isAny else { return ([], nil) }
        return try write("look for originals") { db in
            let rows = try db.rawRows(LedgerQuery.photosWithoutOriginal, [last, limit])
            var candidates: [OriginalCandidate] = []
            for row in rows {
                let needed = try db.needsOriginal(row)
                if let needed { candidates.append(needed) } else { try db.noteOriginal(row[0], row[1]) }
            }
            return (candidates, rows.count < limit ? nil : rows.last?[0])
        }
    }

    /// Notes that a photo's original is about to be stored, so that whoever forgets the photo knows of it, whatever becomes
    /// of this process: on the disk when this returns. ``noteOriginal(_:of:_:)`` or ``endOriginal(_:of:at:)`` follows.
    /// - Returns: a number to note it by; `nil` when its photo was forgotten, or what was stored of it is being deleted.
    package func beginOriginal(_ key: ObjectKey, of candidate: OriginalCandidate) throws(LedgerError) -> Int64? {
        try write("note an original on its way", isDurable: true) { db in
            guard try db.objectID(candidate.copy.key) != nil, try db.mayCount(key, attempt: .max) else { return nil }
            try db.run("DELETE FROM original_uploads WHERE key = ?", [key.rawValue])
            try db.run("INSERT INTO original_uploads (key) VALUES (?)", [key.rawValue])
            return db.lastInsertedRowID
        }
    }

    /// Notes that a photo's original is stored: on the disk when this returns.
    /// - Parameter upload: as ``beginOriginal(_:of:)`` has given it.
    /// - Returns: `false` when its photo was forgotten since: it is deleted, too.
    package func noteOriginal(
        _ object: ObjectRecord, of candidate: OriginalCandidate, _ upload: Int64
    ) throws(LedgerError) -> Bool {
        try write("note an original", isDurable: true) { db in
            if try db.endOriginal(upload, object.key, candidate, at: object.storedAt) { return false }
            try db.run("DELETE FROM original_uploads WHERE id = ?", [upload])
            _ = try db.store(object)
            try db.noteOriginal(candidate.photo, candidate.generation)
            return true
        }
    }

    /// Notes that storing an original has failed: it may have come all the same. Whoever tries again, or forgets its photo,
    /// has the note that it was begun.
    package func endOriginal(
        _ key: ObjectKey, of candidate: OriginalCandidate, _ upload: Int64, at time: Date
    ) throws(LedgerError) {
        try write("note an original", isDurable: true) { db in
            _ = try db.endOriginal(upload, key, candidate, at: time)
        }
    }

    /// Notes that what is stored of a photo are its own bytes.
    package func noteNoOriginal(_ candidate: OriginalCandidate) throws(LedgerError) {
        try write("note an original") { try $0.noteOriginal(candidate.photo, candidate.generation) }
    }

    /// The file has other bytes than the ones that are stored: it is read again.
    package func readAgain(_ candidate: OriginalCandidate, at time: Date) throws(LedgerError) {
        try write("queue a photo") { try PhotoTable($0).repend(stored: candidate.photo, at: time) }
    }

    /// What is kept of a photo's own bytes, whole or not.
    package func anyOriginal(of copy: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up an original") { db in
            try copy.original.flatMap { try db.row(LedgerQuery.object, [$0.rawValue]) }
        }
    }

    /// An original that is gone or damaged, and that no file here brings back.
    /// ``forget(photos:objects:deleting:at:)`` ends that it is told; the photo's copy stays as it is.
    package func lostOriginal(_ key: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up a lost original") { db in
            guard let copy = key.copyOfOriginal,
                let original = try db.row(LedgerQuery.object, [key.rawValue], as: ObjectRecord.self),
                original.problem != nil, try db.number(LedgerQuery.fileOfKey, [copy.rawValue]) == nil
            else { return nil }
            return original
        }
    }

    /// The original of a photo that is known is no photo of its own.
    package func leavingOutOriginals(among objects: [ObjectRecord]) throws(LedgerError) -> [ObjectRecord] {
        try read("look up photos of originals") { db in
            try objects.filter { try !db.isOriginalOfPhoto($0.key) }
        }
    }

    /// - Parameters:
    ///   - prefix: the beginning of the keys of originals.
    ///   - countingWaiting: also counts what is left to keep: one step for each of them.
    package func originalsStatus(
        below prefix: String, countingWaiting: Bool = true
    ) throws(LedgerError) -> OriginalsStatus {
        try read("count originals") { db in
            let range = KeyRange(prefix: prefix, after: nil)
            var status = OriginalsStatus()
            let kept = try db.rawRow(LedgerQuery.originals, [range.from, range.to])
            status.kept = kept?[0] ?? 0
            status.bytes = kept?[1] ?? 0
            guard countingWaiting else { return status }
            let begun = Set(try db.texts("SELECT key FROM original_uploads WHERE NOT is_void"))
            var last: Int64 = 0
            while true {
                let rows = try db.rawRows(LedgerQuery.photosWithoutOriginal, [last, 1_000])
                guard let end = rows.last else { break }
                last = end[0]
                for candidate in try rows.compactMap({ try db.needsOriginal($0) }) {
                    status.waiting += 1
                    status.waitingBytes += candidate.stamp.size
                    if let key = candidate.copy.key.original, begun.contains(key.rawValue) { status.begun += 1 }
                }
            }
            return status
        }
    }
}

extension Database {
    /// An original is gone or damaged: where the file is here, it is stored again.
    /// - Returns: how many photos are lost with it, because their copy is broken, too.
    func noteOriginalBroken(of copy: ObjectKey) throws -> Int {
        guard let id = try objectID(copy) else { return 0 }
        try run("UPDATE photos SET original_generation = NULL WHERE object_id = ?", [id])
        return try lose(photosOf: id)
    }

    /// Of a copy that is forgotten: an original that was being stored at this moment, or when a process was killed.
    func deleteOriginalOnItsWay(of copy: ObjectKey, at time: Date) throws {
        guard let key = copy.original,
            try number("SELECT 1 FROM original_uploads WHERE key = ?", [key.rawValue]) != nil
        else { return }
        try deleteUnlessKnown(key, at: time)
    }

    /// Whether a key is that of an original whose copy is stored of a photo, as it is or was.
    func isOriginalOfPhoto(_ key: ObjectKey) throws -> Bool {
        guard let copy = key.copyOfOriginal else { return false }
        return try number(LedgerQuery.photoOfKey, [copy.rawValue]) != nil
    }

    /// Whether the copy of an original is whole.
    func hasWholeCopy(_ original: ObjectKey) throws -> Bool {
        guard let key = original.copyOfOriginal, let id = try objectID(key) else { return false }
        return try record(ofObject: id)?.problem == nil
    }

    /// Originals that were on their way when a process ended, and whose photos were forgotten meanwhile.
    func deleteInterruptedOriginals(at time: Date) throws {
        for key in try texts("SELECT key FROM original_uploads WHERE is_void") {
            try deleteUnlessKnown(try ObjectKey(key), at: time)
        }
        try run("DELETE FROM original_uploads WHERE is_void")
    }

    /// - Returns: whether the photo was forgotten while its original was on the way. It is deleted then, and its note is over.
    fileprivate func endOriginal(
        _ upload: Int64, _ key: ObjectKey, _ candidate: OriginalCandidate, at time: Date
    ) throws -> Bool {
        let isValid = try number("SELECT 1 FROM original_uploads WHERE id = ? AND NOT is_void", [upload]) != nil
        if try isValid && objectID(candidate.copy.key) != nil { return false }
        try deleteUnlessKnown(key, at: time)
        try run("DELETE FROM original_uploads WHERE id = ?", [upload])
        return true
    }

    private func deleteUnlessKnown(_ original: ObjectKey, at time: Date) throws {
        if try objectID(original) != nil { return }
        try beginDeletion(ObjectDeletion(key: original, size: 0, storageClass: .standard), at: time)
    }

    fileprivate func noteOriginal(_ photo: Int64, _ generation: Int64) throws {
        try run("UPDATE photos SET original_generation = ?2 WHERE id = ?1 AND generation = ?2", [photo, generation])
    }

    /// - Parameter row: as ``LedgerQuery/photosWithoutOriginal`` gives it.
    /// - Returns: `nil` when it needs none.
    fileprivate func needsOriginal(_ row: Row) throws -> OriginalCandidate? {
        let copy = try ObjectRecord(row: row, from: 13)
        let sha256 = SHA256Digest(blob: row[2])
        let isEvents: Bool = row[3]
        guard !isEvents, copy.key.original != nil, !copy.isFile, sha256 == nil || sha256 != copy.sha256,
            try original(of: copy.key) == nil
        else { return nil }
        return OriginalCandidate(
            photo: row[0], generation: row[1],
            file: FilePath(blob: row[4]).pushing(FilePath(directoryBlob: row[5])).pushing(FilePath(blob: row[6])),
            stamp: FileStamp(row: row, from: 7), copy: copy)
    }
}

extension ObjectRecord {
    /// Whether it has the bytes of the photo's file, as far as digests tell it.
    package var isFile: Bool { md5 != nil && storedMD5 == md5 }
}

extension LedgerQuery {
    /// Of a row of `objects`, as ``ObjectKey/original`` has it: `NULL` where it is no photo in the pool.
    static let keyOfOriginal = siblingKey(of: "photos", in: "originals")
    /// As ``ObjectKey/copyOfOriginal`` has it: `NULL` where it is no original.
    static let keyOfCopy = siblingKey(of: "originals", in: "photos")

    /// By its family, which is the first three segments: a user, a profile or a project's folder may be called `photos`, too.
    private static func siblingKey(of folder: String, in other: String) -> String {
        let name = "substr(objects.key, length(objects.family) + 1)"
        return """
            CASE WHEN objects.family GLOB 'users/*/\(folder)/' AND instr(\(name), '/') = 0
            THEN substr(objects.family, 1, length(objects.family) - length('\(folder)/')) || '\(other)/' || \(name) END
            """
    }

    package static let photosWithoutOriginal = """
        SELECT photos.id, photos.generation, photos.sha256,
            EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id),
            folders.path, directories.path, photos.name, \(FileStamp.columns(of: "photos")), \(ObjectRecord.columns)
        FROM photos INDEXED BY photos_without_original
        CROSS JOIN objects ON objects.id = photos.object_id
        CROSS JOIN directories ON directories.id = photos.directory_id
        CROSS JOIN folders ON folders.id = photos.folder_id
        WHERE photos.state = 'uploaded' AND photos.original_generation IS NOT photos.generation
            AND folders.active = 1 AND folders.machine IS NULL AND photos.id > ?
        ORDER BY photos.id LIMIT ?
        """
    package static let originals =
        "SELECT COUNT(*), SUM(size) FROM objects WHERE \(KeyRange.condition) AND problem IS NULL"
    /// Of a photo whose file is not known to be gone.
    package static let fileOfKey = """
        SELECT 1 FROM objects
        CROSS JOIN photos INDEXED BY photos_by_object ON photos.object_id = objects.id
        WHERE objects.key = ? AND photos.state NOT IN ('missing', 'lost') LIMIT 1
        """
    package static let photoOfKey = """
        SELECT 1 FROM objects WHERE objects.key = ? AND (
            EXISTS (SELECT 1 FROM photos INDEXED BY photos_by_object WHERE photos.object_id = objects.id)
            OR EXISTS (SELECT 1 FROM photo_versions WHERE photo_versions.object_id = objects.id)
        )
        """
}
