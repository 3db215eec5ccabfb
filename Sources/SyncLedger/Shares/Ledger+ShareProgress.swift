package import FoundationEssentials
import GRDB
package import SyncCore

/// One process at a time works on a share. It claims the share, renews that while it works, and everything that it notes
/// of the share is dropped when the claim has gone to another meanwhile: a machine may sleep for hours between two lines.
extension Ledger {
    /// How long a claim holds that is not renewed: so long a person waits for a process that was killed.
    package static let shareClaimSeconds = 12.0

    /// Takes a share into somebody's hands.
    /// - Returns: the share as it stands; `nil` when another has it, or there is none.
    package func claimShare(_ id: ShareID, by owner: String, at time: Date) throws(LedgerError) -> ShareRecord? {
        try write("claim a share") { db in
            // A claim that ends later than one could be made now is one from before the clock was set back.
            let end = (time + Self.shareClaimSeconds).milliseconds
            let claimed = try db.run(
                """
                UPDATE shares SET claimed_by = ?1, claimed_until = ?2 WHERE id = ?3 AND (
                    claimed_by IS NULL OR claimed_by = ?1 OR claimed_until <= ?4 OR claimed_until > ?2
                )
                """, [owner, end, id.description, time.milliseconds])
            return claimed > 0 ? try db.row(LedgerQuery.share, [id.description]) : nil
        }
    }

    /// Keeps a share in the hands in which it is. What was let go, or taken by another, does not come back by this: much
    /// may have happened to it in between, its end included.
    /// - Returns: how it stands; `nil` when it is not in these hands.
    package func renewShare(_ id: ShareID, by owner: String, at time: Date) throws(LedgerError) -> ShareState? {
        try write("keep a share") { db in
            let end = (time + Self.shareClaimSeconds).milliseconds
            let renewed = try db.run(
                "UPDATE shares SET claimed_until = ? WHERE id = ? AND claimed_by = ?",
                [end, id.description, owner])
            return renewed > 0 ? try db.row(LedgerQuery.share, [id.description], as: ShareRecord.self)?.state : nil
        }
    }

    package func releaseShare(_ id: ShareID, by owner: String) throws(LedgerError) {
        try write(
            "release a share",
            "UPDATE shares SET claimed_by = NULL, claimed_until = NULL WHERE id = ? AND claimed_by = ?",
            [id.description, owner])
    }

    /// Notes what came of one photo of a share.
    /// - Returns: `false` when the share is over, or in the hands of another: nothing was noted.
    package func noteSharePhoto(
        _ slot: Int, of id: ShareID, _ outcome: SharePhotoOutcome, by owner: String, at time: Date
    ) throws(LedgerError) -> Bool {
        try write("note a shared photo") { db in
            guard let share = try db.claimedShare(id, by: owner) else { return false }
            switch outcome {
            case .stored(let copy, let takenAt):
                // A stored copy may have lost the offset that the file on the disk has.
                let isBetter = "?6 IS NOT NULL AND (?9 IS NOT NULL OR taken_offset IS NULL)"
                try db.run(
                    """
                    UPDATE share_photos SET sha256 = ?1, size = ?2, width = ?3, height = ?4, stored_at = ?5, failure = NULL,
                        is_final = 0, media_type = ?10, duration = ?11, has_poster = ?12,
                        taken_at = IIF(\(isBetter), ?6, taken_at),
                        taken_offset = IIF(\(isBetter), ?9, taken_offset)
                    WHERE share = ?7 AND slot = ?8
                    """,
                    [
                        copy.sha256.blob, copy.size, copy.width, copy.height, time.milliseconds,
                        takenAt?.clock, share, slot, takenAt?.offset, copy.film?.rawValue,
                        copy.duration?.inMilliseconds, copy.hasThumbnail,
                    ])
            case .failed(let reason, let isFinal):
                try db.run(
                    """
                    UPDATE share_photos SET failure = ?, is_final = ? WHERE share = ? AND slot = ? AND stored_at IS NULL
                    """, [reason, isFinal, share, slot])
            }
            return true
        }
    }

    /// Notes why an attempt did not get to its end.
    /// - Parameter waits: whether photos have to come back from the archive first.
    package func noteShareProblem(
        _ problem: String?, waits: Bool, of id: ShareID, by owner: String
    ) throws(LedgerError) {
        try write(
            "note how a share stands",
            """
            UPDATE shares SET problem = ?1, state = CASE
                WHEN state IN ('preparing', 'waiting') THEN IIF(?2, 'waiting', 'preparing') ELSE state END
            WHERE id = ?3 AND claimed_by = ?4
            """, [problem, waits, id.description, owner])
    }

    /// Notes which restore brings back photos of a share.
    package func noteRestore(_ job: RestoreJobID, of id: ShareID) throws(LedgerError) {
        try write(
            "note the restore of a share", isDurable: true,
            "UPDATE shares SET restore_job = ? WHERE id = ?", [job.rawValue, id.description])
    }

    /// Notes that page and manifest are in the store. It is done only when all photos are: some may have been added since
    /// the publisher looked.
    /// - Parameter linksEndAt: when the first of the links inside them ends; `nil` when they have no end of their own.
    /// - Returns: `false` when the share is over, or in the hands of another: then nothing may be left of them.
    package func noteSharePublished(
        _ id: ShareID, link: StoreLink, linksEndAt: Date?, by owner: String, at time: Date
    ) throws(LedgerError) -> Bool {
        try write("note a published share") { db in
            guard let share = try db.claimedShare(id, by: owner) else { return false }
            try db.run(
                """
                UPDATE shares SET state = 'live', problem = NULL, published_at = IIF(step = 'publish', ?1, published_at),
                    page_written_at = ?1, links_end_at = ?2, link = ?3, link_ends_at = ?4, link_limit = ?5,
                    link_end_is_known = ?7,
                    step = CASE
                        WHEN EXISTS (SELECT 1 FROM share_photos WHERE share = ?6 AND position IS NOT NULL
                            AND stored_at IS NULL AND failure IS NULL) THEN 'publish'
                        WHEN EXISTS (SELECT 1 FROM share_photos WHERE share = ?6 AND position IS NULL) THEN 'clean'
                        ELSE 'done' END
                WHERE number = ?6
                """,
                [
                    time.milliseconds, linksEndAt?.milliseconds, link.url, link.endsAt.milliseconds, link.limit, share,
                    link.isEndKnown,
                ])
            return true
        }
    }

    /// Notes that page or manifest may have been replaced by somebody who did not hold the share any more: they are written
    /// anew.
    package func noteShareOverwritten(_ id: ShareID) throws(LedgerError) {
        try write("note an overwritten share") { try $0.republish(id) }
    }

    /// Notes that photos of an open share are not in the store any more, or its page: it is published anew.
    package func noteShareLost(_ id: ShareID, slots: [Int]) throws(LedgerError) {
        try write("note what is missing of a share") { db in
            for slot in slots {
                try db.run(
                    """
                    UPDATE share_photos SET sha256 = NULL, size = NULL, width = NULL, height = NULL, stored_at = NULL
                    WHERE slot = ? AND share = (SELECT number FROM shares WHERE id = ?)
                    """, [slot, id.description])
            }
            try db.republish(id)
        }
    }

    /// Notes that the objects of all photos that are no longer shared are gone.
    package func noteShareCleaned(_ id: ShareID, by owner: String) throws(LedgerError) {
        try write("note a cleaned share") { db in
            guard let share = try db.claimedShare(id, by: owner) else { return }
            try db.run("DELETE FROM share_photos WHERE share = ? AND position IS NULL", [share])
            try db.run("UPDATE shares SET step = 'done', problem = NULL WHERE number = ?", [share])
        }
    }
}

extension Database {
    fileprivate func republish(_ id: ShareID) throws {
        try run(
            "UPDATE shares SET step = 'publish' WHERE id = ? AND state IN ('preparing', 'waiting', 'live')",
            [id.description])
    }
}

/// An object of a share, as it was put into the store.
package struct ShareObject: Hashable, Sendable {
    package var key: ObjectKey
    package var sha256: SHA256Digest
    /// `nil` where the store gives none.
    package var etag: String?

    package init(key: ObjectKey, sha256: SHA256Digest, etag: String?) {
        self.key = key
        self.sha256 = sha256
        self.etag = etag
    }
}

extension Ledger {
    /// What was put into the store for a share, as far as it is known: nothing of what an earlier version has put, or another
    /// machine.
    package func shareObjects(_ id: ShareID) throws(LedgerError) -> [ObjectKey: ShareObject] {
        try read("list the objects of a share") { db in
            let objects: [ShareObject] = try db.rows(
                "SELECT key, sha256, etag FROM share_objects WHERE share = (SELECT number FROM shares WHERE id = ?)",
                [id.description])
            return objects.reduce(into: [:]) { $0[$1.key] = $1 }
        }
    }

    /// Notes what was put, whoever has the share in hand: it is what the store has.
    package func noteShareObjects(_ objects: [ShareObject], of id: ShareID) throws(LedgerError) {
        try write(
            "note what was put for a share",
            """
            INSERT OR REPLACE INTO share_objects (share, key, sha256, etag)
            SELECT number, ?, ?, ? FROM shares WHERE id = ?
            """, each: objects.map { [$0.key.rawValue, $0.sha256.blob, $0.etag, id.description] })
    }
}

extension ShareObject: FetchableRecord {
    init(row: Row) throws {
        self.init(key: try ObjectKey(row[0] as String), sha256: try SHA256Digest(blob: row[1]).known(), etag: row[2])
    }
}
