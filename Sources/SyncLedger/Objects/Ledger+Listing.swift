import CSyncSQLite
package import FoundationEssentials
import GRDB
import Glibc
package import SyncCore

/// What a part of a listing says otherwise than the ledger.
package struct ListingComparison: Sendable {
    /// What is known otherwise than it is listed, and what is not listed: in the order of keys.
    package fileprivate(set) var differences: [(known: ObjectRecord, listed: ObjectInfo?)] = []
    /// How many of the listed objects are known.
    package fileprivate(set) var known = 0
    /// Where the next part begins; `nil` when the comparison is at its end.
    package fileprivate(set) var last: ObjectKey?
}

extension Ledger {
    /// Holds what is known of a range of keys against a listing of it, until so many differences were found.
    ///
    /// Nothing differs where size, class, restore and ETag are the same and nothing is known to be wrong; where neither
    /// side has an ETag, the SHA-256 stands for it. Such an object costs a step of one query: of a thousand that a page
    /// lists, most are as they were yesterday.
    /// - Parameters:
    ///   - objects: in the order of keys. Of two with one key the first one counts.
    ///   - last: the range begins behind it; `nil` for the first key below the prefix.
    ///   - end: the last key of the range; `nil` for the last one below the prefix.
    ///   - time: when the listing was asked for.
    package func compare(
        _ objects: [ObjectInfo], below prefix: String, after last: ObjectKey?, through end: ObjectKey?, at time: Date,
        limit: Int
    ) throws(LedgerError) -> ListingComparison {
        let range = KeyRange(prefix: prefix, after: last, through: end)
        return try read("hold objects against a listing") { db in
            let statement = try db.cachedStatement(sql: LedgerQuery.listedObjects)
            let rows = try Row.fetchCursor(statement, arguments: [range.from, range.to])
            var listing = ListingWalk(objects: objects)
            var result = ListingComparison()
            while let row = try rows.next() {
                let columns = ListedColumns(row: row, statement: statement.sqliteStatement)
                let place = columns.key.flatMap { listing.find($0) }
                if let place {
                    result.known += 1
                    if columns.areSame(as: objects[place], at: time) { continue }
                }
                guard let known = try db.record(ofObject: columns.id) else { continue }
                result.differences.append((known, place.map { objects[$0] }))
                if result.differences.count == limit {
                    result.last = known.key
                    break
                }
            }
            return result
        }
    }
}

/// A listing in the order of keys, gone through once.
private struct ListingWalk {
    let objects: [ObjectInfo]
    var next = 0

    /// - Parameter key: behind that of the last call.
    /// - Returns: the index of its object.
    mutating func find(_ key: UnsafeRawBufferPointer) -> Int? {
        while next < objects.count {
            let order = key.compare(objects[next].key.rawValue)
            if order <= 0 { return order == 0 ? next : nil }
            next += 1
        }
        return nil
    }
}

/// What a listing is held against, in the row at which a statement stands. Texts are compared where SQLite has them: a
/// value of each would cost more than all the rest.
struct ListedColumns {
    static let names = """
        id, key, size, problem IS NULL, storage_class, restore_state, restored_until, etag, \
        CASE WHEN etag IS NULL THEN sha256 END
        """

    let row: Row
    let statement: SQLiteStatement

    var id: Int64 { row[0] }
    var key: UnsafeRawBufferPointer? { bytes(1) }

    func areSame(as info: ObjectInfo, at time: Date) -> Bool {
        let restore = info.restore.standing(at: time)
        guard row[2] as Int64 == info.size, row[3] as Bool, isText(4, info.storageClass.rawValue),
            isText(5, restore.name), (row[6] as Int64?) == restore.until
        else { return false }
        if let etag = info.etag { return isText(7, etag) }
        // There is none where the ledger has an ETag.
        guard let ours = bytes(8), let theirs = info.sha256 else { return false }
        return ours.elementsEqual(theirs.bytes)
    }

    private func isText(_ column: Int32, _ text: String) -> Bool { bytes(column)?.compare(text) == 0 }

    /// Until the statement's next step.
    private func bytes(_ column: Int32) -> UnsafeRawBufferPointer? {
        var count: Int32 = 0
        let start = CSyncSQLite_ColumnBytes(UnsafeMutableRawPointer(statement), column, &count)
        return start.map { UnsafeRawBufferPointer(start: $0, count: Int(count)) }
    }
}

extension UnsafeRawBufferPointer {
    /// As SQLite orders texts, by their bytes: below 0 where this one comes first.
    fileprivate func compare(_ text: String) -> Int {
        var text = text
        return text.withUTF8 { text in
            guard let ours = baseAddress, let theirs = text.baseAddress else { return count - text.count }
            let order = memcmp(ours, theirs, Swift.min(count, text.count))
            return order == 0 ? count - text.count : Int(order)
        }
    }
}

extension LedgerQuery {
    /// All but the SHA-256 is in the index: SQLite goes to a row for that alone, where it is asked for.
    package static let listedObjects = """
        SELECT \(ListedColumns.names) FROM objects INDEXED BY objects_listed
        WHERE \(KeyRange.condition) ORDER BY key
        """
}
