import GRDB
package import SyncCore

extension Ledger {
    /// A page of the photos in the pool of which no name is known, in the order of keys.
    package func namelessPhotos(
        below prefix: String, after last: ObjectKey?, limit: Int
    ) throws(LedgerError) -> [ObjectRecord] {
        let range = KeyRange(prefix: prefix, after: last)
        return try read("list photos without a name") { db in
            try db.rows(
                """
                SELECT \(ObjectRecord.columns) FROM objects
                WHERE \(KeyRange.condition) AND problem IS NULL AND \(Self.hasNoName) ORDER BY key LIMIT ?
                """, [range.from, range.to, limit])
        }
    }

    /// Those of them that are gone or damaged as before, and have no name by now.
    package func brokenAndNameless(among objects: [ObjectRecord]) throws(LedgerError) -> [ObjectRecord] {
        try read("list photos without a name") { db in
            try objects.flatMap {
                try db.rows(
                    """
                    SELECT \(ObjectRecord.columns) FROM objects
                    WHERE key = ? AND problem IS NOT NULL AND \(Self.hasNoName)
                    """, [$0.key.rawValue]) as [ObjectRecord]
            }
        }
    }

    private static let hasNoName = """
        NOT EXISTS (SELECT 1 FROM photos WHERE object_id = objects.id)
        AND NOT EXISTS (SELECT 1 FROM photo_versions WHERE object_id = objects.id)
        AND NOT EXISTS (SELECT 1 FROM events WHERE object_id = objects.id)
        """

    /// How many photos are known, and how many of them without the name that they had.
    package func rebuiltPhotos() throws(LedgerError) -> (photos: Int, recovered: Int) {
        try read("count photos") { db in
            let photos = try db.number("SELECT COUNT(*) FROM photos WHERE object_id IS NOT NULL AND state <> 'lost'")
            let recovered = try db.number(
                """
                SELECT SUM(files) FROM photo_tallies
                WHERE state <> 'lost' AND folder_id IN (SELECT id FROM folders WHERE machine = ?)
                """, [FolderOwner.recoveredName])
            return (Int(photos ?? 0), Int(recovered ?? 0))
        }
    }

    /// Whether nothing was ever stored from here.
    package func isNew() throws(LedgerError) -> Bool {
        try read("read whether anything is known") { db in
            try db.objectCount() == 0
        }
    }
}
