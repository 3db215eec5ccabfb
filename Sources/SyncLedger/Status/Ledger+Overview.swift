package import FoundationEssentials
import GRDB
import SyncCore

extension Ledger {
    /// Where everything stands, at one moment. Its cost is that of a few seeks for each folder, however many photos
    /// there are.
    package func overview() throws(LedgerError) -> Overview {
        try read("read the overview") { db in
            let folders = try db.activeFolders().map { record in
                try Overview.Folder(
                    record: record, tallies: db.tallies(of: record.id),
                    mounts: db.rows(FolderMount.ofFolder, [record.id.rawValue]))
            }
            let tiers = try Row.fetchAll(db.cachedStatement(sql: LedgerQuery.objectTallies)).map { row in
                Overview.Tier(storageClass: StorageClass(rawValue: row[0]), objects: row[1], bytes: row[2])
            }
            let agent = try Row.fetchOne(
                db, sql: "SELECT last_sync_at, store_error, store_checked_at, store_failing_since FROM agent")
            let checkedAt = (agent?[2] as Int64?).map(Date.init(milliseconds:))
            let restores = try db.restoreCounts()
            var overview = try Overview(
                folders: folders, tiers: tiers, oldestUnsynced: db.oldestUnsynced(in: folders.map(\.record.id)),
                lastSyncAt: (agent?[0] as Int64?).map(Date.init(milliseconds:)),
                store: checkedAt.map {
                    Overview.StoreNote(
                        error: agent?[1], at: $0, since: (agent?[3] as Int64?).map(Date.init(milliseconds:)))
                },
                restores: Overview.Restores(
                    inProgress: restores.reduce(0) { $0 + ($1.key.isOpen ? $1.value : 0) },
                    ready: restores[.restored] ?? 0, failed: restores[.failed] ?? 0))
            overview.brokenTiers = try db.brokenTiers()
            if !overview.brokenTiers.isEmpty {
                overview.lostBesidePhotos = try db.rows(
                    LedgerQuery.lostBesidePhotos, ["", Int.max], as: ObjectRecord.self
                ).count
            }
            return overview
        }
    }

    /// Notes that a whole pass over all folders ended.
    package func noteSync(at time: Date) throws(LedgerError) {
        try write("note a sync") { db in
            try db.run("UPDATE agent SET last_sync_at = ?", [time.milliseconds])
            return
        }
    }

    /// Notes what the store answered last. An outage begins with its first failure, and ends with a good answer.
    /// - Parameter error: `nil` when it was well.
    package func noteStore(error: String?, at time: Date) throws(LedgerError) {
        try write("note the state of the store") { db in
            try db.run(
                """
                UPDATE agent SET store_error = ?1, store_checked_at = ?2,
                    store_failing_since = CASE WHEN ?1 IS NOT NULL THEN COALESCE(store_failing_since, ?2) END
                """, [error, time.milliseconds])
            return
        }
    }
}

extension Database {
    /// Its cost is that of what is broken.
    fileprivate func brokenTiers() throws -> [Overview.Tier] {
        let rows = try Row.fetchAll(cachedStatement(sql: LedgerQuery.brokenStock))
        var sums: [String: (objects: Int, bytes: Int64)] = [:]
        for row in rows {
            sums[row[0], default: (0, 0)].objects += 1
            sums[row[0], default: (0, 0)].bytes += row[1]
        }
        return sums.map { name, sum in
            Overview.Tier(storageClass: .init(rawValue: name), objects: sum.objects, bytes: sum.bytes)
        }
    }

    fileprivate func tallies(of folder: FolderID) throws -> PhotoTallies {
        let rows = try Row.fetchAll(cachedStatement(sql: LedgerQuery.photoTallies), arguments: [folder.rawValue])
        return rows.reduce(into: PhotoTallies()) { tallies, row in
            if let state = PhotoState(rawValue: row[0]) { tallies[state] = Tally(files: row[1], bytes: row[2]) }
        }
    }

    fileprivate func oldestUnsynced(in folders: [FolderID]) throws -> Overview.Unsynced? {
        let queries = [LedgerQuery.oldestPending, LedgerQuery.oldestUploading, LedgerQuery.oldestFailed]
        let candidates = try folders.flatMap { folder in
            try queries.compactMap { try Row.fetchOne(cachedStatement(sql: $0), arguments: [folder.rawValue]) }
        }
        guard let oldest = candidates.min(by: { ($0[1] as Int64) < ($1[1] as Int64) }),
            let photo = try row(LedgerQuery.photo, [oldest[0] as Int64], as: PhotoStatus.self)
        else { return nil }
        return Overview.Unsynced(
            path: photo.path, since: photo.queuedAt, state: photo.state, why: photo.why ?? "its state is unknown")
    }
}
