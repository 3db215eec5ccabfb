import FoundationEssentials
import GRDB
package import SyncCore

/// An object of a share, as it was put into the store.
package struct ShareObject: Hashable, Sendable {
    package var key: ObjectKey
    package var sha256: SHA256Digest
    /// `nil` where the store gives none.
    package var etag: String?

    package init(key: ObjectKey, sha256: SHA256Digest, etag: String?) {
        self.key = key
        self.sha256 = sha256
        self.etag = etag
    }
}

extension Ledger {
    /// What was put into the store for a share, as far as it is known: nothing of what an earlier version has put, or another
    /// machine.
    package func shareObjects(_ id: ShareID) throws(LedgerError) -> [ObjectKey: ShareObject] {
        try read("list the objects of a share") { db in
            let objects: [ShareObject] = try db.rows(
                """
                SELECT key, sha256, etag FROM share_objects WHERE share = (SELECT number FROM shares WHERE id = ?)
                """, [id.description])
            return objects.reduce(into: [:]) { $0[$1.key] = $1 }
        }
    }

    /// Notes what was put, whoever has the share in hand: it is what the store has.
    package func noteShareObjects(_ objects: [ShareObject], of id: ShareID) throws(LedgerError) {
        try write("note what was put for a share") { db in
            for object in objects {
                try db.run(
                    """
                    INSERT OR REPLACE INTO share_objects (share, key, sha256, etag)
                    SELECT number, ?, ?, ? FROM shares WHERE id = ?
                    """, [object.key.rawValue, object.sha256.blob, object.etag, id.description])
            }
        }
    }
}

extension ShareObject: FetchableRecord {
    init(row: Row) throws {
        guard let sha256 = SHA256Digest(blob: row[1]) else { throw UnknownName() }
        self.init(key: try ObjectKey(row[0] as String), sha256: sha256, etag: row[2])
    }
}
