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

    // By GRDB's cursor of rows, and not by those of records: for each type of those, Swift would look once through all
    // conformances of the program, which takes 0.1 ms (swift_conformsToProtocol).

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
        try String.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }

    func numbers(_ sql: String, _ arguments: StatementArguments = []) throws -> [Int64] {
        try Int64.fetchAll(cachedStatement(sql: sql), arguments: arguments)
    }
}
