import FoundationEssentials
import GRDB
package import SyncCore
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

struct DirectoryEntry {
    let id: DirectoryID
    let path: FilePath
}

extension DirectoryEntry: FetchableRecord {
    init(row: Row) { self.init(id: DirectoryID(rawValue: row[0]), path: FilePath(directoryBlob: row[1])) }
}

/// The comparison of a directory's rows with its files: what has to be done, by name. It decides nothing about moves:
/// those need a look at other directories.
struct DirectoryPlan {
    struct Change {
        var row: PhotoRow
        var stamp: FileStamp
    }

    /// Where in ``files`` there are names that no row has, in order.
    private(set) var new: [Int] = []
    /// Rows whose file has another stamp.
    private(set) var changed: [Change] = []
    /// Rows of an older ledger whose file is as it was, as far as they know, and tells more.
    private(set) var completed: [Change] = []
    /// Rows of vanished files that are back as they were.
    private(set) var returned: [PhotoRow] = []
    /// Rows without a file, and not known as vanished yet.
    private(set) var vanished: [PhotoRow] = []
    /// New or changed files that are not whole yet.
    private(set) var unsettled: [ScannedFile] = []
    private(set) var unchanged = 0

    let files: [ScannedFile]
    private var isKnown: [Bool]
    private var indexes: [[UInt8]: Int]

    /// Whether there is nothing to write.
    var isEmpty: Bool {
        new.isEmpty && changed.isEmpty && completed.isEmpty && returned.isEmpty && vanished.isEmpty
    }

    init(known: [PhotoRow], files: [ScannedFile], settled: (FileStamp) -> Bool) {
        self.init(files: files)
        for row in known { meet(row, settled) }
        finish(settled)
    }

    /// A plan that is still to ``meet(_:_:)`` each row of the directory, and then to ``finish(_:)``. Rows are not kept, but
    /// for those that something has to be done about: a folder of a million files is held once, and not three times.
    init(files: [ScannedFile]) {
        self.files = files
        isKnown = [Bool](repeating: false, count: files.count)
        indexes = Dictionary(minimumCapacity: files.count)
        for (index, file) in files.enumerated() { indexes[file.name.bytes] = index }
    }

    mutating func meet(_ row: PhotoRow, _ settled: (FileStamp) -> Bool) {
        guard let index = indexes[row.name] else {
            if row.isOnDisk { vanished.append(row) }
            return
        }
        isKnown[index] = true
        compare(row, with: files[index], settled)
    }

    mutating func finish(_ settled: (FileStamp) -> Bool) {
        for (index, file) in files.enumerated() where !isKnown[index] {
            if settled(file.stamp) { new.append(index) } else { unsettled.append(file) }
        }
        indexes = [:]
    }

    /// - Returns: for each file why nothing is stored of it; empty where that is said of none.
    func skipped(_ why: (ScannedFile) -> SkipReason?) -> [SkipReason?] {
        var reasons: [SkipReason?] = []
        for index in new {
            guard let reason = why(files[index]) else { continue }
            if reasons.isEmpty { reasons = Array(repeating: nil, count: files.count) }
            reasons[index] = reason
        }
        return reasons
    }

    private mutating func compare(_ row: PhotoRow, with file: ScannedFile, _ settled: (FileStamp) -> Bool) {
        if file.stamp.isUntouched(since: row.stamp) || !row.isOnDisk && file.stamp.isAs(catalogued: row.stamp) {
            if row.stamp != file.stamp { completed.append(Change(row: row, stamp: file.stamp)) }
            if row.isOnDisk { unchanged += 1 } else { returned.append(row) }
        } else if settled(file.stamp) {
            changed.append(Change(row: row, stamp: file.stamp))
        } else {
            unsettled.append(file)
        }
    }
}

/// The ledger's number for a directory in a watched folder.
package typealias DirectoryID = RowID<KnownDirectory>

/// What one look at a directory changed in the ledger. Counts are of files.
package struct DirectoryDifference: Hashable, Sendable {
    /// New ones, now pending or skipped.
    package var new: [ScannedFile] = []
    /// How many of them are skipped.
    package var skipped = 0
    /// Changed ones, pending again.
    package var changed = 0
    /// Known ones that have a new name or place.
    package var moved = 0
    /// Missing ones that are back, unchanged.
    package var returned = 0
    /// Known ones that are no longer there: missing when something of them is stored, else forgotten.
    package var missing = 0
    /// Of those that moved or are back, how many are pending now.
    package var requeued = 0
    package var unchanged = 0
    /// New or changed, and not whole yet. The ledger knows nothing of them: look again later.
    package var unsettled: [ScannedFile] = []
    /// The directory, for ``Ledger/finishScan(_:below:visited:unread:stillThere:)``; `nil` when nothing is known in it.
    package var directoryID: DirectoryID?

    /// Whether anything was written.
    package var isEmpty: Bool { new.count + changed + moved + returned + missing == 0 }
}
