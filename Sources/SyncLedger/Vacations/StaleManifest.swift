import FoundationEssentials
import GRDB
package import SyncCore

/// A manifest that this machine has written, or is about to, and that no vacation is known to be stored as.
package struct StaleManifest: Hashable, Sendable {
    package let cacheKey: String
    /// Of its bytes. When there are others under the key, another machine has written them.
    package let digest: SHA256Digest

    package init(cacheKey: String, digest: SHA256Digest) {
        self.cacheKey = cacheKey
        self.digest = digest
    }
}

extension StaleManifest: FetchableRecord {
    init(row: Row) throws {
        cacheKey = row[0]
        guard let digest = SHA256Digest(blob: row[1]) else { throw UnknownName() }
        self.digest = digest
    }
}

extension Ledger {
    /// Manifests to be removed from the store. Those that are in use again are left out, and forgotten; those of vacations
    /// that changed since are left out: they may be in use after the next look.
    package func staleManifests() throws(LedgerError) -> [StaleManifest] {
        let operation = "list old manifests of vacations"
        let isClean = try read(operation) { try $0.number("SELECT COUNT(*) FROM stale_manifests") == 0 }
        if isClean { return [] }
        return try write(operation) { db in
            try db.run(
                "DELETE FROM stale_manifests WHERE cache_key IN (SELECT cache_key FROM vacations WHERE cache_key NOT NULL)"
            )
            return try db.rows(
                """
                SELECT cache_key, digest FROM stale_manifests
                WHERE vacation_id NOT IN (SELECT id FROM vacations WHERE revision <> looked_revision)
                ORDER BY cache_key
                """)
        }
    }

    /// Notes that a manifest is about to be put. Unless ``noteStored(_:revision:details:as:photos:)`` follows, it is stale.
    package func noteWriting(_ manifest: StaleManifest, of vacation: VacationID) throws(LedgerError) {
        try write("note a manifest", isDurable: true) { db in
            try db.run(
                """
                INSERT INTO stale_manifests (cache_key, digest, vacation_id) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET digest = excluded.digest, vacation_id = excluded.vacation_id
                """, [manifest.cacheKey, manifest.digest.blob, vacation.rawValue])
            return
        }
    }

    /// SHA-256 of manifests that this machine has put under a cache key, as far as they are remembered.
    package func manifestsWritten(as cacheKey: String) throws(LedgerError) -> Set<SHA256Digest> {
        try read("look up manifests") { db in
            let blobs = try Data.fetchAll(
                db.cachedStatement(sql: LedgerQuery.manifestsWritten), arguments: [cacheKey, cacheKey])
            return Set(blobs.compactMap { SHA256Digest(blob: $0) })
        }
    }

    package func forget(_ manifest: StaleManifest) throws(LedgerError) {
        try write("note a removed manifest") { db in
            try db.run("DELETE FROM stale_manifests WHERE cache_key = ?", [manifest.cacheKey])
            return
        }
    }
}
