import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// On which drives the photos of a folder are, as far as that is known, by places below it. What is at none of them
    /// is where the nearest one above is.
    package func drives(of folder: FolderID) throws(LedgerError) -> [FilePath: DriveIdentity] {
        try read("list drives") { db in
            let rows = try db.rawRows("SELECT path, drive FROM folder_drives WHERE folder_id = ?", [folder.rawValue])
            return rows.reduce(into: [:]) { drives, row in
                drives[FilePath(directoryBlob: row[0])] = DriveIdentity(text: row[1])
            }
        }
    }

    /// - Parameters:
    ///   - drives: `nil` for a place that is to be none of its own any more.
    ///   - plain: places where a drive was mounted, and none is expected any more.
    package func noteDrives(
        _ drives: [FilePath: DriveIdentity?], plain: [FilePath] = [], of folder: FolderID
    ) throws(LedgerError) {
        if drives.isEmpty, plain.isEmpty { return }
        try write("note drives") { db in
            for (path, drive) in drives {
                if let drive {
                    try db.run(
                        """
                        INSERT INTO folder_drives (folder_id, path, drive) VALUES (?, ?, ?)
                        ON CONFLICT DO UPDATE SET drive = excluded.drive
                        """, [folder.rawValue, path.directoryBlob, drive.text])
                } else {
                    try db.run(
                        "DELETE FROM folder_drives WHERE folder_id = ? AND path = ?",
                        [folder.rawValue, path.directoryBlob])
                }
            }
            for path in plain {
                try db.run(
                    "DELETE FROM folder_mounts WHERE folder_id = ? AND path = ?",
                    [folder.rawValue, path.directoryBlob])
            }
        }
    }

    /// A directory and all below it in which photos are known, missing ones, too.
    /// - Parameter start: below the folder; empty for all of it.
    package func directories(of folder: FolderID, below start: FilePath) throws(LedgerError) -> [DirectoryEntry] {
        try read("list directories") { try DirectoryTable($0).subtree(start, in: folder) }
    }

    /// The files of a directory that are believed to be on the disk, and of which something is stored or is to be; and
    /// those that a catalogue alone tells of, which may be on a drive that no scan has seen yet.
    package func knownFiles(in directory: DirectoryID) throws(LedgerError) -> [ScannedFile] {
        try read("list the files of a directory") { db in
            try PhotoTable(db).rows(in: directory).compactMap { row in
                guard row.isKept || row.isOnlyCatalogued else { return nil }
                return FilePath.Component(bytes: row.name).map { ScannedFile(name: $0, stamp: row.stamp) }
            }
        }
    }
}
