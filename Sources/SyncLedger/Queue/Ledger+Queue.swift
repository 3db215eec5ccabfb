package import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage

extension Ledger {
    /// Gives back what an agent that died had in hand. To be called once, by the one agent, before it claims anything.
    /// The attempts count, and the photos queue behind those that wait already: one that kills the agent each time does
    /// not keep the others from their turn. One that a library had when the agent ended for the second time is set aside as
    /// failed.
    /// - Returns: how many there were.
    @discardableResult
    package func recoverInterrupted(at time: Date) throws(LedgerError) -> Int {
        try write("recover interrupted uploads") { db in
            let rows = try db.numbers("SELECT id FROM folders").flatMap { folder in
                try db.rows(LedgerQuery.inHand, [folder], as: PhotoRow.self)
            }
            for row in rows {
                try db.run(
                    """
                    UPDATE attempts SET finished_at = ?, outcome = 'interrupted'
                    WHERE photo_id = ? AND finished_at IS NULL
                    """, [time.milliseconds, row.id])
                if row.isGone {
                    try PhotoTable(db).settleVanished(row.id, hasObject: row.objectID != nil)
                } else if try db.suspect(row) {
                    try db.run(
                        "UPDATE photos SET state = 'failed', next_try_at = 0, error = ? WHERE id = ?",
                        [Self.setAside, row.id])
                } else {
                    try db.run(
                        "UPDATE photos SET state = 'pending', next_try_at = ? WHERE id = ?",
                        [max(time.milliseconds, 1), row.id])
                }
            }
            return rows.count
        }
    }

    /// Takes photos from the queue, longest due first, and notes an attempt for each.
    /// - Parameter bytes: leaves files that are larger.
    /// - Returns: at most `limit`; none when nothing is due.
    package func claim(limit: Int, upTo bytes: Int64 = .max, at time: Date) throws(LedgerError) -> [Claim] {
        let operation = "claim photos"
        let isIdle = try read(operation) { try $0.dueNow(limit: 1, upTo: bytes, at: time).isEmpty }
        if isIdle { return [] }
        return try write(operation) { db in
            try db.dueNow(limit: limit, upTo: bytes, at: time).compactMap { try db.claim($0, at: time) }
        }
    }

    /// When the queue has something to do next: a moment that has passed (``Foundation/Date/distantPast`` for a photo
    /// that was never tried) when something is due now, `nil` when nothing is pending.
    /// - Parameters:
    ///   - bytes: larger files do not count.
    ///   - time: now. What is to be tried later than any photo ever is was noted by a clock that was wrong: it is due.
    package func nextTry(upTo bytes: Int64 = .max, at time: Date) throws(LedgerError) -> Date? {
        try read("look at the queue") { db in
            var times: [Int64] = []
            for folder in try db.activeFolders() {
                if let next = try db.number(LedgerQuery.nextTry, [folder.id.rawValue, bytes]) { times.append(next) }
                let isAny = try db.number(LedgerQuery.astray, [folder.id.rawValue, time.latestTry, bytes, 1]) != nil
                if isAny { times.append(0) }
            }
            return times.min().map { $0 == 0 ? .distantPast : Date(milliseconds: $0) }
        }
    }

    /// The last attempts at a photo, oldest first.
    package func attempts(of photoID: Int64) throws(LedgerError) -> [Attempt] {
        try read("read the attempts at a photo") { db in
            try db.rows(
                "SELECT id, started_at, finished_at, outcome, error FROM attempts WHERE photo_id = ? ORDER BY id",
                [photoID])
        }
    }
}

extension Date {
    /// The latest moment, in milliseconds, at which a photo may have to be tried next.
    var latestTry: Int64 { addingTimeInterval(RetryPolicy.longestPause / .seconds(1)).milliseconds }
}

/// A photo whose turn has come, and since when.
struct Due: FetchableRecord {
    var id: Int64
    var since: Int64

    init(row: Row) {
        id = row[0]
        since = row[1]
    }
}

extension Database {
    /// Photos never tried are due whatever the clock says: one that was set back must not hold them up.
    fileprivate func dueNow(limit: Int, upTo bytes: Int64, at time: Date) throws -> [Due] {
        let due = try activeFolders().flatMap { folder in
            try rows(LedgerQuery.fresh, [folder.id.rawValue, bytes, limit], as: Due.self)
                + rows(LedgerQuery.due, [folder.id.rawValue, time.milliseconds, bytes, limit], as: Due.self)
                + rows(LedgerQuery.astray, [folder.id.rawValue, time.latestTry, bytes, limit], as: Due.self)
        }
        return Array(due.sorted { ($0.since, $0.id) < ($1.since, $1.id) }.prefix(limit))
    }

    func claim(_ due: Due, at time: Date) throws -> Claim? {
        let attempts = try number(
            "UPDATE photos SET state = 'uploading', attempts = attempts + 1 WHERE id = ? RETURNING attempts", [due.id])
        guard let attempts, let photo = try row(LedgerQuery.rowOfPhoto, [due.id], as: PhotoRow.self),
            let place = try row(LedgerQuery.placeOfRow, [due.id], as: PhotoPlace.self)
        else { return nil }
        try run("INSERT INTO attempts (photo_id, started_at) VALUES (?, ?)", [due.id, time.milliseconds])
        let attemptID = lastInsertedRowID
        try run(
            """
            DELETE FROM attempts WHERE photo_id = ?1 AND id <= (
                SELECT id FROM attempts WHERE photo_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2
            )
            """, [due.id, Attempt.kept])
        return Claim(
            photoID: due.id, attemptID: attemptID, generation: photo.generation, folder: place.folder,
            relativePath: place.path, stamp: photo.stamp, attempts: Int(attempts), isSuspect: try isSuspect(photo))
    }
}
