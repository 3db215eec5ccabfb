import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage

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

    /// - Parameter reason: why nothing is stored of the file; `nil` for one that has to be read. It is never the photo of
    ///   an event, whose arrival the schema notes when its state changes: those have names of photos.
    func insert(
        _ file: ScannedFile, in directory: DirectoryID, of folder: FolderID, skipped reason: SkipReason?, at time: Date
    ) throws {
        let state: PhotoState = reason == nil ? .pending : .skipped
        try db.run(
            """
            INSERT INTO photos (
                folder_id, directory_id, name, state, queued_at, error, left_out, is_filtered, \(FileStamp.columns)
            )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                folder.rawValue, directory.rawValue, Data(file.name.bytes), state.rawValue, time.milliseconds,
                reason?.words, reason?.leftOutColumn, reason?.isFiltered ?? false,
            ] + file.stamp.values)
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
    func repend(_ row: PhotoRow, stamp: FileStamp, at time: Date) throws {
        try db.run(
            """
            UPDATE photos SET (\(FileStamp.columns)) = (?, ?, ?, ?, ?, ?),
                queued_at = CASE WHEN state IN ('pending', 'uploading') THEN queued_at ELSE ? END, \(Self.pendingAgain)
            WHERE id = ?
            """, stamp.values + [time.milliseconds, row.id])
    }

    /// A stored photo is to be read again.
    func repend(stored id: Int64, at time: Date) throws {
        try db.run(
            "UPDATE photos SET queued_at = ?, \(Self.pendingAgain) WHERE id = ? AND state = 'uploaded'",
            [time.milliseconds, id])
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

    /// A file that had vanished is there again, as it was.
    /// - Returns: whether it waits for its upload now.
    func bringBack(_ row: PhotoRow, at time: Date) throws -> Bool {
        if row.state == .uploading {
            try db.run("UPDATE photos SET gone = 0 WHERE id = ?", [row.id])
        } else if try row.isStored && !db.isBroken(row.objectID) {
            try db.run("UPDATE photos SET state = 'uploaded' WHERE id = ?", [row.id])
        } else {
            try db.run(
                "UPDATE photos SET queued_at = ?, \(Self.pendingAgain) WHERE id = ?", [time.milliseconds, row.id])
            return true
        }
        return false
    }

    /// The file has another name. What is stored of it stays stored: nothing is sent again.
    /// - Returns: as ``bringBack(_:at:)``.
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
        return try !row.isOnDisk && bringBack(row, at: time)
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

extension SkipReason {
    fileprivate var isFiltered: Bool { kind == .filtered }
    /// What a filter leaves out has a column of its own.
    fileprivate var leftOutColumn: String? { isFiltered ? nil : kind?.rawValue }
}

/// What intake and commit need of a photo's row.
struct PhotoRow {
    let id: Int64
    let folderID: FolderID
    let directoryID: DirectoryID
    let name: [UInt8]
    let stamp: FileStamp
    let state: PhotoState
    /// Counts the changes of the file. Whoever works on a photo remembers it, and compares when the work is done.
    let generation: Int64
    /// What is stored of this photo, and of which generation.
    let objectID: Int64?
    let objectGeneration: Int64?
    /// The file vanished while it was being uploaded.
    let isGone: Bool

    /// Whether the content that the file had last is the one that is stored.
    var isStored: Bool { objectID != nil && objectGeneration == generation }
    /// As far as is known.
    var isOnDisk: Bool { state.isOnDisk && !isGone }
}

extension PhotoRow: FetchableRecord {
    static let columns = """
        photos.id, photos.folder_id, photos.directory_id, photos.name, photos.state, photos.generation, \
        photos.object_id, photos.object_generation, photos.gone, \(FileStamp.columns(of: "photos"))
        """

    /// How many there are: what is asked for behind them begins here.
    static let columnCount = 15

    init(row: Row) throws {
        id = row[0]
        folderID = FolderID(rawValue: row[1])
        directoryID = DirectoryID(rawValue: row[2])
        name = try row.withUnsafeData(atIndex: 3) { $0.map { [UInt8]($0) } ?? [] }
        state = try PhotoState(rawValue: row[4]).known()
        generation = row[5]
        objectID = row[6]
        objectGeneration = row[7]
        isGone = row[8]
        stamp = FileStamp(row: row, from: 9)
    }
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

    /// - Parameters:
    ///   - except: rows whose file was seen a moment ago.
    ///   - stillThere: whether there is a file at an absolute path.
    func origin(of stamp: FileStamp, except: (PhotoRow) -> Bool, stillThere: (FilePath) -> Bool) throws -> Origin? {
        let candidates = try db.rows(
            LedgerQuery.rowsOfStamp,
            [
                Int64(bitPattern: stamp.inode), Int64(bitPattern: stamp.device), stamp.size, stamp.modified,
            ], as: PhotoRow.self)
        for row in candidates where !except(row) {
            let isProved = row.stamp == stamp && stamp.changed != nil
            guard isProved || stamp.born != nil && stamp.isRenamed(from: row.stamp) else { continue }
            let place = try db.row(LedgerQuery.placeOfRow, [row.id], as: PhotoPlace.self)
            if let place, !stillThere(place.absolute) {
                return Origin(row: row, kind: place.folder.kind, isProved: isProved)
            }
        }
        return nil
    }
}

/// Where a photo's file is, or was.
struct PhotoPlace: FetchableRecord {
    let folder: FolderRecord
    /// Below the folder.
    let path: FilePath

    var absolute: FilePath { folder.path.pushing(path) }

    static let columns = "\(DirectoryPlace.columns), photos.name"
    /// What belongs to the rows of `photos`.
    static let joins =
        "JOIN directories ON directories.id = photos.directory_id JOIN folders ON folders.id = photos.folder_id"

    init(row: Row) throws {
        let place = try DirectoryPlace(row: row)
        folder = place.folder
        path = place.path.pushing(FilePath(blob: row[9]))
    }
}

/// A directory with its watched folder.
struct DirectoryPlace: FetchableRecord {
    let folder: FolderRecord
    /// Below the folder; empty for the folder itself.
    let path: FilePath

    static let columns = """
        folders.id, folders.kind, folders.path, folders.profile, folders.watching, folders.note, folders.problem, \
        folders.scanned_at, directories.path
        """

    init(row: Row) throws {
        folder = try FolderRecord(row: row)
        path = FilePath(directoryBlob: row[8])
    }
}
