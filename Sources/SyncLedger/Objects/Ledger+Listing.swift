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
            try objects.withUnsafeBufferPointer { try db.compare($0, in: range, at: time, limit: limit) }
        }
    }
}

extension Ledger {
    /// Whether an object that is damaged was looked at as it is listed, and was found damaged so: nothing is new of it.
    package func knowsRuin(as info: ObjectInfo) throws(LedgerError) -> Bool {
        try read("look up how a damaged object was listed") { db in
            try db.number(
                "SELECT 1 FROM objects WHERE key = ? AND ruin = ?", [info.key.rawValue, info.listedVersion]) != nil
        }
    }

    /// Notes how objects were listed before they were looked at. Of those that are not damaged nothing is noted, and what
    /// is noted ends when something else is found wrong with one.
    package func noteRuins(as listed: [ObjectInfo]) throws(LedgerError) {
        if listed.isEmpty { return }
        try write("note how damaged objects were listed") { db in
            for info in listed {
                try db.run(
                    "UPDATE objects SET ruin = ? WHERE key = ? AND problem IS NOT NULL AND problem <> ?",
                    [info.listedVersion, info.key.rawValue, ObjectFault.missing.text])
            }
        }
    }
}

extension ObjectInfo {
    /// Another one where the object was stored anew, also with the same bytes.
    fileprivate var listedVersion: String { "\(size) \(modified?.milliseconds ?? 0) \(etag ?? "")" }
}

extension Database {
    /// - Parameter objects: are looked at where they are: each that is taken out is six texts whose holders are counted.
    fileprivate func compare(
        _ objects: UnsafeBufferPointer<ObjectInfo>, in range: KeyRange, at time: Date, limit: Int
    ) throws -> ListingComparison {
        let haveTags = objects.indices.allSatisfy { objects[$0].tag != nil }
        let query = haveTags ? LedgerQuery.listedObjects : LedgerQuery.listedObjectsAndDigests
        let statement = try cachedStatement(sql: query)
        let rows = try Row.fetchCursor(statement, arguments: [range.from, range.to])
        let columns = ListedColumns(statement: statement.sqliteStatement)
        var listing = ListingWalk(objects: objects)
        var result = ListingComparison()
        while try rows.next() != nil {
            guard let key = columns.key else { continue }
            let listed = listing.find(key)
            if let listed {
                result.known += 1
                if columns.areSame(as: listed, at: time) { continue }
            }
            guard let known = try record(ofKey: key) else { continue }
            result.differences.append((known, listed.map { $0.pointee }))
            if result.differences.count == limit {
                result.last = known.key
                break
            }
        }
        return result
    }

    /// By the bytes that the ledger has.
    private func record(ofKey key: UnsafeRawBufferPointer) throws -> ObjectRecord? {
        try row(LedgerQuery.object, [Data(key)])
    }
}

/// A listing in the order of keys, gone through once.
private struct ListingWalk {
    let objects: UnsafeBufferPointer<ObjectInfo>
    var next = 0

    /// - Parameter key: behind that of the last call.
    /// - Returns: where its object is.
    mutating func find(_ key: UnsafeRawBufferPointer) -> UnsafePointer<ObjectInfo>? {
        guard let start = objects.baseAddress else { return nil }
        while next < objects.count {
            let order = key.compare(start[next].key.rawValue)
            if order < 0 { return nil }
            next += 1
            if order == 0 { return start + next - 1 }
        }
        return nil
    }
}

/// What a listing is held against, in the row at which a statement stands. Values are compared where SQLite has them: one
/// of each would cost more than all the rest.
struct ListedColumns {
    /// All of them are in one index, from which they come in the order of keys.
    static let names = "key, size, problem, storage_class, restore_state, restored_until, etag"
    /// Of what has no ETag.
    static let digest = "CASE WHEN etag IS NULL THEN sha256 END"

    let statement: SQLiteStatement

    /// Until the statement's next step.
    var key: UnsafeRawBufferPointer? { bytes(0) }

    func areSame(as info: UnsafePointer<ObjectInfo>, at time: Date) -> Bool {
        let restore = info.pointee.restore.asOf(time)
        guard integer(1) == info.pointee.size, isNull(2), isText(3, info.pointee.storageClass.rawValue),
            isText(4, restore.name), (isNull(5) ? nil : integer(5)) == restore.until
        else { return false }
        if let tag = info.pointee.tag {
            guard let ours = bytes(6) else { return false }
            return tag.withUTF8 { ours.compare($0) == 0 }
        }
        // There is none where the ledger has an ETag.
        guard let ours = bytes(7), let theirs = info.pointee.sha256 else { return false }
        return ours.elementsEqual(theirs.bytes)
    }

    private func isText(_ column: Int32, _ text: String) -> Bool { bytes(column)?.compare(text) == 0 }

    private func isNull(_ column: Int32) -> Bool {
        CSyncSQLite_ColumnIsNull(UnsafeMutableRawPointer(statement), column)
    }

    private func integer(_ column: Int32) -> Int64 {
        CSyncSQLite_ColumnInteger(UnsafeMutableRawPointer(statement), column)
    }

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
        return text.withUTF8 { compare($0) }
    }

    fileprivate func compare(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        guard let ours = baseAddress, let theirs = text.baseAddress else { return count - text.count }
        let order = memcmp(ours, theirs, Swift.min(count, text.count))
        return order == 0 ? count - text.count : Int(order)
    }
}

extension LedgerQuery {
    /// Nothing but the index is read.
    package static let listedObjects = query(ListedColumns.names)

    /// For a listing that does not tell every ETag. For a digest, which is in no index, SQLite goes to the object's row.
    package static let listedObjectsAndDigests = query("\(ListedColumns.names), \(ListedColumns.digest)")

    private static func query(_ columns: String) -> String {
        """
        SELECT \(columns) FROM objects INDEXED BY objects_listed
        WHERE \(KeyRange.condition) ORDER BY key
        """
    }
}
