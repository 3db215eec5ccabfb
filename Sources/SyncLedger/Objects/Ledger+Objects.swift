import FoundationEssentials
import GRDB
package import SyncCore

extension Ledger {
    /// What is known of an object; `nil` when nothing is.
    package func object(_ key: ObjectKey) throws(LedgerError) -> ObjectRecord? {
        try read("look up an object") { try $0.row(LedgerQuery.object, [key.rawValue]) }
    }
}

extension Database {
    /// Adds an object, or replaces all that was known of it.
    func store(_ object: ObjectRecord) throws -> Int64 {
        let id = try number(
            """
            INSERT INTO objects (key, size, md5, sha256, content_type, storage_class, restore_state, restored_until,
                width, height, taken_at, stored_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET size = excluded.size, md5 = excluded.md5, sha256 = excluded.sha256,
                content_type = excluded.content_type, storage_class = excluded.storage_class,
                restore_state = excluded.restore_state, restored_until = excluded.restored_until,
                width = excluded.width, height = excluded.height, taken_at = excluded.taken_at,
                stored_at = excluded.stored_at
            RETURNING id
            """, object.arguments)
        guard let id else { throw UnknownName() }
        return id
    }
}
