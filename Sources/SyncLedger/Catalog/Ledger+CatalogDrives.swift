package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

// Where drives are mounted below watched folders, as the catalogue tells it: a ledger that is made anew while one is
// away would take its photos for deleted.

extension Ledger {
    /// This machine's watched folders, those that are no longer configured included.
    package func catalogFolders() throws(LedgerError) -> [CatalogFolder] {
        try read("list the folders of the catalogue") { db in
            let drives = try db.catalogDrives()
            return try db.rawRows("SELECT id, kind, path FROM folders WHERE machine IS NULL ORDER BY id").map { row in
                let id: Int64 = row[0]
                return CatalogFolder(folder: id, kind: row[1], path: FilePath(blob: row[2]), drives: drives[id] ?? [])
            }
        }
    }

    /// Notes drives as a catalogue has them, after its photos. What is known already stays.
    package func noteCatalogDrives(_ drives: [FolderID: [CatalogDrive]], at time: Date) throws(LedgerError) {
        if drives.values.allSatisfy(\.isEmpty) { return }
        try write("note the drives that the catalogue tells of") { db in
            for (folder, drives) in drives {
                for drive in drives where drive.path.path.isBelowAnyFolder {
                    try db.note(drive, below: folder, at: time)
                }
            }
        }
    }
}

extension Database {
    /// By folder. Those of whole folders are left out: a rebuild mostly finds another disk there.
    fileprivate func catalogDrives() throws -> [Int64: [CatalogDrive]] {
        let rows = try rawRows(
            """
            SELECT folder_mounts.folder_id, folder_mounts.path, folder_drives.drive
            FROM folder_mounts LEFT JOIN folder_drives
                ON folder_drives.folder_id = folder_mounts.folder_id AND folder_drives.path = folder_mounts.path
            ORDER BY folder_mounts.folder_id, folder_mounts.path
            """)
        return rows.reduce(into: [:]) { drives, row in
            let path = FilePath(directoryBlob: row[1])
            guard path.isBelowAnyFolder else { return }
            let identity = (row[2] as String?).flatMap { DriveIdentity(text: $0) }
            drives[row[0] as Int64, default: []].append(CatalogDrive(path: path, drive: identity))
        }
    }

    /// Whether it is mounted, the next scan tells.
    fileprivate func note(_ drive: CatalogDrive, below folder: FolderID, at time: Date) throws {
        let place = drive.path.path.directoryBlob
        try run(
            """
            INSERT INTO folder_mounts (folder_id, path, is_mounted, since) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING
            """, [folder.rawValue, place, time.milliseconds])
        guard let text = drive.drive, DriveIdentity(text: text) != nil else { return }
        try run(
            "INSERT INTO folder_drives (folder_id, path, drive) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [folder.rawValue, place, text])
    }
}
