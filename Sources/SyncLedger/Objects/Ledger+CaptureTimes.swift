import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

/// A photo on the disk whose object has its capture time from before offsets were kept.
package struct DatedBefore: Hashable, Sendable {
    package let object: Int64
    /// Absolute.
    package let file: FilePath
    /// As it was when it was stored.
    package let stamp: FileStamp
}

extension Ledger {
    /// A page of the photos on the disk whose capture time is to be read again, by their objects.
    /// - Parameter last: the object of the last one of the page before; 0 for the first page.
    package func photosDatedBefore(after last: Int64, limit: Int) throws(LedgerError) -> [DatedBefore] {
        try read("list capture times of before") { try $0.rows(LedgerQuery.datedBefore, [last, limit]) }
    }

    /// Notes when photos were taken, as their files tell it now. The vacations of those that change are to be looked at.
    package func noteCaptureTimes(_ times: [Int64: CaptureTime?]) throws(LedgerError) {
        try write("note capture times") { db in
            for (object, time) in times {
                try db.run(
                    """
                    UPDATE vacations SET revision = revision + 1 WHERE id IN (
                        SELECT directories.vacation_id FROM objects
                        CROSS JOIN photos ON photos.object_id = objects.id
                        CROSS JOIN directories ON directories.id = photos.directory_id
                        WHERE objects.id = ?1 AND (taken_at IS NOT ?2 OR taken_offset IS NOT ?3))
                    """, [object, time?.clock, time?.offset])
                try db.run(
                    "UPDATE objects SET taken_at = ?2, taken_offset = ?3, taken_rules = 1 WHERE id = ?1",
                    [object, time?.clock, time?.offset])
            }
            return
        }
    }
}

extension DatedBefore: FetchableRecord {
    init(row: Row) throws {
        self.init(
            object: row[10], file: try PhotoPlace(row: row).absolute, stamp: FileStamp(row: row, from: 11))
    }
}
