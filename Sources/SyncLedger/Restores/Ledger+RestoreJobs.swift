package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

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
    package func notePoll(at id: RestoreJobID, _ time: Date) throws(LedgerError) {
        try write(
            "note a poll of a restore job", "UPDATE restore_jobs SET looked_at = ?, looks = looks + 1 WHERE id = ?",
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
            INSERT INTO restore_items
                (job_id, key, path, destination, size, sha256, storage_class, tier, further, note)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) WHERE state IN ('planned', 'retrieving') DO NOTHING
            """,
            [
                job.rawValue, item.key.rawValue, item.path?.blob, item.destination?.blob, item.size,
                item.sha256?.blob, item.storageClass.rawValue, item.tier.rawValue, item.further.blob,
                item.note,
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

    /// A page of what can be read, is to be saved, and is not saved yet, job by job.
    /// - Parameter last: the last one of the page before; `nil` for the first page.
    package func unsavedRestoredItems(after last: RestoreItem?, limit: Int) throws(LedgerError) -> [RestoreItem] {
        try read("list what is to be saved") {
            try $0.rows(LedgerQuery.unsavedItems, [last?.job.rawValue ?? 0, last?.id ?? 0, limit])
        }
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

/// The number of a job that is about to be made, and the hidden file by which it will know its folder. The file is put there
/// before the job is written down: without it there is no job.
package struct RestoreReservation: Hashable, Sendable {
    package let job: RestoreJobID
    package let mark: FilePath.Component
    package let folder: FilePath
    /// How many folders were not there before: it, and those above it.
    package var madeFolders: Int
    /// The process that makes the job.
    let owner: String
    let madeAt: Date
}

extension RestoreReservation: FetchableRecord {
    static let selection = "SELECT id, mark, folder, made_folders, owner, made_at FROM restore_reservations"

    init(row: Row) throws {
        job = RestoreJobID(rawValue: row[0])
        mark = try job.mark(row[1]).known()
        folder = FilePath(blob: row[2] as Data)
        madeFolders = row[3]
        owner = row[4]
        madeAt = Date(milliseconds: row[5])
    }
}

/// Jobs that are about to be made.
extension Ledger {
    /// For how long a job may be about to be made, where nobody knows whether who makes it is still there. The slowest drive has
    /// taken a file by then, and whoever is slower makes no job.
    package static let restoreReservationSeconds = 3_600.0

    /// Takes the number of a job that is to be saved in a folder, and draws the name of its file.
    /// - Parameters:
    ///   - count: how many folders are not there yet: it, and those above it.
    ///   - owner: the process that makes the job.
    package func reserveRestore(
        in folder: FilePath, makingFolders count: Int, by owner: String, at time: Date
    ) throws(LedgerError) -> RestoreReservation {
        try write("take the number of a restore", isDurable: true) { db in
            // Where the next number of an AUTOINCREMENT is (https://www.sqlite.org/autoinc.html): the table is an ordinary one.
            let isCounted = try db.run("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'restore_jobs'") > 0
            if !isCounted { try db.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('restore_jobs', 1)") }
            try db.run(
                """
                INSERT INTO restore_reservations (id, mark, folder, makes_folder, made_folders, owner, made_at)
                SELECT seq, lower(hex(randomblob(8))), ?, ?, ?, ?, ? FROM sqlite_sequence WHERE name = 'restore_jobs'
                """, [folder.blob, count > 0, count, owner, time.milliseconds])
            let made = "\(RestoreReservation.selection) WHERE id = ?"
            return try db.row(made, [db.lastInsertedRowID], as: RestoreReservation.self).known()
        }
    }

    /// Whether no job was made of it yet, and nobody has given it up.
    package func isReserved(_ reservation: RestoreReservation) throws(LedgerError) -> Bool {
        try read("look up the number of a restore") { try $0.isReserved(reservation) }
    }

    /// Those of which no job will come: whoever was to make it is no more, or ``restoreReservationSeconds`` have passed.
    /// - Parameter hasEnded: asked of everybody who is making one.
    package func abandonedReservations(
        of hasEnded: (String) -> Bool, at time: Date
    ) throws(LedgerError) -> [RestoreReservation] {
        try read("list restores that were not made") { db in
            try db.rows(RestoreReservation.selection, as: RestoreReservation.self)
        }.filter { $0.madeAt <= time - Self.restoreReservationSeconds || hasEnded($0.owner) }
    }

    /// Gives one up, of which the file is not there. The next job gets the number, if none has a later one.
    package func cancel(_ reservation: RestoreReservation) throws(LedgerError) {
        let job = reservation.job.rawValue
        try write("give up the number of a restore") { db in
            guard try db.isReserved(reservation) else { return }
            try db.run("DELETE FROM restore_reservations WHERE id = ?", [job])
            try db.run("UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'restore_jobs' AND seq = ?", [job])
        }
    }
}

/// The hidden files by which jobs know the folders that their photos are saved in.
extension Ledger {
    /// Notes, for good, that a job's file is in a folder: from then on, the folder is the one only with it.
    /// - Returns: `false`, with nothing noted, when the job is over.
    package func noteMark(of job: RestoreJobID, in folder: FilePath) throws(LedgerError) -> Bool {
        try write(
            "note the folder of a restore", isDurable: true,
            """
            UPDATE restore_jobs AS jobs SET marked_in = ?
            WHERE jobs.id = ? AND jobs.mark IS NOT NULL AND \(LedgerQuery.savesMore)
            """, [folder.blob, job.rawValue]) > 0
    }

    /// Those of jobs of which nothing more is to be saved.
    package func endedRestoreMarks() throws(LedgerError) -> [EndedRestoreMark] {
        try read("list files of restores that are over") { try $0.rows(LedgerQuery.endedMarks) }
    }

    /// Names of all files that jobs have somewhere, and those that are about to be made.
    package func restoreMarks() throws(LedgerError) -> Set<FilePath.Component> {
        try read("list files of restores") { db in
            let rows = try db.rawRows(
                """
                SELECT id, mark FROM restore_jobs WHERE mark IS NOT NULL
                UNION ALL SELECT id, mark FROM restore_reservations
                """)
            return Set(rows.compactMap { RestoreJobID(rawValue: $0[0]).mark($0[1]) })
        }
    }

    /// Notes that a job's file was taken away.
    package func noteMarkRemoved(of job: RestoreJobID) throws(LedgerError) {
        try write(
            "note that a restore is over",
            "UPDATE restore_jobs SET mark = NULL, marked_in = NULL WHERE id = ?", [job.rawValue])
    }
}

extension Database {
    /// Whether the number is still this one's: it may have been given up, and taken by another.
    func isReserved(_ reservation: RestoreReservation) throws -> Bool {
        let mine = "\(RestoreReservation.selection) WHERE id = ?"
        return try row(mine, [reservation.job.rawValue], as: RestoreReservation.self)?.mark == reservation.mark
    }
}

extension LedgerQuery {
    /// Its cost is that of the items of jobs that save photos. Where one is in hand, the job's file stays until it has its name.
    package static let endedMarks = """
        SELECT jobs.id, jobs.mark, jobs.marked_in, IIF(EXISTS (
            SELECT 1 FROM restore_items AS items INDEXED BY restore_items_by_job
            WHERE items.job_id = jobs.id AND items.saved_at IS NOT NULL), 0, jobs.made_folders)
        FROM restore_jobs AS jobs INDEXED BY restore_jobs_marked
        WHERE jobs.marked_in IS NOT NULL AND NOT (\(savesMore)) AND NOT EXISTS (
            SELECT 1 FROM restore_items AS held INDEXED BY restore_items_claimed WHERE held.claimed_by IS NOT NULL
            AND held.job_id = jobs.id AND held.state = 'restored' AND held.saved_at IS NULL)
        """
    /// Whether more of the job of `items` is to be saved.
    static let isSavingJob = "(SELECT output FROM restore_jobs WHERE id = items.job_id) IS NOT NULL"
}

/// Another name of a photo that a restore brings back, and where it is saved under that name.
package struct RestorePlace: Hashable, Sendable {
    /// Absolute, as the ledger knows it.
    package var path: FilePath
    /// Below the job's output.
    package var destination: FilePath

    package init(path: FilePath, destination: FilePath) {
        self.path = path
        self.destination = destination
    }
}

/// As a column keeps them: no path holds a NUL.
extension [RestorePlace] {
    var blob: Data? {
        isEmpty ? nil : Data(flatMap { $0.path.blob + [0] + $0.destination.blob + [0] })
    }

    init(blob: Data?) {
        let parts = (blob ?? Data()).split(separator: 0).map { FilePath(blob: Data($0)) }
        self = stride(from: 0, to: parts.count - 1, by: 2).map {
            RestorePlace(path: parts[$0], destination: parts[$0 + 1])
        }
    }
}
