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
    ///   - takeovers: what becomes of the photos of other drives.
    ///   - plain: places where a drive was mounted, and none is expected any more.
    /// - Returns: how many photos are counted as those of another drive by that, missing ones, too.
    @discardableResult
    package func noteDrives(
        _ drives: [FilePath: DriveIdentity?], _ takeovers: [DriveTakeover] = [], plain: [FilePath] = [],
        of folder: FolderID
    ) throws(LedgerError) -> Int {
        // First, and in pieces. Where it ends between two of them, the place is known for the old drive still: photos
        // that have the new one go by that, and who looks at the place next begins again with the others.
        var count = 0
        for takeover in takeovers { count += try carryOut(takeover, in: folder) }
        if drives.isEmpty, plain.isEmpty { return count }
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
        return count
    }

    /// - Returns: of how many photos the drive is another one by that.
    private func carryOut(_ takeover: DriveTakeover, in folder: FolderID) throws(LedgerError) -> Int {
        let operation = "note that a drive takes the place of another one"
        let directories = try read(operation) { db in
            try DirectoryTable(db).subtree(takeover.place, in: folder).filter { directory in
                !takeover.below.contains { directory.path.starts(with: $0) }
            }
        }
        var progress = TakeoverProgress(rest: directories[...])
        while !progress.rest.isEmpty {
            let before = progress
            progress = try write(operation) { db in
                var progress = before
                try DriveTable(db).carryOut(takeover, &progress)
                return progress
            }
        }
        return progress.count
    }

    /// On which drive a photo was found last; `nil` where that, or the photo, is not known.
    /// - Parameter file: below the folder.
    package func drive(ofFile file: FilePath, in folder: FolderID) throws(LedgerError) -> DriveIdentity? {
        try read("look up the drive of a photo") { db in
            guard let name = file.lastComponent,
                let directory = try DirectoryTable(db).find(file.removingLastComponent(), in: folder),
                let drive = try PhotoTable(db).row(in: directory, named: name)?.drive
            else { return nil }
            return try DriveTable(db).all()[drive]
        }
    }

    /// A directory and all below it in which photos are known, missing ones, too.
    /// - Parameter start: below the folder; empty for all of it.
    package func directories(of folder: FolderID, below start: FilePath) throws(LedgerError) -> [DirectoryEntry] {
        try read("list directories") { try DirectoryTable($0).subtree(start, in: folder) }
    }

    /// Whether a file was met that is believed to be on the disk, and of which no drive is known. Where there is none,
    /// that takes one look, however many photos are known.
    /// - Parameters:
    ///   - place: below the folder.
    ///   - places: below that one, with drives of their own: what is there is left out.
    package func hasFileOfUntoldDrive(
        in folder: FolderID, below place: FilePath, except places: [FilePath] = []
    ) throws(LedgerError) -> Bool {
        try read("look for files of an unknown drive") { db in
            var last: Int64 = 0
            while let next = try db.row(
                LedgerQuery.directoryOfUntold, [folder.rawValue, last], as: DirectoryEntry.self)
            {
                if next.path.starts(with: place), !places.contains(where: next.path.starts) { return true }
                last = next.id.rawValue
            }
            return false
        }
    }

    /// The files of a directory that are believed to be on the disk, and of which something is stored or is to be; and
    /// those that a catalogue alone tells of, which may be on a drive that no scan has seen yet.
    package func knownFiles(in directory: DirectoryID) throws(LedgerError) -> [KnownPhotoFile] {
        try read("list the files of a directory") { db in
            let drives = try DriveTable(db).all()
            return try PhotoTable(db).rows(in: directory).compactMap { row in
                guard row.isKept || row.isOnlyCatalogued, let name = FilePath.Component(bytes: row.name) else {
                    return nil
                }
                return KnownPhotoFile(
                    name: name, stamp: row.stamp, drive: row.drive.flatMap { drives[$0] },
                    supposition: row.supposition, wasMet: row.wasMet)
            }
        }
    }
}

extension LedgerQuery {
    /// The next directory with a photo for which ``PhotoRow/wasMet`` holds, and of which no drive is known.
    package static let directoryOfUntold = """
        SELECT directories.id, directories.path
        FROM photos INDEXED BY photos_untold CROSS JOIN directories ON directories.id = photos.directory_id
        WHERE photos.folder_id = ? AND photos.directory_id > ?
            AND photos.drive IS NULL AND \(PhotoRow.wasMet)
        ORDER BY photos.directory_id LIMIT 1
        """
}

/// A file of a directory, as the ledger knows it.
package struct KnownPhotoFile: Sendable {
    package let name: FilePath.Component
    package let stamp: FileStamp
    /// On which it was found last, as far as is known.
    package let drive: DriveIdentity?
    let supposition: CopySupposition?
    /// Whether it was met on the disk and is believed to be there, and not only known from a catalogue.
    package let wasMet: Bool

    /// Whether a file with its name counts as it, or as a copy.
    package func mayBe(_ found: FileStamp) -> Bool {
        supposition?.isDisproved(of: found) != true && found.mayBeCopy(of: stamp)
    }

    /// Whether a file with its name is the one that was met, and no copy of it.
    package func isMet(as found: FileStamp) -> Bool { supposition?.isOpen != true && found.isMet(as: stamp) }
}

/// A drive takes the place of others: the photos that were seen on those are looked for on it from now on.
package struct DriveTakeover: Sendable {
    /// Below the folder.
    let place: FilePath
    /// Places below it, which have drives of their own.
    let below: [FilePath]
    /// The one whose place is taken; `nil` for each other one than `new`.
    let old: DriveIdentity?
    /// `nil` for a folder that is like the one around it, and for what cannot be recognised later.
    let new: DriveIdentity?

    package init(of old: DriveIdentity?, by new: DriveIdentity?, at place: FilePath, except below: [FilePath]) {
        (self.place, self.below, self.old, self.new) = (place, below, old, new)
    }

    /// - Parameter directory: below the folder.
    fileprivate func concerns(_ drive: DriveIdentity, in directory: FilePath) -> Bool {
        let isOther = SeenDrive.found(old ?? new, at: place, isExpected: true).isOther(than: drive, in: directory)
        return isOther == (old == nil)
    }
}

/// How far a takeover is carried out.
private struct TakeoverProgress: Sendable {
    /// Rows of one transaction, at most. A million in one would keep all others from writing for ten seconds.
    static let groupSize = 4_096
    /// Before all names: none is empty, or has a byte of 0. Data that is empty may be bound as NULL.
    static let start = Data([0])
    /// Behind all names: none has more than 255 bytes.
    static let end = Data(repeating: 0xFF, count: 256)

    var rest: ArraySlice<DirectoryEntry>
    /// The last one that is done in the first of these.
    var name = Self.start
    /// Rows.
    var count = 0
}

/// The drives that photos were seen on. There are few.
struct DriveTable {
    private let db: Database

    init(_ db: Database) {
        self.db = db
    }

    func all() throws -> [Int64: DriveIdentity] {
        var drives: [Int64: DriveIdentity] = [:]
        for row in try db.rawRows("SELECT id, identity FROM drives") {
            let (id, text): (Int64, String) = (row[0], row[1])
            drives[id] = DriveIdentity(text: text)
        }
        return drives
    }

    /// - Returns: `nil` for one that cannot be recognised later.
    func id(of seen: SeenDrive) throws -> Int64? {
        switch seen {
        case .known: nil
        case .found(let drive, at: _, isExpected: _): try drive.flatMap { try id(of: $0) }
        case .untold: try findOrAdd(.untold)
        }
    }

    /// The same.
    func id(of drive: DriveIdentity) throws -> Int64? { try drive.isLasting ? findOrAdd(drive) : nil }

    private func findOrAdd(_ drive: DriveIdentity) throws -> Int64 {
        if let id = try db.number("SELECT id FROM drives WHERE identity = ?", [drive.text]) { return id }
        try db.run("INSERT INTO drives (identity) VALUES (?)", [drive.text])
        return db.lastInsertedRowID
    }

    /// One piece of it.
    fileprivate func carryOut(_ takeover: DriveTakeover, _ progress: inout TakeoverProgress) throws {
        let new = try takeover.new.flatMap { try id(of: $0) }
        let drives = try all()
        var left = TakeoverProgress.groupSize
        while left > 0, let directory = progress.rest.first {
            let next = try db.rawRows(
                "SELECT name FROM photos WHERE directory_id = ? AND name > ? ORDER BY name LIMIT 1 OFFSET ?",
                [directory.id.rawValue, progress.name, TakeoverProgress.groupSize - 1])
            let last = next.first.map { $0[0] as Data }
            var count = 0
            for (id, drive) in drives where id != new && takeover.concerns(drive, in: directory.path) {
                count += try db.run(
                    """
                    UPDATE photos SET drive = ?, supposed_drive = NULL,
                        generation = IIF(supposed_drive >= 0, generation + 1, generation)
                    WHERE directory_id = ? AND name > ? AND name <= ? AND drive = ?
                    """,
                    [new, directory.id.rawValue, progress.name, last ?? TakeoverProgress.end, id])
            }
            progress.count += count
            if let last {
                progress.name = last
                return
            }
            progress.rest.removeFirst()
            progress.name = TakeoverProgress.start
            left -= count + 1
        }
    }
}
