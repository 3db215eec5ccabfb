import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    /// All vacations of the active folders, in the order of folders and of the bytes of names, those without any photo
    /// included. No walk over photos.
    package func vacations() throws(LedgerError) -> [VacationRecord] {
        try vacations("list vacations", LedgerQuery.vacationsOfFolder)
    }

    private func vacations(_ operation: String, _ query: String) throws(LedgerError) -> [VacationRecord] {
        try read(operation) { db in
            try db.activeFolders().flatMap { try db.rows(query, [$0.id.rawValue], as: VacationRecord.self) }
        }
    }

    /// A vacation with its photos; `nil` when there is no such vacation.
    package func vacationContent(_ id: VacationID) throws(LedgerError) -> VacationContent? {
        try read("read a vacation") { db in
            guard let record = try db.row(LedgerQuery.vacation, [id.rawValue], as: VacationRecord.self) else {
                return nil
            }
            let photos = try db.rows(LedgerQuery.photosOfVacation, [id.rawValue], as: VacationPhotoRow.self)
            let set = try Data.fetchOne(db.cachedStatement(sql: LedgerQuery.vacationSet), arguments: [id.rawValue])
            return VacationContent(
                record: record, photos: photos.map { $0.photo(of: record) }, storedPhotos: MD5Digest.set(in: set))
        }
    }

    /// One of the photos that are stored of a vacation; `nil` without any.
    package func coverOfVacation(_ id: VacationID) throws(LedgerError) -> MD5Digest? {
        try read("look up a picture of a vacation") { db in
            try Data.fetchOne(db.cachedStatement(sql: LedgerQuery.vacationSet), arguments: [id.rawValue])
                .flatMap { MD5Digest(blob: $0.prefix(MD5Digest.length)) }
        }
    }

    /// All files in a vacation's folder, also those that are not to be stored, in no particular order.
    package func files(of vacation: VacationRecord) throws(LedgerError) -> [VacationPhoto] {
        try read("read the files of a vacation") { db in
            try db.rows(LedgerQuery.filesOfVacation, [vacation.id.rawValue], as: VacationPhotoRow.self)
                .map { $0.photo(of: vacation) }
        }
    }

    /// The vacation in a folder of the active ones.
    /// - Parameter folder: absolute, as the ledger calls it.
    package func vacation(in folder: FilePath) throws(LedgerError) -> VacationRecord? {
        try vacations().first { $0.folder == folder }
    }

    /// Vacations that changed since they were looked at, and of which no photo waits for its upload.
    package func vacationsToCheck() throws(LedgerError) -> [VacationRecord] {
        try vacations("look for changed vacations", LedgerQuery.changedVacations)
    }

    package func vacation(_ id: VacationID) throws(LedgerError) -> VacationRecord? {
        try read("read a vacation") { try $0.row(LedgerQuery.vacation, [id.rawValue]) }
    }

    /// The vacations of which a manifest is stored under this cache key.
    package func vacations(storedAs cacheKey: String) throws(LedgerError) -> [VacationRecord] {
        try read("look up a vacation") { try $0.rows(LedgerQuery.vacationsOfKey, [cacheKey]) }
    }

    /// The cache keys under which manifests are stored of vacations that are on the disk.
    package func storedManifests() throws(LedgerError) -> [String] {
        try read("list the manifests of vacations") { db in
            try db.texts(
                """
                SELECT cache_key FROM vacations
                WHERE cache_key IS NOT NULL AND manifest IS NOT NULL AND waiting + uploaded + failed > 0
                """)
        }
    }

    /// The cache keys under which this machine has written a manifest.
    package func ownManifests() throws(LedgerError) -> [String] {
        try read("list the manifests of vacations") { db in
            try db.texts(
                """
                SELECT cache_key FROM vacations WHERE is_own AND cache_key IS NOT NULL
                UNION SELECT cache_key FROM stale_manifests
                """)
        }
    }

    /// Notes that the store has no manifest under a cache key any more: it is written again with the next round.
    /// - Returns: how many vacations had it.
    package func noteManifestMissing(_ cacheKey: String) throws(LedgerError) -> Int {
        try write("note that a manifest is gone") { db in
            // Another digest than that of any manifest.
            try db.run(
                "UPDATE vacations SET manifest = zeroblob(32), revision = revision + 1 WHERE cache_key = ?", [cacheKey])
        }
    }

    /// Notes that nothing has to be stored of a vacation as it was at `revision`.
    /// - Parameter details: `nil` where nobody knows a date.
    package func noteChecked(_ id: VacationID, revision: Int64, details: VacationDetails?) throws(LedgerError) {
        try write("note that a vacation was checked") { try $0.noteChecked(id, revision, details) }
    }

    /// Notes that the manifest of a vacation, as it was at `revision`, is in the store. One of its own that is there
    /// under another key is to be removed (``staleManifests()``).
    /// - Parameter photos: the MD5s of all of its photos.
    package func noteStored(
        _ id: VacationID, revision: Int64, details: VacationDetails, as stored: VacationRecord.Stored,
        photos: [MD5Digest]
    ) throws(LedgerError) {
        try write("note a stored vacation") { db in
            try db.leaveManifest(of: id, unlessKey: stored.cacheKey)
            try db.noteChecked(id, revision, details)
            try db.run(
                """
                UPDATE vacations SET cache_key = ?, photo_count = ?, fingerprint = ?, manifest = ?, is_own = ?,
                    stored_at = ?, has_moved = 0, successor_id = NULL, has_forgotten = 0
                WHERE id = ?
                """,
                [
                    stored.cacheKey, stored.photoCount, stored.fingerprint.blob, stored.manifest.blob, stored.isOwn,
                    stored.at.milliseconds, id.rawValue,
                ])
            try db.run(
                """
                INSERT INTO vacation_sets (vacation_id, photos) VALUES (?, ?)
                ON CONFLICT DO UPDATE SET photos = excluded.photos
                """, [id.rawValue, Data(VacationFingerprint.material(photos))])
        }
    }

    /// Notes that all photos of a vacation's manifest went to other folders: the vacation is another one now, and its
    /// manifest is to be removed.
    package func noteMoved(_ id: VacationID, revision: Int64) throws(LedgerError) {
        try write("note a moved vacation") { db in
            try db.leaveManifest(of: id, unlessKey: nil)
            try db.run(
                """
                UPDATE vacations SET looked_revision = ?, has_moved = 1, has_forgotten = 0, cache_key = NULL, photo_count = NULL,
                    fingerprint = NULL, manifest = NULL, is_own = 0, stored_at = NULL
                WHERE id = ?
                """, [revision, id.rawValue])
            try db.run("DELETE FROM vacation_sets WHERE vacation_id = ?", [id.rawValue])
        }
    }

    /// Forgets a vacation of which neither a photo nor a manifest is known any more.
    package func forgetEmptyVacation(_ id: VacationID) throws(LedgerError) {
        try write(
            "forget a vacation",
            """
            DELETE FROM vacations WHERE id = ?1 AND cache_key IS NULL
            AND waiting + uploaded + failed + missing = 0
            AND NOT EXISTS (SELECT 1 FROM directories WHERE vacation_id = ?1)
            """, [id.rawValue])
    }
}

extension Database {
    fileprivate func noteChecked(_ id: VacationID, _ revision: Int64, _ details: VacationDetails?) throws {
        try run(
            """
            UPDATE vacations SET looked_revision = ?, location = ?, start_date = ?, end_date = ?, shared_by = ?,
                has_forgotten = 0
            WHERE id = ?
            """,
            [
                revision, details?.location, details?.startDate.description, details?.endDate.description,
                details?.sharedBy, id.rawValue,
            ])
    }

    fileprivate func leaveManifest(of id: VacationID, unlessKey key: String?) throws {
        try run(
            """
            INSERT INTO stale_manifests (cache_key, digest, vacation_id)
            SELECT cache_key, manifest, id FROM vacations
            WHERE id = ?1 AND is_own AND cache_key IS NOT NULL AND cache_key IS NOT ?2
            ON CONFLICT DO UPDATE SET digest = excluded.digest, vacation_id = excluded.vacation_id
            """, [id.rawValue, key])
    }
}

extension MD5Digest {
    /// - Parameter material: as ``VacationFingerprint/material(_:)`` makes it.
    static func set(in material: Data?) -> Set<MD5Digest> {
        let bytes = [UInt8](material ?? Data())
        return Set(
            stride(from: 0, to: bytes.count, by: length).compactMap { start in
                MD5Digest(bytes: Array(bytes[start..<min(start + length, bytes.count)]))
            })
    }
}

extension Ledger {
    /// Vacations whose counts differ from their photos, for ``check()``.
    static let vacationAudit = """
        SELECT state || ' photos of vacation ' || vacation, SUM(files), 0, SUM(rows), 0 FROM (
            SELECT id AS vacation, 'waiting' AS state, waiting AS files, 0 AS rows FROM vacations
            UNION ALL SELECT id, 'uploaded', uploaded, 0 FROM vacations
            UNION ALL SELECT id, 'failed', failed, 0 FROM vacations
            UNION ALL SELECT id, 'missing', missing, 0 FROM vacations
            UNION ALL
            SELECT directories.vacation_id,
                CASE WHEN state IN ('pending', 'uploading') THEN 'waiting' WHEN state = 'lost' THEN 'missing' ELSE state END,
                0, COUNT(*)
            FROM directories CROSS JOIN photos ON photos.directory_id = directories.id
            WHERE directories.vacation_id IS NOT NULL AND photos.state <> 'skipped'
            AND photos.name <> CAST('vacation.json' AS BLOB) AND NOT photos.is_sidecar
            GROUP BY 1, 2
        ) GROUP BY vacation, state HAVING SUM(files) <> SUM(rows)
        """
}

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
        digest = try SHA256Digest(blob: row[1]).known()
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
        try write(
            "note a manifest", isDurable: true,
            """
            INSERT INTO stale_manifests (cache_key, digest, vacation_id) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET digest = excluded.digest, vacation_id = excluded.vacation_id
            """, [manifest.cacheKey, manifest.digest.blob, vacation.rawValue])
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
        try write("note a removed manifest", "DELETE FROM stale_manifests WHERE cache_key = ?", [manifest.cacheKey])
    }
}

extension LedgerQuery {
    package static let vacationsOfFolder = "\(vacations) WHERE vacations.folder_id = ? ORDER BY vacations.name"
    package static let vacation = "\(vacations) WHERE vacations.id = ?"
    package static let vacationsOfKey = "\(vacations) WHERE vacations.cache_key = ?"
    package static let changedVacations = """
        SELECT \(VacationRecord.columns) FROM vacations INDEXED BY vacations_changed
        JOIN folders ON folders.id = vacations.folder_id
        WHERE vacations.folder_id = ? AND vacations.revision <> vacations.looked_revision AND vacations.waiting = 0
        """
    package static let photosOfVacation = """
        \(filesOfVacation) AND photos.state <> 'skipped'
        AND photos.name <> CAST('vacation.json' AS BLOB) AND NOT photos.is_sidecar
        """
    /// Also what is not to be stored.
    package static let filesOfVacation = """
        SELECT \(VacationPhotoRow.columns) FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        LEFT JOIN objects ON objects.id = photos.object_id
        WHERE directories.vacation_id = ?
        """
    package static let manifestsWritten = """
        SELECT digest FROM stale_manifests WHERE cache_key = ?
        UNION ALL SELECT manifest FROM vacations WHERE cache_key = ? AND is_own
        """
    package static let vacationSet = "SELECT photos FROM vacation_sets WHERE vacation_id = ?"
    private static let vacations =
        "SELECT \(VacationRecord.columns) FROM vacations JOIN folders ON folders.id = vacations.folder_id"
}
