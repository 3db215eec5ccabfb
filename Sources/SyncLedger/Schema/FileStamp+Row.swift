import GRDB
import SyncCore

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
