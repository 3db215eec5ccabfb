package import FoundationEssentials
import GRDB
import Glibc
import SyncCore
import SystemPackage

extension Date {
    /// As the ledger keeps a time: milliseconds since 1970, rounded.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}

extension Row {
    func time(_ index: Int) -> Date? { (self[index] as Int64?).map(Date.init(milliseconds:)) }
    func path(_ index: Int) -> FilePath? { (self[index] as Data?).map(FilePath.init(blob:)) }
}

extension FilePath {
    /// As the ledger keeps a path: its bytes.
    var blob: Data { withPlatformString { Data(bytes: $0, count: strlen($0)) } }

    init(blob: Data) {
        self = (blob.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { FilePath(platformString: $0) } ?? FilePath()
        }
    }

    /// As the ledger keeps a directory below its folder: `/` for the folder itself, else `/trips/rome`. The folder so
    /// comes before all that is below it, and everything below a directory is one range.
    var directoryBlob: Data { [UInt8(ascii: "/")] + blob }

    init(directoryBlob: Data) {
        self.init(blob: directoryBlob.dropFirst())
    }
}

/// What lies below a directory, itself left out: the paths after `from` and before `to`, in the order of bytes.
struct SubtreeRange {
    let from: Data
    let to: Data

    init(below directory: FilePath) {
        let path = directory.directoryBlob
        let slash = UInt8(ascii: "/")
        from = directory.isEmpty ? path : path + [slash]
        to = from.dropLast() + [slash + 1]
    }
}

extension FileStamp {
    /// The columns of a stamp, wherever one is kept, in the order of ``init(row:from:)`` and ``values``.
    static func columns(of table: String) -> String {
        names.map { "\(table).\($0)" }.joined(separator: ", ")
    }

    static let columns = names.joined(separator: ", ")

    private static let names = ["device", "inode", "size", "modified", "changed", "born"]

    /// - Parameter index: of the first column.
    init(row: Row, from index: Int) {
        self.init(
            device: UInt64(bitPattern: row[index]), inode: UInt64(bitPattern: row[index + 1]), size: row[index + 2],
            modified: row[index + 3], changed: row[index + 4], born: row[index + 5])
    }

    /// What the columns hold.
    var values: StatementArguments {
        [Int64(bitPattern: device), Int64(bitPattern: inode), size, modified, changed, born]
    }
}

extension Database {
    /// Runs a statement that is prepared once for each connection. Answers the rows that it changed.
    @discardableResult
    func run(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        try cachedStatement(sql: sql).execute(arguments: arguments)
        return changesCount
    }

    // By GRDB's cursor of rows, and not by those of records and values: for each type of those, Swift would look once
    // through all conformances of the program, which takes 0.1 ms (swift_conformsToProtocol).

    func rows<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Record.Type = Record.self
    ) throws -> [Record] {
        var records: [Record] = []
        try forEachRow(sql, arguments) { records.append($0) }
        return records
    }

    /// As ``rows(_:_:as:)``, one after the other, so that they need not all be in memory.
    func forEachRow<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments, _ visit: (Record) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() { try visit(Record(row: row)) }
    }

    func row<Record: FetchableRecord>(
        _ sql: String, _ arguments: StatementArguments = [], as type: Record.Type = Record.self
    ) throws -> Record? {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        // The row is the cursor's, and as long there.
        return try withExtendedLifetime(rows) { try rows.next().map { try Record(row: $0) } }
    }

    /// As ``rows(_:_:as:)``, for what no type stands for.
    func rawRows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var rows: [Row] = []
        // The cursor has one row, again and again.
        while let row = try cursor.next() { rows.append(row.copy()) }
        return rows
    }

    func rawRow(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    func number(_ sql: String, _ arguments: StatementArguments = []) throws -> Int64? {
        try Int64.fetchOne(cachedStatement(sql: sql), arguments: arguments)
    }

    /// A number of things; 0 where there is no row, or no value in it.
    func total(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
        Int(try number(sql, arguments) ?? 0)
    }

    func texts(_ sql: String, _ arguments: StatementArguments = []) throws -> [String] {
        try values(sql, arguments) { try $0.decode(String.self, atIndex: 0) }
    }

    func numbers(_ sql: String, _ arguments: StatementArguments = []) throws -> [Int64] {
        try values(sql, arguments) { try $0.decode(Int64.self, atIndex: 0) }
    }

    private func values<Value>(
        _ sql: String, _ arguments: StatementArguments, _ value: (Row) throws -> Value
    ) throws -> [Value] {
        let rows = try Row.fetchCursor(cachedStatement(sql: sql), arguments: arguments)
        var values: [Value] = []
        while let row = try rows.next() { values.append(try value(row)) }
        return values
    }
}

/// The names in the table of counters.
enum Counter: String {
    case uploads
    case uploadBytes = "upload_bytes"
    case errors
    case watchOverflows = "watch_overflows"
    case retentionFailures = "retention_failures"
}

extension Database {
    func count(_ counter: Counter, _ label: String = "", by amount: Int64 = 1) throws {
        if amount == 0 { return }
        try run(
            "INSERT INTO counters VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value",
            [counter.rawValue, label, amount])
    }

    func count(_ sent: SentCount) throws {
        if sent.isStored { try count(.uploads) }
        try count(.uploadBytes, by: sent.bytes)
    }
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
    /// The file was seen before it was whole, and not since. It waits, and nobody claims it for a while.
    let isHeld: Bool
    /// On which the file was found last, as ``DriveTable`` names it; `nil` where that is not known.
    let drive: Int64?
    /// Where only the stamp of a file tells that it is a copy.
    let supposition: CopySupposition?

    /// Whether the content that the file had last is the one that is stored.
    var isStored: Bool { objectID != nil && objectGeneration == generation }
    /// As far as is known.
    var isOnDisk: Bool { state.isOnDisk && !isGone }
    /// Whether it is on the disk, as far as is known, and something is stored of it, or is to be.
    var isKept: Bool { isOnDisk && (objectID != nil || state == .pending || state == .uploading) }
}

extension PhotoRow: FetchableRecord {
    static let columns = """
        photos.id, photos.folder_id, photos.directory_id, photos.name, photos.state, photos.generation, \
        photos.object_id, photos.object_generation, photos.gone, \(FileStamp.columns(of: "photos")), \(held), \
        photos.drive, photos.supposed_drive
        """

    /// How many there are: what is asked for behind them begins here.
    static let columnCount = 18

    /// The condition for ``isHeld``. What waits for its next try was tried, or has the reason.
    static let held = """
        (photos.state IN ('pending', 'uploading') AND photos.next_try_at > 0 AND photos.attempts = 0 \
        AND photos.error IS NULL)
        """

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
        isHeld = row[15]
        drive = row[16]
        supposition = (row[17] as Int64?).map(CopySupposition.init)
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

/// The queries whose cost must not grow with the number of photos, each beside its look-up, and here those that several
/// look-ups run: under one name, so that a test can ask SQLite how it would run each of them. States are literals: a partial
/// index serves only a query that repeats its condition.
package enum LedgerQuery {
    // Intake
    package static let directory = "SELECT id FROM directories WHERE folder_id = ? AND path = ?"
    package static let directoriesInRange =
        "SELECT id, path FROM directories WHERE folder_id = ? AND path > ? AND path < ? ORDER BY path"
    package static let rowsOfDirectory = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ?"
    package static let rowOfFile = "SELECT \(PhotoRow.columns) FROM photos WHERE directory_id = ? AND name = ?"
    package static let rowsOfStamp =
        "SELECT \(PhotoRow.columns) FROM photos WHERE inode = ? AND device = ? AND size = ? AND modified = ?"
    package static let placeOfRow = """
        SELECT \(PhotoPlace.columns), folders.filter AS folder_filter FROM photos
        \(PhotoPlace.joins)
        WHERE photos.id = ?
        """
    package static let placeOfDirectory = """
        SELECT \(DirectoryPlace.columns), folders.filter AS folder_filter FROM directories
        JOIN folders ON folders.id = directories.folder_id
        WHERE directories.id = ?
        """
    package static let brokenObjectOfPhoto = """
        SELECT objects.id FROM photos JOIN objects ON objects.id = photos.object_id
        WHERE photos.id = ? AND objects.problem IS NOT NULL
        """

    // Queue
    /// A file that was held is no longer: whatever comes of the claim, it waits as any other.
    package static let take = """
        UPDATE photos SET state = 'uploading', attempts = attempts + 1,
            next_try_at = IIF(\(PhotoRow.held), 0, next_try_at)
        WHERE id = ?
        RETURNING \(PhotoRow.columns), photos.attempts
        """
    package static let fresh = """
        SELECT id, queued_at, size FROM photos INDEXED BY photos_queue
        WHERE folder_id = ? AND state = 'pending' AND next_try_at = 0 AND size <= ? ORDER BY queued_at, id LIMIT ?
        """
    package static let due = """
        SELECT id, next_try_at, size FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at > 0 AND next_try_at <= ? AND size <= ?
        ORDER BY next_try_at LIMIT ?
        """
    /// To be tried later than any photo ever is.
    package static let astray = """
        SELECT id, next_try_at, size FROM photos
        WHERE folder_id = ? AND state = 'pending' AND next_try_at > ? AND size <= ? ORDER BY next_try_at LIMIT ?
        """
    package static let nextTry = """
        SELECT next_try_at FROM photos
        WHERE folder_id = ? AND state = 'pending' AND size <= ? ORDER BY next_try_at LIMIT 1
        """
    package static let inHand = "SELECT \(PhotoRow.columns) FROM photos WHERE folder_id = ? AND state = 'uploading'"
    package static let rowOfPhoto = "SELECT \(PhotoRow.columns) FROM photos WHERE id = ?"

    // Objects and photos
    /// By its key, which is bound as a text or as the bytes of one.
    package static let object = "SELECT \(ObjectRecord.columns) FROM objects WHERE key = CAST(? AS TEXT)"
    package static let photo = "\(PhotoStatus.selection) WHERE photos.id = ?"
    package static let photosOfObject =
        "\(placesOfKey) AND photos.state IN ('uploaded', 'missing') ORDER BY photos.id LIMIT ?"
    package static let anyPhotosOfObject = "\(placesOfKey) ORDER BY photos.id LIMIT ?"
    private static let placesOfKey = """
        SELECT \(PhotoPlace.columns) FROM objects
        JOIN photos ON photos.object_id = objects.id
        \(PhotoPlace.joins)
        WHERE objects.key = ?
        """
    package static let brokenObject = "SELECT id FROM objects WHERE key = ? AND problem IS NOT NULL"
}
