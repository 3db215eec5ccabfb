package import FoundationEssentials
import GRDB
import SyncCore

/// What ``Ledger/retry(_:)`` has made due.
package struct RetriedPhotos: Hashable, Sendable {
    /// Photos that had failed.
    package var failed = 0
    /// Photos that were waiting for their next try.
    package var waiting = 0

    package static func + (left: RetriedPhotos, right: RetriedPhotos) -> RetriedPhotos {
        RetriedPhotos(failed: left.failed + right.failed, waiting: left.waiting + right.waiting)
    }
}

extension Ledger {
    /// Makes everything that is pending and whole due, behind what was never tried; what was tried least comes first.
    package func makeAllDue(at time: Date) throws(LedgerError) {
        try write(
            "make the queue due",
            """
            UPDATE photos SET next_try_at = MAX(? - 1000 + MIN(attempts, 1000), 1)
            WHERE folder_id IN (SELECT id FROM folders WHERE active = 1) AND state = 'pending' AND next_try_at > 0
                AND NOT \(PhotoRow.held)
            """, [time.milliseconds])
    }

    /// Makes everything that is pending and whole of a vacation due.
    package func makeDue(_ vacation: VacationID, at time: Date) throws(LedgerError) {
        try write(
            "make the photos of a vacation due",
            """
            UPDATE photos SET next_try_at = MAX(?1, 1) WHERE state = 'pending' AND next_try_at > 0
            AND directory_id IN (SELECT id FROM directories WHERE vacation_id = ?2) AND NOT \(PhotoRow.held)
            """, [time.milliseconds, vacation.rawValue])
    }

    /// Makes these photos due, as far as they are pending and whole.
    package func makeDue(_ photos: some Collection<Int64>, at time: Date) throws(LedgerError) {
        try write(
            "make photos due",
            """
            UPDATE photos SET next_try_at = MAX(?, 1)
            WHERE id = ? AND state = 'pending' AND next_try_at > 0 AND NOT \(PhotoRow.held)
            """, each: photos.map { [time.milliseconds, $0] })
    }

    /// Takes a postponement back: it was the store's fault. The attempt does not count, and the photo is due
    /// after those that were not tried yet.
    package func pardon(_ claims: some Collection<Claim>, at time: Date) throws(LedgerError) {
        try write(
            "take back a postponement",
            """
            UPDATE photos SET attempts = MAX(attempts - 1, 0), next_try_at = MAX(?, 1)
            WHERE id = ? AND generation = ? AND state = 'pending' AND next_try_at > 0
            """, each: claims.map { [time.milliseconds + 1, $0.photoID, $0.generation] })
    }

    /// Makes photos that failed or wait due at once, as if they had never been tried, and lets the agent know.
    /// - Parameter photos: `nil` for all of them.
    package func retry(_ photos: (some Collection<Int64>)?) throws(LedgerError) -> RetriedPhotos {
        try write("try photos again") { db in
            let parts =
                try photos?.map { try db.retry("id = ?", $0) }
                ?? db.activeFolders().map { try db.retry("folder_id = ?", $0.id.rawValue) }
            try db.run("UPDATE agent SET retries_asked = retries_asked + 1", [])
            return parts.reduce(RetriedPhotos(), +)
        }
    }

    /// Counts how often ``retry(_:)`` was called, by any process.
    package func retriesAsked() throws(LedgerError) -> Int64 {
        try read("look for photos to try again") { try $0.number("SELECT retries_asked FROM agent", []) ?? 0 }
    }

    /// Photos that were tried and wait for their next try, the oldest at the head.
    package func delayedPhotos(limit: Int) throws(LedgerError) -> [PhotoStatus] {
        try read("list photos that wait") { try $0.firstPhotos(LedgerQuery.firstDelayed, limit: limit) }
    }

    /// Since when a photo is tried in vain: by the first of its last attempts that failed for now, behind any that came to
    /// something. A file that is tried every minute, as it is still changing, is tried anew all the time.
    package func triedSince(_ photo: PhotoStatus) throws(LedgerError) -> Date? {
        try read("look up the attempts at a photo") {
            try $0.number(LedgerQuery.triedSince, [photo.id]).map(Date.init(milliseconds:))
        }
    }

    /// Looks whether the ledger can be read and written to, each on a connection of its own, and has room for more than a
    /// last few rows: a full disk still takes what fits into the room that the log has already.
    package func checkUsable() throws(LedgerError) {
        _ = try read("read") { try $0.number("SELECT retries_asked FROM agent") }
        try write("write") { db in
            try db.run(
                "INSERT OR REPLACE INTO store_facts (place, fact, value) VALUES ('ledger', 'room', ?)",
                [String(repeating: "-", count: 512 << 10)])
            try db.run("DELETE FROM store_facts WHERE place = 'ledger'", [])
        }
    }
}

extension Database {
    /// A photo that failed keeps the reason until it is tried.
    fileprivate func retry(_ condition: String, _ value: Int64) throws -> RetriedPhotos {
        for table in ["suspects", "event_photos_set_aside"] {
            try run("DELETE FROM \(table) WHERE photo_id IN (SELECT id FROM photos WHERE \(condition))", [value])
        }
        let waiting = try run(
            """
            UPDATE photos SET attempts = 0, next_try_at = 0
            WHERE \(condition) AND state = 'pending' AND next_try_at > 0 AND NOT \(PhotoRow.held)
            """, [value])
        let failed = try run(
            "UPDATE photos SET state = 'pending', attempts = 0, next_try_at = 0 WHERE \(condition) AND state = 'failed'",
            [value])
        return RetriedPhotos(failed: failed, waiting: waiting)
    }
}

extension Date {
    /// The latest moment, in milliseconds, at which a photo may have to be tried next.
    var latestTry: Int64 { addingTimeInterval(RetryPolicy.longestPause / .seconds(1)).milliseconds }
}

extension LedgerQuery {
    package static let firstDelayed = """
        SELECT id FROM photos
        WHERE folder_id = ? AND state = 'pending' AND error IS NOT NULL AND attempts > 0 ORDER BY queued_at LIMIT ?
        """
    package static let triedSince = """
        SELECT MIN(started_at) FROM attempts WHERE photo_id = ?1 AND outcome = 'postponed' AND id > (
            SELECT COALESCE(MAX(id), 0) FROM attempts
            WHERE photo_id = ?1 AND outcome NOT IN ('postponed', 'waits', 'released', 'interrupted')
        )
        """
}
