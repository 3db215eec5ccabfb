package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// Where everything stands, from aggregates.
package struct Overview: Hashable, Sendable {
    package struct Folder: Hashable, Sendable {
        package var record: FolderRecord
        package var tallies: PhotoTallies
        /// What is, or was, mounted below it.
        package var mounts: [FolderMount] = []
    }

    /// The photo that has waited longest without being safe.
    package struct Unsynced: Hashable, Sendable {
        /// Absolute.
        package var path: FilePath
        /// When the file, as it is now, was first seen.
        package var since: Date
        package var state: PhotoState
        /// In plain words: the last error, or what it waits for.
        package var why: String
    }

    /// What the store answered last.
    package struct StoreNote: Hashable, Sendable {
        /// `nil` when it was well.
        package var error: String?
        package var at: Date
        /// When the first of the failures came that were not followed by a good answer; `nil` when it was well.
        package var since: Date?
    }

    /// Items of all restore jobs.
    package struct Restores: Hashable, Sendable {
        /// Planned or asked for.
        package var inProgress = 0
        /// Can be read.
        package var ready = 0
        /// Ever.
        package var failed = 0
    }

    /// The active folders, in the order of the configuration.
    package var folders: [Folder]
    /// Of all objects, also those that are known to be gone or damaged.
    package var tiers: [ClassLoad]
    /// Of those that are.
    package var brokenTiers: [ClassLoad] = []
    /// How many of those are left to other machines, which tell what is wrong with them.
    package var leftToOthers = 0
    /// How many of them are of photos, or of what ``lostBesidePhotos`` counts, of which nothing is left.
    package var brokenOfLost = 0
    /// Copies that are gone or damaged, and are made anew from their originals.
    package var copiesToMakeAnew = 0
    /// Archived photos of events, and earlier images of projects, of which nothing is left.
    package var lostBesidePhotos = 0
    /// Photos of which nothing is left, in folders that are no longer watched.
    package var lostUnwatched = 0
    /// Likewise, of other machines, since a rebuild.
    package var lostOfOthers = 0
    package var oldestUnsynced: Unsynced?
    /// Since when the photo is there that waits longest, and of which nobody says that it cannot be stored.
    package var oldestWaiting: Date?
    package var lastSyncAt: Date?
    /// `nil` when it was never asked.
    package var store: StoreNote?
    package var restores = Restores()

    /// Of all active folders.
    package var totals: PhotoTallies { folders.reduce(PhotoTallies()) { $0 + $1.tallies } }
    /// What is stored: without what is gone or damaged.
    package var storedTiers: [ClassLoad] {
        tiers.map { tier in
            guard let broken = brokenTiers.first(where: { $0.storageClass == tier.storageClass }) else { return tier }
            return ClassLoad(
                storageClass: tier.storageClass, objects: tier.objects - broken.objects,
                bytes: tier.bytes - broken.bytes)
        }
    }
    /// Objects that are gone or damaged, without those that are left to other machines.
    package var broken: Int { brokenTiers.reduce(0) { $0 + $1.objects } - leftToOthers }
    /// Of those, what counts as nothing lost: an original, or what was stored of an earlier content.
    package var brokenBesideLost: Int { max(broken - brokenOfLost, 0) }
    package var bytesStored: Int64 { storedTiers.reduce(0) { $0 + $1.bytes } }
    package var lost: Int { lostHere + lostOfOthers }
    /// Without what other machines count themselves.
    package var lostHere: Int { totals[.lost].files + lostUnwatched + lostBesidePhotos }
}

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
            let tiers = try db.rawRows(LedgerQuery.objectTallies).map { row in
                ClassLoad(storageClass: StorageClass(rawValue: row[0]), objects: row[1], bytes: row[2])
            }
            let agent = try db.rawRow(
                "SELECT last_sync_at, store_error, store_checked_at, store_failing_since FROM agent")
            let restores = try db.restoreCounts()
            var overview = try Overview(
                folders: folders, tiers: tiers, oldestUnsynced: db.oldestUnsynced(in: folders.map(\.record.id)),
                lastSyncAt: agent?.time(0),
                store: agent?.time(2).map { Overview.StoreNote(error: agent?[1], at: $0, since: agent?.time(3)) },
                restores: Overview.Restores(
                    inProgress: restores.reduce(0) { $0 + ($1.key.isOpen ? $1.value : 0) },
                    ready: restores[.restored] ?? 0, failed: restores[.failed] ?? 0))
            overview.oldestWaiting = try db.oldestWaiting(in: folders.map(\.record.id))
            overview.brokenTiers = try db.brokenTiers()
            if !overview.brokenTiers.isEmpty {
                overview.leftToOthers = try db.leftToOthers().count
                overview.lostBesidePhotos = try db.rows(
                    LedgerQuery.lostBesidePhotos, ["", Int.max], as: ObjectRecord.self
                ).count
                overview.brokenOfLost = try db.total(LedgerQuery.brokenOfLost)
                overview.copiesToMakeAnew = try db.copiesToMakeAnew().count
                overview.lostUnwatched = try db.lost(in: "active = 0 AND machine IS NULL")
                overview.lostOfOthers = try db.lost(in: "active = 0 AND machine IS NOT NULL")
            }
            return overview
        }
    }

    /// Notes that a whole pass over all folders ended.
    package func noteSync(at time: Date) throws(LedgerError) {
        try write("note a sync") { try $0.run("UPDATE agent SET last_sync_at = ?", [time.milliseconds]) }
    }

    /// Notes what the store answered last. An outage begins with its first failure, and ends with a good answer.
    /// - Parameters:
    ///   - error: `nil` when it was well.
    ///   - reason: what the error is counted under.
    ///   - isRefusal: whether the store answers well, and takes no photos. Such an error outlasts good answers: see
    ///     ``noteStoreAnswer(at:)``.
    ///   - since: when it began, where that was before.
    package func noteStore(
        error: String?, reason: StoreError.Code? = nil, isRefusal: Bool = false, at time: Date, since: Date? = nil
    ) throws(LedgerError) {
        let refuses = error != nil && isRefusal
        try write("note the state of the store") { db in
            if let reason { try db.count(.errors, reason.rawValue) }
            try db.run(
                """
                UPDATE agent SET store_error = ?1, store_checked_at = ?2,
                    store_failing_since = CASE WHEN ?1 IS NOT NULL THEN COALESCE(store_failing_since, ?3) END,
                    store_refuses = ?4
                """, [error, time.milliseconds, (since ?? time).milliseconds, refuses])
        }
    }

    /// Notes that a store that could not be used answers well. That ends an outage, whatever photos wait for. Of a
    /// store that has refused photos it is the end only where none waits: one with a full disk answers well, too, and
    /// what is noted of it stays until it has taken a photo.
    /// - Returns: whether nothing is noted against the store any more.
    @discardableResult
    package func noteStoreAnswer(at time: Date) throws(LedgerError) -> Bool {
        try write("note the state of the store") { db in
            try db.run("UPDATE agent SET store_checked_at = ?", [time.milliseconds])
            if try db.isStoreRefusing() {
                let totals = try db.activeFolders().map { try db.tallies(of: $0.id) }.reduce(PhotoTallies(), +)
                if totals.waiting > 0 { return false }
            }
            try db.run("UPDATE agent SET store_error = NULL, store_failing_since = NULL, store_refuses = 0")
            return true
        }
    }

    /// Whether it is noted that the store takes no photos although it answers, and no end of it.
    package func isStoreRefusing() throws(LedgerError) -> Bool {
        try read("read the state of the store") { try $0.isStoreRefusing() }
    }
}

extension Database {
    fileprivate func isStoreRefusing() throws -> Bool {
        try total("SELECT COUNT(*) FROM agent WHERE store_refuses = 1") > 0
    }

    /// Its cost is that of what is broken.
    fileprivate func brokenTiers() throws -> [ClassLoad] {
        var sums: [String: (objects: Int, bytes: Int64)] = [:]
        for row in try rawRows(LedgerQuery.brokenStock) {
            sums[row[0], default: (0, 0)].objects += 1
            sums[row[0], default: (0, 0)].bytes += row[1]
        }
        return sums.map { name, sum in
            ClassLoad(storageClass: .init(rawValue: name), objects: sum.objects, bytes: sum.bytes)
        }
    }

    fileprivate func tallies(of folder: FolderID) throws -> PhotoTallies {
        let rows = try rawRows(LedgerQuery.photoTallies, [folder.rawValue])
        return rows.reduce(into: PhotoTallies()) { tallies, row in
            if let state = PhotoState(rawValue: row[0]) { tallies[state] = Tally(files: row[1], bytes: row[2]) }
        }
    }

    /// - Parameter folders: a condition.
    fileprivate func lost(in folders: String) throws -> Int {
        try numbers("SELECT id FROM folders WHERE \(folders)").reduce(0) {
            try $0 + tallies(of: FolderID(rawValue: $1))[.lost].files
        }
    }

    fileprivate func oldestWaiting(in folders: [FolderID]) throws -> Date? {
        try folders.flatMap { folder in
            try [LedgerQuery.oldestPending, LedgerQuery.oldestUploading].compactMap {
                try rawRow($0, [folder.rawValue])?[1] as Int64?
            }
        }.min().map(Date.init(milliseconds:))
    }

    fileprivate func oldestUnsynced(in folders: [FolderID]) throws -> Overview.Unsynced? {
        let queries = [LedgerQuery.oldestPending, LedgerQuery.oldestUploading, LedgerQuery.oldestFailed]
        let candidates = try folders.flatMap { folder in
            try queries.compactMap { try rawRow($0, [folder.rawValue]) }
        }
        guard let oldest = candidates.min(by: { ($0[1] as Int64) < ($1[1] as Int64) }),
            let photo = try row(LedgerQuery.photo, [oldest[0] as Int64], as: PhotoStatus.self)
        else { return nil }
        return Overview.Unsynced(
            path: photo.path, since: photo.queuedAt, state: photo.state, why: photo.why ?? "its state is unknown")
    }
}

extension LedgerQuery {
    package static let photoTallies = "SELECT state, files, bytes FROM photo_tallies WHERE folder_id = ?"
    package static let objectTallies =
        "SELECT storage_class, objects, bytes FROM object_tallies WHERE objects > 0 ORDER BY storage_class"
    package static let oldestPending = oldest(in: "pending")
    package static let oldestUploading = oldest(in: "uploading")
    package static let oldestFailed = oldest(in: "failed")
    private static func oldest(in state: String) -> String {
        "SELECT id, queued_at FROM photos WHERE folder_id = ? AND state = '\(state)' ORDER BY queued_at LIMIT 1"
    }
}
