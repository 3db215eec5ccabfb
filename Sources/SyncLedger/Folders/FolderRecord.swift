package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// The ledger's number for one of many.
package struct RowID<Record>: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// Of a watched folder. It stays the same as long as the folder's path does.
package typealias FolderID = RowID<FolderRecord>

/// A watched folder as the ledger knows it.
package struct FolderRecord: Hashable, Identifiable, Sendable {
    package let id: FolderID
    package let kind: WatchedFolder.Kind
    package let path: FilePath
    package let profile: String?
    package let filter: PathFilter
    /// How it was watched last; `nil` before the first time.
    package let watching: WatchReport.Mode?
    /// What is wrong with watching it, with the remedy.
    package let note: String?
    /// What kept its last scan from seeing all of it, with the remedy; `nil` when it saw everything.
    package let problem: String?
    package let scannedAt: Date?
    /// The newest file that came without a hint, where that is why the folder is polled.
    package let untold: UntoldFile?

    package var folder: WatchedFolder { WatchedFolder(kind: kind, path: path, profile: profile, filter: filter) }
}

extension FolderRecord: FetchableRecord {
    /// Whether what its scans have found is what this folder of the configuration holds.
    package func isWatched(as folder: WatchedFolder) -> Bool {
        path == folder.path && kind == folder.kind && filter == folder.filter
    }

    static let columns =
        "id, kind, path, profile, watching, note, problem, scanned_at, filter AS folder_filter, untold, untold_at"

    init(row: Row) throws {
        id = FolderID(rawValue: row[0])
        kind = try WatchedFolder.Kind(rawValue: row[1]).known()
        path = FilePath(blob: row[2])
        profile = row[3]
        watching = (row[4] as String?).flatMap(WatchReport.Mode.init)
        note = row[5]
        problem = row[6]
        scannedAt = row.time(7)
        // Where it is not asked for, nobody needs it. What cannot be read is of another version, and leaves nothing out.
        let rules: String? = row["folder_filter"]
        filter = rules.flatMap { try? PathFilter(filterText: $0) } ?? PathFilter()
        if let path: Data = row["untold"], let found: Int64 = row["untold_at"] {
            untold = UntoldFile(path: FilePath(blob: path), found: found)
        } else {
            untold = nil
        }
    }
}

extension [FolderRecord] {
    /// What an earlier agent has found out counts for so many seconds: it may take an hour to be found out again.
    private static var untoldLasts: Double { 30 * 86_400 }

    /// Files that came without a hint, by the path of their folder, to watch these folders accordingly.
    package func untold(at now: Date) -> [FilePath: UntoldFile] {
        let oldest = Int64((now.timeIntervalSince1970 - Self.untoldLasts) * 1e9)
        return reduce(into: [:]) { untold, folder in
            if let file = folder.untold, file.found > oldest { untold[folder.path] = file }
        }
    }
}

extension PathFilter {
    /// Its rules, one a line.
    fileprivate var filterText: String { lines.joined(separator: "\n") }

    fileprivate init(filterText text: String) throws(Invalid) {
        try self.init(text.split(separator: "\n").map(String.init))
    }
}

extension WatchedFolder.Kind {
    /// Whether a photo's key is made of its content alone, so that it may move without being stored again.
    package var isPooled: Bool { self != .projects }
}

/// The ledger holds a word that this version does not know. The schema's checks keep such words out.
struct UnknownName: Error {}

extension Optional {
    /// What the schema promises to be there.
    func known() throws -> Wrapped {
        guard let self else { throw UnknownName() }
        return self
    }
}

/// A place below a watched folder where a file system is mounted, or was when photos were seen there.
package struct FolderMount: Hashable, Sendable {
    /// Below the folder.
    package let path: FilePath
    package let isMounted: Bool
    /// When that was seen first.
    package let since: Date
}

extension FolderMount: FetchableRecord {
    static let ofFolder = "SELECT path, is_mounted, since FROM folder_mounts WHERE folder_id = ? ORDER BY path"

    init(row: Row) {
        path = FilePath(directoryBlob: row[0])
        isMounted = row[1]
        since = Date(milliseconds: row[2])
    }
}

extension Ledger {
    /// What is known to be, or to have been, mounted below a folder.
    package func mounts(of folder: FolderID) throws(LedgerError) -> [FolderMount] {
        try read("list mounts") { try $0.rows(FolderMount.ofFolder, [folder.rawValue]) }
    }

    /// Notes where file systems are mounted below a folder now. Places where one was, and is not now, are remembered as
    /// long as photos are known to be on its disk there; what is a plain folder for good is forgotten.
    /// - Parameters:
    ///   - mounted: below the folder.
    ///   - inUse: places that hold files although nothing is mounted there: plain folders by now.
    /// - Returns: what is remembered and not mounted, with the number of photos known in each.
    @discardableResult
    package func noteMounts(
        _ folder: FolderID, mounted: [FilePath], inUse: Set<FilePath> = [], at time: Date
    ) throws(LedgerError) -> [(mount: FolderMount, files: Int)] {
        let operation = "note mounts"
        let known = try mounts(of: folder)
        // Nothing was ever mounted below most folders.
        if known.isEmpty, mounted.isEmpty { return [] }
        let before = Set(known.filter(\.isMounted).map(\.path))
        let (appeared, vanished) = (Set(mounted).subtracting(before), before.subtracting(mounted))
        if !appeared.isEmpty || !vanished.isEmpty {
            try write(operation) { db in
                for path in appeared { try db.note(path, of: folder, isMounted: true, at: time) }
                for path in vanished { try db.note(path, of: folder, isMounted: false, at: time) }
            }
        }
        let counted = try read(operation) { db in
            try db.rows(FolderMount.ofFolder, [folder.rawValue], as: FolderMount.self).filter { !$0.isMounted }
                .map { (mount: $0, files: try db.knownFiles(of: folder, below: $0.path)) }
        }
        let isOver: ((mount: FolderMount, files: Int)) -> Bool = { $0.files == 0 || inUse.contains($0.mount.path) }
        let over = counted.filter(isOver).map(\.mount.path)
        if !over.isEmpty {
            try write(
                operation, "DELETE FROM folder_mounts WHERE folder_id = ? AND path = ?",
                each: over.map { [folder.rawValue, $0.directoryBlob] })
        }
        return counted.filter { !isOver($0) }
    }
}

extension Database {
    fileprivate func note(_ path: FilePath, of folder: FolderID, isMounted: Bool, at time: Date) throws {
        try run(
            """
            INSERT INTO folder_mounts (folder_id, path, is_mounted, since) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET is_mounted = excluded.is_mounted, since = excluded.since
            """, [folder.rawValue, path.directoryBlob, isMounted, time.milliseconds])
    }

    /// Photos that are believed to be on the disk, in a directory and all below it; and those that a catalogue alone
    /// tells of, which may be on a drive that no scan has seen yet.
    fileprivate func knownFiles(of folder: FolderID, below path: FilePath) throws -> Int {
        try DirectoryTable(self).subtree(path, in: folder).reduce(0) { count, directory in
            let files = try number(
                """
                SELECT COUNT(*) FROM photos
                WHERE directory_id = ? AND (state <> 'missing' OR \(FileStamp.isOfCatalog)) AND gone = 0
                """, [directory.id.rawValue])
            return count + Int(files ?? 0)
        }
    }
}

extension Ledger {
    /// Makes the active folders those that are configured, in their order. A folder that is no longer configured keeps
    /// all that is known of it, but is neither uploaded nor counted; when it is configured again, it goes on. Those of
    /// its photos of which nothing is left in the store are lost: they are counted. Those that were to be stored again, and
    /// whose copies are there by now, count as stored.
    ///
    /// A folder that turns from or into a projects folder has all its photos pending again: their keys are others. One
    /// that becomes a gallery, or gets another profile, has its JSON files read again: their events depend on both.
    ///
    /// What was not watched until now, or by other rules, counts as not looked at: its last scan tells nothing of what
    /// has come since, or of what these rules leave out.
    /// - Returns: the active folders, in the order given.
    package func register(_ folders: [WatchedFolder]) throws(LedgerError) -> [FolderRecord] {
        try write("register folders") { db in
            let known = try db.rows("SELECT \(FolderRecord.columns) FROM folders", as: FolderRecord.self)
            let before = Dictionary(known.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
            try db.forgetScans("active = 0")
            try db.run("UPDATE folders SET active = 0")
            for (position, folder) in folders.enumerated() {
                try db.run(
                    """
                    INSERT INTO folders (path, kind, profile, active, position, filter) VALUES (?, ?, ?, 1, ?, ?)
                    ON CONFLICT (path) DO UPDATE
                    SET kind = excluded.kind, profile = excluded.profile, active = 1, position = excluded.position,
                        filter = excluded.filter
                    """,
                    [folder.path.blob, folder.kind.rawValue, folder.profile, position, folder.filter.filterText])
                guard let old = before[folder.path] else { continue }
                if !old.isWatched(as: folder) {
                    try db.forgetScans("path = ?", [folder.path.blob])
                }
                if old.filter != folder.filter { try PhotoTable(db).repend(filteredBelow: folder.path) }
                if old.kind.isPooled != folder.kind.isPooled {
                    try PhotoTable(db).repend(below: folder.path)
                } else if old.kind != folder.kind || old.profile != folder.profile {
                    try PhotoTable(db).repend(below: folder.path, onlyJSON: true)
                }
            }
            try db.losePhotosNoLongerWatched()
            try db.takeBackPhotosNoLongerWatched()
            return try db.activeFolders()
        }
    }

    /// Notes how a folder is watched at the moment, for `status`.
    package func noteWatching(_ folder: FolderID, _ report: WatchReport) throws(LedgerError) {
        try write(
            "note how a folder is watched",
            "UPDATE folders SET watching = ?, note = ?, untold = ?, untold_at = ? WHERE id = ?",
            [
                report.mode.rawValue, report.note, report.untold?.path.blob, report.untold?.found,
                folder.rawValue,
            ])
    }

    /// Notes that a folder was scanned from its root on.
    /// - Parameter problem: what it could not see, with the remedy; `nil` when it saw everything.
    package func noteScan(_ folder: FolderID, problem: String?, at time: Date) throws(LedgerError) {
        try write(
            "note a scan", "UPDATE folders SET problem = ?, scanned_at = ? WHERE id = ?",
            [problem, time.milliseconds, folder.rawValue])
    }

    /// Notes why a folder cannot be looked at now, until its next scan.
    package func noteObstacle(_ folder: FolderID, problem: String) throws(LedgerError) {
        try write(
            "note why a folder cannot be looked at",
            "UPDATE folders SET problem = ?1 WHERE id = ?2 AND problem IS NOT ?1", [problem, folder.rawValue])
    }

    /// The files of a folder that the ledger believes to be on the disk: all but the missing, the lost, and those that this
    /// program was removing when it was stopped. No walk.
    package func knownFileCount(_ folder: FolderID) throws(LedgerError) -> Int {
        try read("count the files of a folder") { db in
            let count = try db.number(
                "SELECT SUM(files) FROM photo_tallies WHERE folder_id = ? AND state NOT IN ('missing', 'lost')",
                [folder.rawValue])
            let leaving = try db.number(
                """
                SELECT COUNT(*) FROM file_removals JOIN photos ON photos.id = photo_id
                WHERE folder_id = ? AND state NOT IN ('missing', 'lost') AND photos.generation = file_removals.generation
                """, [folder.rawValue])
            return Int((count ?? 0) - (leaving ?? 0))
        }
    }

    /// Whether the ledger has a photo of a folder, wherever its file is by now. A file of events that were all signed
    /// off is none: it was emptied on purpose.
    package func hasPhotos(_ folder: FolderID) throws(LedgerError) -> Bool {
        try read("look for the photos of a folder") { db in
            try db.number(
                """
                SELECT 1 FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
                WHERE directories.folder_id = ? AND (
                    NOT EXISTS (SELECT 1 FROM event_notes WHERE photo_id = photos.id)
                    OR EXISTS (
                        SELECT 1 FROM event_files JOIN events ON events.id = event_files.event
                        WHERE event_files.photo_id = photos.id AND events.retention = 'kept'
                    )
                ) LIMIT 1
                """, [folder.rawValue]) != nil
        }
    }
}

extension Ledger {
    /// The folder that is watched at a path; `nil` where none is.
    package func watchedFolder(at path: FilePath) throws(LedgerError) -> FolderRecord? {
        try read("look up a folder") { try $0.activeFolders().first { $0.path == path } }
    }

    /// The folder that is watched and holds a path; `nil` where none does.
    package func watchedFolder(above path: FilePath) throws(LedgerError) -> FolderRecord? {
        try read("look up a folder") { try $0.activeFolders().first { path.starts(with: $0.path) } }
    }

    /// Whether there is a watched folder that nobody has looked at as a whole.
    package func hasUnscannedFolder() throws(LedgerError) -> Bool {
        try read("look for folders to scan") { try $0.activeFolders().contains { $0.scannedAt == nil } }
    }
}

extension Database {
    /// Nobody has looked at these folders yet, as far as is known.
    fileprivate func forgetScans(_ condition: String, _ arguments: StatementArguments = []) throws {
        try run("UPDATE folders SET scanned_at = NULL, problem = NULL WHERE \(condition)", arguments)
    }

    func activeFolders() throws -> [FolderRecord] {
        try rows("SELECT \(FolderRecord.columns) FROM folders WHERE active = 1 ORDER BY position")
    }

    /// - Throws: when there is no such folder, which is the caller's fault.
    func folder(_ id: FolderID) throws -> FolderRecord {
        let record = try row(
            "SELECT \(FolderRecord.columns) FROM folders WHERE id = ?", [id.rawValue], as: FolderRecord.self)
        guard let record else { throw UnknownFolder() }
        return record
    }
}

/// A folder id that ``Ledger/register(_:)`` never gave.
struct UnknownFolder: Error {}
