package import FoundationEssentials
import GRDB
package import SyncCore
import SystemPackage

extension Ledger {
    /// Makes a restore job, all its items planned. A key is in one open item at a time, of whatever job and process: items
    /// whose key is in another are left out.
    /// - Parameter reservation: its number and its file, which is in its folder: the job knows the folder from its beginning.
    /// - Returns: the job, `nil` when nothing is left of it, and the keys that were left out. The reservation stands then.
    /// - Throws: ``LedgerError``, also when the reservation was given up: its file may be gone, and there is no job without.
    package func addRestoreJob(
        _ draft: RestoreJobDraft, as reservation: RestoreReservation? = nil, at time: Date
    ) throws(LedgerError) -> (job: RestoreJob?, collided: [ObjectKey]) {
        let operation = "make a restore job"
        return try write(operation, isDurable: true) { db in
            var job: RestoreJob?
            var collided: [ObjectKey] = []
            try db.inSavepoint {
                let reserved = try reservation.map { reservation throws -> ReservedPlace in
                    if let place = try db.takePlace(of: reservation) { return place }
                    throw LedgerError(
                        code: .failed, operation: operation, path: path,
                        message: "the number that was taken for it was given up meanwhile; ask again")
                }
                let id = try db.insert(draft, as: reserved, at: time)
                for item in draft.items {
                    guard try db.insert(item, of: id) else {
                        collided.append(item.key)
                        continue
                    }
                    if let outcome = item.outcome { try db.settle(outcome, of: db.lastInsertedRowID, at: time) }
                }
                if collided.count == draft.items.count { return .rollback }
                job = try db.row(LedgerQuery.job, [id.rawValue])
                return .commit
            }
            return (job, collided)
        }
    }

    package func restoreJob(_ id: RestoreJobID) throws(LedgerError) -> RestoreJobSummary? {
        try read("look up a restore job") { db in
            try db.row(LedgerQuery.job, [id.rawValue], as: RestoreJob.self).map(db.summary)
        }
    }

    /// The newest first.
    /// - Parameter next: the last one of the page before; `nil` for the first page.
    package func restoreJobs(before next: RestoreJobID? = nil, limit: Int) throws(LedgerError) -> [RestoreJobSummary] {
        try read("list restore jobs") { db in
            try db.rows(LedgerQuery.newestJobs, [next?.rawValue ?? .max, limit], as: RestoreJob.self).map(db.summary)
        }
    }

    /// Those of which something is still to come, the oldest first. It costs a walk over their open items.
    package func openRestoreJobs() throws(LedgerError) -> [OpenRestoreJob] {
        try read("list open restore jobs") { db in
            let groups = try db.rows(OpenRestoreGroup.selection, as: OpenRestoreGroup.self)
            return groups.chunked(by: \.job).compactMap(OpenRestoreJob.init)
        }
    }

    /// Those of which people may have to be told something yet, their end or that of their copies; the oldest first.
    package func untoldRestoreJobs() throws(LedgerError) -> [RestoreJobSummary] {
        try read("list restore jobs to tell of") { db in
            try db.rows(
                """
                SELECT \(RestoreJob.columns) FROM restore_jobs WHERE announced = 0 OR expiry_announced = 0
                AND id IN (SELECT job_id FROM restore_items WHERE state = 'restored') ORDER BY id
                """, [], as: RestoreJob.self
            ).map(db.summary)
        }
    }

    /// Notes what happened to a job as a whole.
    /// - Parameters:
    ///   - finishedAt: `nil` leaves it as it is, and so do the others.
    /// - Returns: whether it was noted; not when somebody else has announced it already.
    @discardableResult
    package func noteJob(
        _ id: RestoreJobID, finishedAt: Date? = nil, announced: Bool? = nil, expiryAnnounced: Bool? = nil
    ) throws(LedgerError) -> Bool {
        try write(
            "note how a restore job stands",
            """
            UPDATE restore_jobs SET finished_at = COALESCE(?1, finished_at), announced = COALESCE(?2, announced),
                expiry_announced = COALESCE(?3, expiry_announced)
            WHERE id = ?4 AND (?2 IS NULL OR announced <> ?2) AND (?3 IS NULL OR expiry_announced <> ?3)
            """, [finishedAt?.milliseconds, announced, expiryAnnounced, id.rawValue]) > 0
    }

    /// Notes that the store was asked how far a job's items are.
    package func noteLook(at id: RestoreJobID, _ time: Date) throws(LedgerError) {
        try write(
            "note a look at a restore job", "UPDATE restore_jobs SET looked_at = ?, looks = looks + 1 WHERE id = ?",
            [time.milliseconds, id.rawValue])
    }
}

/// What a job is made of that was reserved.
private struct ReservedPlace: FetchableRecord {
    let job: Int64
    let mark: String
    let folder: Data
    /// As many as were made in the end.
    var madeFolders = 0

    init(row: Row) {
        (job, mark, folder) = (row[0], row[1], row[2])
    }
}

extension Database {
    /// Takes what was reserved for a job, which is made now.
    /// - Returns: `nil` when it was given up.
    fileprivate func takePlace(of reservation: RestoreReservation) throws -> ReservedPlace? {
        let job = reservation.job
        let row = try row(
            "SELECT id, mark, folder FROM restore_reservations WHERE id = ?", [job.rawValue], as: ReservedPlace.self)
        // The number may have been given up, and taken by another.
        guard var place = row, job.mark(place.mark) == reservation.mark else { return nil }
        place.madeFolders = reservation.madeFolders
        try run("DELETE FROM restore_reservations WHERE id = ?", [job.rawValue])
        return place
    }

    /// - Parameter reserved: what was taken for it; `nil` for the next number, and a file that is not there yet.
    fileprivate func insert(
        _ draft: RestoreJobDraft, as reserved: ReservedPlace?, at time: Date
    ) throws -> RestoreJobID {
        try run(
            """
            INSERT INTO restore_jobs (id, requested_at, requested_by, tier, is_rush, days, output, estimated_cost_usd,
                estimated_hours, mark, marked_in, made_folders)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, COALESCE(?, lower(hex(randomblob(8)))), ?, ?)
            """,
            [
                reserved?.job, time.milliseconds, draft.requestedBy, draft.tier.rawValue, draft.isRush, draft.days,
                draft.output?.blob, draft.estimatedCostUSD, draft.estimatedHours, reserved?.mark, reserved?.folder,
                reserved?.madeFolders ?? 0,
            ])
        return RestoreJobID(rawValue: lastInsertedRowID)
    }

    /// - Returns: whether it was; not when the key is in an open item already.
    fileprivate func insert(_ item: RestoreJobDraft.Item, of job: RestoreJobID) throws -> Bool {
        try run(
            """
            INSERT INTO restore_items (job_id, key, path, destination, size, sha256, storage_class, tier, further)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) WHERE state IN ('planned', 'retrieving') DO NOTHING
            """,
            [
                job.rawValue, item.key.rawValue, item.path?.blob, item.destination?.blob, item.size,
                item.sha256?.blob, item.storageClass.rawValue, item.tier.rawValue, item.further.blob,
            ]) > 0
    }

    fileprivate func summary(of job: RestoreJob) throws -> RestoreJobSummary {
        let row = try rawRow(LedgerQuery.progressOfJob, [job.id.rawValue])
        return RestoreJobSummary(job: job, progress: row ?? Row())
    }
}

extension Array {
    /// Neighbours that have the same value, together.
    fileprivate func chunked(by value: (Element) -> some Equatable) -> [[Element]] {
        reduce(into: []) { chunks, element in
            if let last = chunks.last?.last, value(last) == value(element) {
                chunks[chunks.count - 1].append(element)
            } else {
                chunks.append([element])
            }
        }
    }
}

/// Lists are read in pages, the first one after 0. An item that comes into a list meanwhile may be left out.
extension Ledger {
    /// A page of a job's items, in the order of the draft.
    package func restoreItems(of id: RestoreJobID, after last: Int64, limit: Int) throws(LedgerError) -> [RestoreItem] {
        try read("list restores") { try $0.rows(LedgerQuery.itemsOfJob, [id.rawValue, last, limit]) }
    }

    /// The items of a job that the store is bringing back, all of them.
    package func retrievingItems(of id: RestoreJobID) throws(LedgerError) -> [RestoreItem] {
        try read("list open restores") { try $0.rows(LedgerQuery.retrievingItemsOfJob, [id.rawValue]) }
    }

    /// The one open item in which an object is.
    package func openRestoreItem(for key: ObjectKey) throws(LedgerError) -> RestoreItem? {
        try read("look up an open restore") { try $0.row(LedgerQuery.openItemOfKey, [key.rawValue]) }
    }

    /// A page of what can be read, is to be saved, and is not saved yet.
    package func unsavedRestoredItems(after last: Int64, limit: Int) throws(LedgerError) -> [RestoreItem] {
        try read("list what is to be saved") { try $0.rows(LedgerQuery.unsavedItems, [last, limit]) }
    }
}

extension Database {
    func restoreCounts() throws -> [RestoreItemState: Int] {
        let rows = try rawRows(LedgerQuery.restoreTallies)
        return rows.reduce(into: [:]) { counts, row in
            if let state = RestoreItemState(rawValue: row[0]) { counts[state] = row[1] }
        }
    }
}
