package import FoundationEssentials
import GRDB
package import SystemPackage

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
