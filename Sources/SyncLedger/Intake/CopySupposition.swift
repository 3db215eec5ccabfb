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
    /// A file that had the stamp was another photo: as long as it is as it was, it does not count as a copy any more.
    /// By its mark, another one that comes in its place is told from it; `nil`: none that has the stamp counts.
    case disproved(mark: Int64?)

    /// As the column has it.
    init(_ column: Int64) {
        if column < 0 {
            self = .disproved(mark: column == Self.noMark ? nil : column)
        } else {
            self = .on(column == 0 ? nil : column)
        }
    }

    /// As the column has it: a file with this stamp was another photo.
    static func column(disprovedBy file: FileStamp) -> Int64 { mark(of: file) ?? noMark }

    private static let noMark: Int64 = -1

    /// Below ``noMark``, of the times that no program can set. The inode is not in it: FAT numbers its files with each
    /// mount.
    private static func mark(of file: FileStamp) -> Int64? {
        if file.changed == nil, file.born == nil { return nil }
        // FNV-1a, by words.
        let hash = [file.changed, file.born].reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, time in
            let mixed = (hash ^ UInt64(bitPattern: time ?? 0)) &* 0x0100_0000_01B3
            return mixed ^ mixed >> 32
        }
        return noMark - 1 - Int64(hash >> 2)
    }

    /// Whether a file is still to be read.
    var isOpen: Bool {
        if case .on = self { true } else { false }
    }

    /// Whether a file that has the name of the photo on another drive was read, and is another photo.
    func isDisproved(of file: FileStamp) -> Bool {
        guard case .disproved(let mark) = self else { return false }
        return mark == nil || mark == Self.mark(of: file)
    }
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
            UPDATE photos SET supposed_drive = ?3, object_generation = IIF(?4, generation + 1, object_generation),
                \(Self.readAgain)
            WHERE id = ?1
            """, [id, time.milliseconds, drive ?? 0, wasStored])
    }

    /// No other file counts as a photo any more. What its row tells is the stamp of that one, which nobody has read:
    /// the file that is there is.
    func reclaim(_ id: Int64, at time: Date) throws {
        try run(
            "UPDATE photos SET supposed_drive = NULL, \(Self.readAgain) WHERE id = ?1", [id, time.milliseconds])
    }

    /// In a new generation, so that whoever has the photo in hand sees it. `?2` is now.
    private static let readAgain = """
        generation = generation + 1, state = IIF(state = 'uploading', state, 'pending'), gone = 0, attempts = 0,
        error = NULL, queued_at = IIF(state IN ('pending', 'uploading'), queued_at, ?2),
        next_try_at = IIF(\(PhotoRow.held), next_try_at, 0), md5 = NULL, sha256 = NULL
        """

    /// The file was read, and is a copy: the photo is known on that drive from now on.
    func proveCopy(of row: PhotoRow) throws {
        guard case .on(let drive)? = row.supposition else { return }
        if let drive {
            try PhotoTable(self).note(drive: drive, isOfPlace: false, of: row.id)
        } else {
            try run("UPDATE photos SET supposed_drive = NULL WHERE id = ?", [row.id])
        }
    }

    /// The file was read, and is another photo, or none: this one is what it was. The folder tells of the file, of
    /// which nothing is stored, beside what the last scan had to tell, until the next one does.
    func disproveCopy(of row: PhotoRow, _ reason: String) throws {
        try giveBack(row, supposition: CopySupposition.column(disprovedBy: row.stamp))
        guard let place = try self.row(LedgerQuery.placeOfRow, [row.id], as: PhotoPlace.self) else { return }
        // One of them is named: there may be many.
        try run(
            """
            UPDATE folders SET problem = CASE
                WHEN problem IS NULL THEN ?1 || ': ' || ?2
                WHEN instr(problem, ?2) > 0 THEN problem
                ELSE ?1 || ': ' || ?2 || '; ' || problem
            END
            WHERE id = ?3
            """, [place.absolute.text.escapingControls, reason, row.folderID.rawValue])
    }

    /// The file is gone before it was read: the photo is what it was.
    func withdrawCopy(of row: PhotoRow) throws { try giveBack(row, supposition: nil) }

    /// The photo is what it was on its own drive. The stamp that was noted is that of the other file, and means
    /// nothing: when the drive is back, the photo is read there once.
    private func giveBack(_ row: PhotoRow, supposition: Int64?) throws {
        let isStored = try row.isStored && !isBroken(row.objectID)
        let state: PhotoState = isStored ? .uploaded : .pending
        try run(
            """
            UPDATE photos SET supposed_drive = ?4, state = ?2, attempts = 0, next_try_at = 0, error = NULL,
                md5 = IIF(?3, (SELECT objects.md5 FROM objects WHERE objects.id = photos.object_id), NULL),
                sha256 = NULL, device = 0, inode = 0, changed = NULL, born = NULL
            WHERE id = ?1
            """, [row.id, state.rawValue, isStored, supposition])
    }
}
