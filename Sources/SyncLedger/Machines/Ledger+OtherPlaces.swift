import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// An object that another machine names, as its catalogue tells.
package struct OtherObject: Hashable, Sendable {
    package var key: ObjectKey
    package var size: Int64
    package var md5: MD5Digest?
    package var sha256: SHA256Digest?
    package var contentType: String
    /// Its id.
    package var machine: String
    /// Of a photo of it, there.
    package var path: FilePath
}

/// What other machines' catalogues name, for as long as one looks after it: a table of the connection's own, in a temporary
/// file, so that there may be any number, and nothing is left of it. One at a time may use it. No other connection sees it.
extension Ledger {
    /// Begins with an empty table.
    package func beginOtherPlaces() throws(LedgerError) {
        try write("make room for other catalogues") { db in
            try db.execute(sql: Self.table)
            try db.execute(sql: "DELETE FROM temp.other_places")
        }
    }

    /// Gives the room back.
    package func endOtherPlaces() throws(LedgerError) {
        try write("forget other catalogues") { try $0.execute(sql: "DROP TABLE IF EXISTS temp.other_places") }
    }

    /// Notes what a path of a machine is called by, in place of what was noted of it; `nil`: nothing any more.
    /// - Parameter lives: whether the machine sees to it itself.
    package func noteOtherPlaces(
        _ places: [(path: FilePath, photo: CatalogPhoto?)], of machine: String, lives: Bool
    ) throws(LedgerError) {
        try write("note other catalogues") { db in
            for (path, photo) in places {
                guard let photo else {
                    try db.run("DELETE FROM temp.other_places WHERE machine = ? AND path = ?", [machine, path.blob])
                    continue
                }
                try db.run(
                    "INSERT OR REPLACE INTO temp.other_places VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        machine, path.blob, photo.key.rawValue, photo.size, photo.md5?.blob, photo.sha256?.blob,
                        photo.contentType, lives,
                    ])
            }
        }
    }

    /// A page of the objects below a prefix that silent machines name, and neither this ledger nor a living one, in the order
    /// of keys.
    /// - Parameters:
    ///   - last: the page begins behind it; `nil` for the first one.
    ///   - end: the last key of the page at most.
    package func silentObjects(
        below prefix: String, after last: ObjectKey?, through end: ObjectKey?, limit: Int
    ) throws(LedgerError) -> [OtherObject] {
        let range = KeyRange(prefix: prefix, after: last, through: end)
        return try onWriter("list objects of silent machines") { db in
            try db.rows(
                """
                SELECT key, size, md5, sha256, type, machine, path, MAX(sha256 IS NOT NULL)
                FROM temp.other_places AS places
                WHERE \(KeyRange.condition)
                AND NOT EXISTS (
                    SELECT 1 FROM main.objects WHERE objects.key = places.key AND NOT \(LedgerQuery.isLeftToOthers)
                )
                AND NOT EXISTS (SELECT 1 FROM temp.other_places AS own WHERE own.key = places.key AND own.lives = 1)
                GROUP BY key ORDER BY key LIMIT ?
                """, [range.from, range.to, limit])
        }
    }

    /// All that other machines say of an object: each set of bytes once.
    package func otherWords(of key: ObjectKey) throws(LedgerError) -> [OtherObject] {
        try onWriter("look up what other catalogues say") { db in
            try db.rows(
                """
                SELECT key, size, md5, sha256, type, machine, path FROM temp.other_places WHERE key = ?
                GROUP BY sha256, size ORDER BY machine, path LIMIT 100
                """, [key.rawValue])
        }
    }

    /// Those that neither this ledger nor any catalogue names.
    package func unnamed(among keys: [ObjectKey]) throws(LedgerError) -> Set<ObjectKey> {
        try onWriter("look for objects without a name") { db in
            try Set(
                keys.filter { key in
                    try db.number(
                        """
                        SELECT 1 WHERE EXISTS (
                            SELECT 1 FROM main.objects WHERE key = ?1 AND NOT \(LedgerQuery.isLeftToOthers)
                        )
                        OR EXISTS (SELECT 1 FROM temp.other_places WHERE key = ?1)
                        OR EXISTS (SELECT 1 FROM main.object_deletions WHERE key = ?1)
                        """, [key.rawValue]) == nil
                })
        }
    }

    private static let table = """
        CREATE TEMP TABLE IF NOT EXISTS other_places (
            machine TEXT NOT NULL,
            path BLOB NOT NULL,                                -- absolute, there
            key TEXT NOT NULL,
            size INTEGER NOT NULL,
            md5 BLOB,
            sha256 BLOB,
            type TEXT NOT NULL,
            lives INTEGER NOT NULL,
            PRIMARY KEY (machine, path)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS temp.other_places_by_key ON other_places (key, lives);
        """
}

extension OtherObject: FetchableRecord {
    init(row: Row) throws {
        self.init(
            key: try ObjectKey(row[0] as String), size: row[1], md5: MD5Digest(blob: row[2]),
            sha256: SHA256Digest(blob: row[3]), contentType: row[4], machine: row[5], path: FilePath(blob: row[6]))
    }
}

extension Ledger {
    /// The last day of which this machine has asked for the jobs that one machine does for all.
    package func userJobsDay() throws(LedgerError) -> CalendarDay? {
        try read("look up the last daily jobs") { db in
            try String.fetchOne(db, sql: "SELECT jobs_day FROM agent").flatMap { CalendarDay($0) }
        }
    }

    package func noteUserJobs(on day: CalendarDay) throws(LedgerError) {
        try write("note the daily jobs") { try $0.run("UPDATE agent SET jobs_day = ?", [day.description]) }
    }
}
