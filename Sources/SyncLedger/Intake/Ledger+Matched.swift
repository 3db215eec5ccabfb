package import FoundationEssentials
import GRDB

/// Files that were taken for what is stored by their size and time, after a rebuild: they are read later, so that a file of
/// other bytes is found, and stored. How many there are tells ``VerificationStatus/unread``.
extension Ledger {
    /// Puts some of them into the queue: what is stored of them is not sent again, when they are read.
    /// - Returns: how many.
    @discardableResult
    package func requeueMatched(limit: Int, at time: Date) throws(LedgerError) -> Int {
        try write("queue files that were not read") { db in
            let ids = try db.numbers("SELECT photo_id FROM matched_photos ORDER BY photo_id LIMIT ?", [limit])
            for id in ids {
                // What has changed since, or is gone, is looked at for that reason.
                try PhotoTable(db).repend(stored: id, at: time)
                try db.run("DELETE FROM matched_photos WHERE photo_id = ?", [id])
            }
            return ids.count
        }
    }
}
