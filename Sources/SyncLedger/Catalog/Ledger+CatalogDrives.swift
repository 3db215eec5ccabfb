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

extension Database {
    /// Before a photo is noted on another drive: its line in the catalogue is not right any more, where that tells of a
    /// drive or is to tell of one.
    /// - Parameter isOfPlace: whether the new one is the one that is known of the place.
    func noteCatalogChange(ofPhoto id: Int64, movedToPlace isOfPlace: Bool) throws {
        try run(
            """
            INSERT INTO catalog_changes (folder_id, directory, name)
                SELECT photos.folder_id, directories.path, photos.name
                FROM photos CROSS JOIN directories ON directories.id = photos.directory_id
                WHERE photos.id = ?1 AND photos.object_id IS NOT NULL AND (photos.drive IS NOT NULL OR NOT ?2)
                AND (SELECT catalog_tracking FROM agent) = 1
                AND (SELECT machine FROM folders WHERE id = photos.folder_id) IS NULL
                ON CONFLICT DO UPDATE SET segment = NULL
            """, [id, isOfPlace])
    }
}

/// Of which drives the lines of photos tell: those that take turns with the one that is known of the place, for which
/// the line of the folder stands. Else a ledger that is made anew while that one is there would take their photos for
/// deleted.
struct CatalogPhotoDrives {
    private let drives: [Int64: DriveIdentity]
    /// By folder, those above before those below; without a drive where one was mounted that told nothing.
    private let places: [Int64: [(path: FilePath, drive: DriveIdentity?)]]
    private var last: (folder: Int64, directory: FilePath, told: [Int64: DriveIdentity])?

    init(_ db: Database) throws {
        drives = try DriveTable(db).all()
        let rows = try db.rawRows(
            """
            SELECT folder_id, path, drive FROM (
                SELECT folder_id, path, drive FROM folder_drives
                UNION ALL
                SELECT folder_id, path, NULL FROM folder_mounts
                WHERE (folder_id, path) NOT IN (SELECT folder_id, path FROM folder_drives)
            ) ORDER BY length(path)
            """)
        places = rows.reduce(into: [:]) { places, row in
            let drive = (row[2] as String?).flatMap { DriveIdentity(text: $0) }
            places[row[0] as Int64, default: []].append((path: FilePath(directoryBlob: row[1]), drive: drive))
        }
    }

    /// - Parameters:
    ///   - drive: the one that a photo was seen on last.
    ///   - directory: that of the photo, below the folder. Photos come by directories.
    mutating func told(_ drive: Int64?, in directory: FilePath, of folder: Int64) -> DriveIdentity? {
        guard let drive else { return nil }
        if let last, last.folder == folder, last.directory == directory { return last.told[drive] }
        let told = others(in: directory, of: folder)
        last = (folder, directory, told)
        return told[drive]
    }

    private func others(in directory: FilePath, of folder: Int64) -> [Int64: DriveIdentity] {
        guard let place = places[folder]?.last(where: { directory.starts(with: $0.path) }), let known = place.drive,
            known.isLasting
        else { return drives }
        let seen = SeenDrive.found(known, at: place.path, isExpected: true)
        return drives.filter { seen.isOther(than: $0.value, in: directory) }
    }
}
