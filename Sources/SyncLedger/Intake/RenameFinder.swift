import GRDB
import SyncCore
import SystemPackage

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
    func origin(
        of stamp: FileStamp, except: (PhotoRow) -> Bool, stillThere: (FilePath) -> Bool
    ) throws -> Origin? {
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

    static let columns = """
        folders.id, folders.kind, folders.path, folders.profile, folders.watching, folders.note, folders.problem, \
        folders.scanned_at, directories.path, photos.name
        """

    init(row: Row) throws {
        folder = try FolderRecord(row: row)
        path = FilePath(directoryBlob: row[8]).pushing(FilePath(blob: row[9]))
    }
}
