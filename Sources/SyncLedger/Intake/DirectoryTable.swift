import FoundationEssentials
import GRDB
import SystemPackage

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
        try db.run(
            "INSERT INTO directories (folder_id, path) VALUES (?, ?)", [folder.rawValue, path.directoryBlob])
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

struct DirectoryEntry: FetchableRecord {
    let id: DirectoryID
    let path: FilePath

    init(id: DirectoryID, path: FilePath) {
        self.id = id
        self.path = path
    }

    init(row: Row) {
        id = DirectoryID(rawValue: row[0])
        path = FilePath(directoryBlob: row[1])
    }
}
