import GRDB
import SyncCore
import SystemPackage

/// Finds the row of a file that came under a new name: the one with the same stamp whose own file is no longer there.
struct RenameFinder {
    let db: Database

    struct Origin {
        var row: PhotoRow
        var kind: WatchedFolder.Kind
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
            let place = try db.row(LedgerQuery.placeOfRow, [row.id], as: PhotoPlace.self)
            if let place, !stillThere(place.absolute) { return Origin(row: row, kind: place.folder.kind) }
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
