import FoundationEssentials
import GRDB
package import SyncCore

/// That a file on another drive than the one that a photo was found on counts as a copy of it, since it has its name,
/// its size and its time. Cameras whose clock was never set have more than one of those, so the photo stays known on its
/// own drive until the file was read, and is what is stored of it: nothing is deleted by what a stamp alone tells. The
/// queue reads it, as it does each file with a new stamp; no scan waits for that.
enum CopySupposition: Hashable {
    /// On this drive, as ``DriveTable`` names it; `nil`: one that cannot be recognised later.
    case on(Int64?)
    /// A file that had the stamp was another photo: by its stamp, no file counts as a copy of this one any more.
    case disproved

    /// As the column has it.
    init(_ column: Int64) {
        switch column {
        case -1: self = .disproved
        case 0: self = .on(nil)
        default: self = .on(column)
        }
    }

    /// Whether a file is still to be read.
    var isOpen: Bool { self != .disproved }
}

extension Ledger {
    /// Whether a file that counts as a copy of a photo is one: its content is what is stored of that. Of a file of
    /// events, only its photos are stored: that is not compared, and `cleanup` decides about those.
    package func holds(_ digest: ContentDigest, of photo: Int64) throws(LedgerError) -> Bool {
        try read("compare a file with what is stored") { db in
            try db.number(
                """
                SELECT 1 FROM photos JOIN objects ON objects.id = photos.object_id
                WHERE photos.id = ?1 AND (objects.md5 = ?2 OR objects.sha256 = ?3
                    OR EXISTS (SELECT 1 FROM event_notes WHERE event_notes.photo_id = photos.id))
                """, [photo, digest.md5.blob, digest.sha256.blob]) != nil
        }
    }
}

extension Database {
    /// A file counts as a copy of a stored photo: it is to be read. What is stored counts as its content until then.
    /// - Parameters:
    ///   - drive: on which it is, as ``DriveTable`` names it; `nil` for one that cannot be recognised later.
    ///   - wasStored: whether the photo was stored as it was on its own drive.
    func suppose(copyOf id: Int64, on drive: Int64?, wasStored: Bool, at time: Date) throws {
        try run(
            """
            UPDATE photos SET supposed_drive = ?2, generation = generation + 1,
                object_generation = IIF(?3, generation + 1, object_generation),
                state = IIF(state = 'uploading', state, 'pending'), gone = 0, attempts = 0, error = NULL,
                queued_at = IIF(state IN ('pending', 'uploading'), queued_at, ?4),
                next_try_at = IIF(\(PhotoRow.held), next_try_at, 0), md5 = NULL, sha256 = NULL
            WHERE id = ?1
            """, [id, drive ?? 0, wasStored, time.milliseconds])
    }

    /// The own drive of a photo is there: no other file counts as it.
    func endSupposition(of id: Int64) throws {
        try run("UPDATE photos SET supposed_drive = NULL WHERE id = ?", [id])
    }

    /// The file was read, and is a copy: the photo is known on that drive from now on.
    func proveCopy(of row: PhotoRow) throws {
        guard case .on(let drive)? = row.supposition else { return }
        if let drive {
            try PhotoTable(self).note(drive: drive, isOfPlace: false, of: row.id)
        } else {
            try endSupposition(of: row.id)
        }
    }

    /// The file was read, and is another photo: this one is what it was on its own drive. The stamp that was noted is
    /// that of the other file, and means nothing: when the drive is back, the photo is read there once. The folder tells
    /// of the file, of which nothing is stored, until the next scan does.
    func disproveCopy(of row: PhotoRow, _ reason: String) throws {
        let isStored = try row.isStored && !isBroken(row.objectID)
        let state: PhotoState = isStored ? .uploaded : .pending
        try run(
            """
            UPDATE photos SET supposed_drive = -1, state = ?2, attempts = 0, next_try_at = 0, error = NULL,
                md5 = IIF(?3, (SELECT objects.md5 FROM objects WHERE objects.id = photos.object_id), NULL),
                sha256 = NULL, device = 0, inode = 0, changed = NULL, born = NULL
            WHERE id = ?1
            """, [row.id, state.rawValue, isStored])
        guard let place = try self.row(LedgerQuery.placeOfRow, [row.id], as: PhotoPlace.self) else { return }
        try run(
            "UPDATE folders SET problem = COALESCE(problem, ?) WHERE id = ?",
            ["\(place.absolute.text.escapingControls): \(reason)", row.folderID.rawValue])
    }
}
