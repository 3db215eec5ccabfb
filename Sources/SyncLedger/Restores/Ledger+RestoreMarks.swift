import FoundationEssentials
import GRDB
package import SystemPackage

/// The hidden files by which jobs know the folders that their photos are saved in.
extension Ledger {
    /// Notes, for good, that a job's file is in a folder: from then on, the folder is the one only with it.
    /// - Returns: `false`, with nothing noted, when the job is over.
    package func noteMark(of job: RestoreJobID, in folder: FilePath) throws(LedgerError) -> Bool {
        try write("note the folder of a restore", isDurable: true) { db in
            try db.run(
                """
                UPDATE restore_jobs AS jobs SET marked_in = ?
                WHERE jobs.id = ? AND jobs.mark IS NOT NULL AND \(LedgerQuery.savesMore)
                """, [folder.blob, job.rawValue]) > 0
        }
    }

    /// Those of jobs of which nothing more is to be saved.
    package func endedRestoreMarks() throws(LedgerError) -> [EndedRestoreMark] {
        try read("list files of restores that are over") { try $0.rows(LedgerQuery.endedMarks) }
    }

    /// Notes that a job's file was taken away.
    package func noteMarkRemoved(of job: RestoreJobID) throws(LedgerError) {
        try write("note that a restore is over") { db in
            try db.run("UPDATE restore_jobs SET mark = NULL, marked_in = NULL WHERE id = ?", [job.rawValue])
            return
        }
    }
}
