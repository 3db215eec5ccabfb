package import FoundationEssentials
import GRDB

/// The queue of one vacation: what of its folder is to be stored before it is shared.
extension Ledger {
    /// As ``claim(limit:at:)``, of this vacation only, and in no particular order.
    package func claim(
        limit: Int, of vacation: VacationID, upTo bytes: Int64 = .max, at time: Date
    ) throws(LedgerError) -> [Claim] {
        try write("claim photos of a vacation") { db in
            let due = try db.rows(
                LedgerQuery.dueOfVacation, [vacation.rawValue, time.milliseconds, time.latestTry, bytes, limit],
                as: Due.self)
            return try due.compactMap { try db.claim($0, at: time) }
        }
    }

    /// As ``nextTry(at:)``, of this vacation only.
    package func nextTry(
        of vacation: VacationID, upTo bytes: Int64 = .max, at time: Date
    ) throws(LedgerError) -> Date? {
        try read("look at the queue of a vacation") { db in
            let arguments: StatementArguments = [vacation.rawValue, time.latestTry, bytes]
            guard let next = try db.number(LedgerQuery.nextTryOfVacation, arguments) else { return nil }
            return next == 0 ? .distantPast : Date(milliseconds: next)
        }
    }

    /// Makes everything that is pending of a vacation due.
    package func hurry(_ vacation: VacationID, at time: Date) throws(LedgerError) {
        try write("make the photos of a vacation due") { db in
            try db.run(
                """
                UPDATE photos SET next_try_at = MAX(?1, 1) WHERE state = 'pending' AND next_try_at > 0
                AND directory_id IN (SELECT id FROM directories WHERE vacation_id = ?2)
                """, [time.milliseconds, vacation.rawValue])
            return
        }
    }
}

extension LedgerQuery {
    package static let dueOfVacation = """
        SELECT photos.id, photos.next_try_at FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        WHERE directories.vacation_id = ? AND photos.state = 'pending'
        AND (photos.next_try_at <= ? OR photos.next_try_at > ?) AND photos.size <= ?
        LIMIT ?
        """
    /// What is to be tried later than any photo ever is, is due.
    package static let nextTryOfVacation = """
        SELECT MIN(IIF(photos.next_try_at > ?2, 0, photos.next_try_at))
        FROM directories INDEXED BY directories_by_vacation
        CROSS JOIN photos ON photos.directory_id = directories.id
        WHERE directories.vacation_id = ?1 AND photos.state = 'pending' AND photos.size <= ?3
        """
}
