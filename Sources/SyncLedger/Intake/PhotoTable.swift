import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

/// The directories in which photos are known. A directory without photos has no row.
struct DirectoryTable {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    func find(_ path: FilePath, in folder: FolderID) throws -> DirectoryID? {
        try db.number(LedgerQuery.directory, [folder.rawValue, path.directoryBlob]).map(DirectoryID.init)
    }

    func findOrAdd(_ path: FilePath, in folder: FolderID) throws -> DirectoryID {
        if let id = try find(path, in: folder) { return id }
        try db.run("INSERT INTO directories (folder_id, path) VALUES (?, ?)", [folder.rawValue, path.directoryBlob])
        return DirectoryID(rawValue: db.lastInsertedRowID)
    }

    /// A directory and all below it, in the order of their paths.
    func subtree(_ path: FilePath, in folder: FolderID) throws -> [DirectoryEntry] {
        let range = SubtreeRange(below: path)
        let top = try find(path, in: folder).map { [DirectoryEntry(id: $0, path: path)] } ?? []
        return try top + db.rows(LedgerQuery.directoriesInRange, [folder.rawValue, range.from, range.to])
    }

    /// - Returns: whether it was.
    @discardableResult
    func removeIfEmpty(_ id: DirectoryID) throws -> Bool {
        try db.run(
            """
            DELETE FROM directories WHERE id = ?1
            AND NOT EXISTS (SELECT 1 FROM photos WHERE directory_id = ?1)
            """, [id.rawValue]) > 0
    }
}

package struct DirectoryEntry: Hashable, Sendable {
    package let id: DirectoryID
    /// Below the folder.
    package let path: FilePath
}

extension DirectoryEntry: FetchableRecord {
    init(row: Row) { self.init(id: DirectoryID(rawValue: row[0]), path: FilePath(directoryBlob: row[1])) }
}

/// The changes of one photo's row that intake makes. Each keeps the invariants of the row; the caller has the
/// transaction.
struct PhotoTable {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    func rows(in directory: DirectoryID) throws -> [PhotoRow] {
        try db.rows(LedgerQuery.rowsOfDirectory, [directory.rawValue])
    }

    /// - Parameter directory: `nil` for one of which nothing is known.
    func plan(
        of directory: DirectoryID?, _ files: [ScannedFile], _ settled: (FileStamp) -> Bool
    ) throws -> DirectoryPlan {
        var plan = DirectoryPlan(files: files)
        if let directory {
            try db.forEachRow(LedgerQuery.rowsOfDirectory, [directory.rawValue]) { plan.meet($0, settled) }
        }
        plan.finish(settled)
        return plan
    }

    func row(in directory: DirectoryID, named name: FilePath.Component) throws -> PhotoRow? {
        try db.row(LedgerQuery.rowOfFile, [directory.rawValue, Data(name.bytes)])
    }

    /// - Parameters:
    ///   - drive: as ``DriveTable`` names it; `nil` for one that cannot be recognised later.
    ///   - reason: why nothing is stored of the file; `nil` for one that has to be read. It is never the photo of an
    ///     event, whose arrival the schema notes when its state changes: those have names of photos.
    ///   - hold: until when nobody claims a file that is not whole; `nil` for one that is.
    func insert(
        _ file: ScannedFile, in directory: DirectoryID, of folder: FolderID, on drive: Int64?,
        skipped reason: SkipReason? = nil, heldUntil hold: Date? = nil, at time: Date
    ) throws {
        let state: PhotoState = reason == nil ? .pending : .skipped
        try db.run(
            """
            INSERT INTO photos (
                folder_id, directory_id, name, state, queued_at, next_try_at, error, left_out, is_filtered,
                drive, \(FileStamp.columns)
            )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                folder.rawValue, directory.rawValue, Data(file.name.bytes), state.rawValue, time.milliseconds,
                hold?.nextTry ?? 0, reason?.words, reason?.leftOutColumn, reason?.isFiltered ?? false,
                drive,
            ] + file.stamp.values)
    }

    /// The file is seen on a drive.
    /// - Parameters:
    ///   - drive: as of ``insert(_:in:of:on:skipped:heldUntil:at:)``.
    ///   - isOfPlace: whether it is the one that is known of the place.
    func note(drive: Int64?, isOfPlace: Bool, of id: Int64) throws {
        try db.noteCatalogChange(ofPhoto: id, movedToPlace: isOfPlace)
        try db.run("UPDATE photos SET drive = ?, supposed_drive = NULL WHERE id = ?", [drive, id])
    }

    /// The file was read, and nothing is stored of it.
    func skip(_ id: Int64, _ reason: SkipReason) throws {
        try db.run(
            """
            UPDATE photos SET state = 'skipped', md5 = NULL, sha256 = NULL, next_try_at = 0, error = ?,
                left_out = ?, is_filtered = ?
            WHERE id = ?
            """, [reason.words, reason.leftOutColumn, reason.isFiltered, id])
    }

    /// The file has other content: everything that was known of the old one ends, except what is stored of it. A photo
    /// in hand stays in hand; its commit sees the new generation. One that waits keeps its place, and so the time since
    /// when it is not stored, however often it changes meanwhile.
    /// - Parameter hold: until when nobody claims a file that is not whole; `nil` for one that is.
    func repend(_ row: PhotoRow, stamp: FileStamp, heldUntil hold: Date? = nil, at time: Date) throws {
        try db.run(
            """
            UPDATE photos SET (\(FileStamp.columns)) = (?, ?, ?, ?, ?, ?),
                queued_at = CASE WHEN state IN ('pending', 'uploading') THEN queued_at ELSE ? END, \(Self.pendingAgain)
            WHERE id = ?
            """, stamp.values + [time.milliseconds, row.id])
        if let hold { try db.run("UPDATE photos SET next_try_at = ? WHERE id = ?", [hold.nextTry, row.id]) }
    }

    /// The file has other content, and is not whole. The photo is pending, and nobody claims it until `hold`. It stays
    /// in its generation, since nobody reads what is on its way; where the old content is in hand, that ends here.
    func hold(_ row: PhotoRow, stamp: FileStamp, until hold: Date, at time: Date) throws {
        if row.state == .uploading {
            try repend(row, stamp: stamp, heldUntil: hold, at: time)
        } else {
            try db.run(
                """
                UPDATE photos SET state = 'pending', queued_at = ?, gone = 0, attempts = 0, next_try_at = ?, error = NULL
                WHERE id = ?
                """, [time.milliseconds, hold.nextTry, row.id])
        }
    }

    /// The file that was not whole is. It has waited since it was met, and has a new generation where it is another one
    /// than its row tells.
    func release(_ row: PhotoRow, stamp: FileStamp, at time: Date) throws {
        guard stamp.isUntouched(since: row.stamp) else { return try repend(row, stamp: stamp, at: time) }
        try db.run("UPDATE photos SET next_try_at = 0 WHERE id = ?", [row.id])
        if row.stamp != stamp { try complete(row, stamp: stamp) }
    }

    /// A stored photo is to be read again.
    func repend(stored id: Int64, at time: Date) throws {
        try db.run(
            "UPDATE photos SET queued_at = ?, \(Self.pendingAgain) WHERE id = ? AND state = 'uploaded'",
            [time.milliseconds, id])
    }

    /// A file that was read is to be read again, whatever came of it.
    func repend(read id: Int64, at time: Date) throws {
        try db.run(
            """
            UPDATE photos SET queued_at = ?, \(Self.pendingAgain)
            WHERE id = ? AND state IN ('uploaded', 'skipped', 'failed')
            """, [time.milliseconds, id])
    }

    /// The file is as it was; only its stamp tells more than the row knows.
    func complete(_ row: PhotoRow, stamp: FileStamp) throws {
        try db.run(
            "UPDATE photos SET (\(FileStamp.columns)) = (?, ?, ?, ?, ?, ?) WHERE id = ?", stamp.values + [row.id])
    }

    /// The file has the size and time that another machine's catalogue tells of it, and nobody has read it here.
    func noteMatched(_ row: PhotoRow) throws {
        try db.run("INSERT OR IGNORE INTO matched_photos (photo_id) VALUES (?)", [row.id])
    }

    /// All files on the disk of a folder, or those that may hold events, come to something else than before.
    func repend(below folder: FilePath, onlyJSON: Bool = false) throws {
        try db.run(
            """
            UPDATE photos SET \(Self.pendingAgain)
            WHERE directory_id IN (
                SELECT id FROM directories WHERE folder_id = (SELECT id FROM folders WHERE path = ?)
            ) AND state NOT IN ('missing', 'lost') AND (NOT ? OR CAST(name AS TEXT) LIKE '%.json')
            """, [folder.blob, onlyJSON])
    }

    /// The filter of a folder is another one: what the old one has left out may be stored by the new one, and what was
    /// left out or failed for other reasons may be left out by it. What is stored stays so.
    func repend(filteredBelow folder: FilePath) throws {
        try db.run(
            """
            UPDATE photos SET \(Self.pendingAgain)
            WHERE folder_id = (SELECT id FROM folders WHERE path = ?)
                AND (state = 'failed' OR state = 'skipped' AND (is_filtered = 1 OR left_out IS NOT NULL))
                -- What was set aside for ending the agent stays so.
                AND NOT EXISTS (SELECT 1 FROM suspects WHERE suspects.photo_id = photos.id)
            """, [folder.blob])
        // Pictures under names of programs are told, or not, by the filter, too.
        try db.run(
            "UPDATE directories SET digest = NULL WHERE folder_id = (SELECT id FROM folders WHERE path = ?)",
            [folder.blob])
    }

    /// A file that had vanished is there again, as it was. One that counted as a copy, and vanished unread, is read.
    /// - Returns: whether it waits for its upload now.
    func markPresent(_ row: PhotoRow, at time: Date) throws -> Bool {
        if row.state == .uploading {
            try db.run("UPDATE photos SET gone = 0 WHERE id = ?", [row.id])
        } else if try row.isStored && row.supposition?.isOpen != true && !db.isBroken(row.objectID) {
            try db.run("UPDATE photos SET state = 'uploaded' WHERE id = ?", [row.id])
        } else {
            try db.run(
                "UPDATE photos SET queued_at = ?, \(Self.pendingAgain) WHERE id = ?", [time.milliseconds, row.id])
            return true
        }
        return false
    }

    /// The file has another name. What is stored of it stays stored: nothing is sent again.
    /// - Returns: as ``markPresent(_:at:)``.
    func move(
        _ row: PhotoRow, to directory: DirectoryID, of folder: FolderID, named name: FilePath.Component, at time: Date
    ) throws -> Bool {
        // Whoever has the photo in hand reads it under its old name, and will not find it.
        try db.run(
            """
            UPDATE photos SET folder_id = ?, directory_id = ?, name = ?,
                generation = generation + (state = 'uploading')
            WHERE id = ?
            """, [folder.rawValue, directory.rawValue, Data(name.bytes), row.id])
        return try !row.isOnDisk && markPresent(row, at: time)
    }

    /// The file is no longer there. What is stored is kept and known as missing; where that is gone or damaged, the photo
    /// is lost; one of which nothing was ever stored is forgotten; one in hand is settled when its upload is committed.
    /// - Parameter time: since when it is known to be gone; `nil` where nobody will ask for it.
    func vanish(_ row: PhotoRow, at time: Date?) throws {
        if row.state == .uploading {
            try db.run("UPDATE photos SET gone = 1, generation = generation + 1 WHERE id = ?", [row.id])
        } else {
            try settleVanished(row.id, hasObject: row.objectID != nil, at: time)
        }
    }

    func settleVanished(_ id: Int64, hasObject: Bool, at time: Date?) throws {
        if hasObject {
            try db.run(
                """
                UPDATE photos SET state = 'missing', gone = 0, next_try_at = 0, error = NULL, missing_since = ?
                WHERE id = ?
                """, [time?.milliseconds, id])
            if let object = try db.number(LedgerQuery.brokenObjectOfPhoto, [id]) { try db.lose(photosOf: object) }
        } else {
            try db.run("DELETE FROM photos WHERE id = ?", [id])
        }
    }

    private static let pendingAgain = """
        state = CASE state WHEN 'uploading' THEN 'uploading' ELSE 'pending' END,
        generation = generation + 1, gone = 0, attempts = 0, next_try_at = 0, error = NULL, md5 = NULL, sha256 = NULL
        """
}

extension Date {
    /// As the column of the next try has it, where 0 is at once.
    fileprivate var nextTry: Int64 { max(milliseconds, 1) }
}

extension SkipReason {
    fileprivate var isFiltered: Bool { kind == .filtered }
    /// What a filter leaves out has a column of its own.
    fileprivate var leftOutColumn: String? { isFiltered ? nil : kind?.rawValue }
}

/// Finds the row of a file that came under a new name: the one with the same stamp whose own file is no longer there.
///
/// A folder that is renamed leaves the stamps of its files alone. A file that is renamed gets another time of change, on
/// most file systems, as it would by a rewrite that sets the modification time back; so only its birth tells that it is
/// the same file, and reading it has to tell the rest. Without a birth it may be a new file in the inode of the old one.
struct RenameFinder {
    let db: Database

    struct Origin {
        var row: PhotoRow
        var kind: WatchedFolder.Kind
        /// Whether the content is known to be the same, so that the file need not be read.
        var isProved: Bool
    }

    /// Where files may have been that are new by a plan. Whether they are still there is asked before anything is
    /// written: what writes to the ledger waits for no disk.
    /// - Parameter directory: that of the plan; `nil` for one that is not known.
    func places(for plan: DirectoryPlan, in directory: DirectoryID?) throws -> [FilePath] {
        let indexes = plan.new + plan.newlyHeld
        if indexes.isEmpty { return [] }
        let names = Set(plan.files.map(\.name.bytes))
        var places: [FilePath] = []
        for index in indexes {
            let candidates = try candidates(of: plan.files[index].stamp) { row in
                row.directoryID == directory && names.contains(row.name)
            }
            for (row, _) in candidates {
                if let place = try place(of: row) { places.append(place.absolute) }
            }
        }
        return places
    }

    /// - Parameters:
    ///   - except: rows whose file was seen a moment ago.
    ///   - gone: absolute paths at which there was no file when it was asked. At all others there may be one.
    func origin(of stamp: FileStamp, except: (PhotoRow) -> Bool, gone: Set<FilePath>) throws -> Origin? {
        if gone.isEmpty { return nil }
        for (row, isProved) in try candidates(of: stamp, except: except) {
            if let place = try place(of: row), gone.contains(place.absolute) {
                return Origin(row: row, kind: place.folder.kind, isProved: isProved)
            }
        }
        return nil
    }

    private func candidates(
        of stamp: FileStamp, except: (PhotoRow) -> Bool
    ) throws -> [(row: PhotoRow, isProved: Bool)] {
        let rows = try db.rows(
            LedgerQuery.rowsOfStamp,
            [
                Int64(bitPattern: stamp.inode), Int64(bitPattern: stamp.device), stamp.size, stamp.modified,
            ], as: PhotoRow.self)
        var candidates: [(row: PhotoRow, isProved: Bool)] = []
        for row in rows where !except(row) {
            let isProved = row.stamp == stamp && stamp.changed != nil
            guard isProved || stamp.born != nil && stamp.isRenamed(from: row.stamp) else { continue }
            candidates.append((row, isProved))
        }
        return candidates
    }

    private func place(of row: PhotoRow) throws -> PhotoPlace? {
        try db.row(LedgerQuery.placeOfRow, [row.id], as: PhotoPlace.self)
    }
}

extension Database {
    /// - Parameter drive: on which the directory is, or would be: photos of other ones are what they were. `nil`: those
    ///   of all drives are gone.
    func vanish(
        _ rows: [PhotoRow], of directory: DirectoryID, on drive: DriveComparison? = nil, at time: Date?
    ) throws -> Int {
        let known = rows.filter(\.isOnDisk)
        let present = known.filter { drive?.isOther($0) != true }
        for row in present { try PhotoTable(self).vanish(row, at: time) }
        for row in known where drive?.isWithdrawn(row) == true { try withdrawCopy(of: row) }
        try DirectoryTable(self).removeIfEmpty(directory)
        return present.count
    }
}
