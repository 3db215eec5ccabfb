package import FoundationEssentials
import GRDB
package import SyncCore
package import SystemPackage

extension Ledger {
    package func share(_ id: ShareID) throws(LedgerError) -> ShareRecord? {
        try read("look up a share") { try $0.row(LedgerQuery.share, [id.description]) }
    }

    /// The open share of these photos of a vacation in this quality; of several that a rebuild has found, one.
    /// - Parameter time: those that expire later count. One that has expired is open until somebody clears it away.
    package func openShare(
        of folder: FilePath, selection: PhotoSelection?, quality: ShareQuality, expiringAfter time: Date = .distantPast
    ) throws(LedgerError) -> ShareRecord? {
        try read("look up a share") { db in
            try db.row(
                LedgerQuery.openShare,
                [folder.blob, selection?.description ?? "", quality.rawValue, time.milliseconds])
        }
    }

    /// Those of which something is or may still be in the store, the oldest first.
    package func unendedShares() throws(LedgerError) -> [ShareRecord] {
        try read("list shares") { try $0.rows(LedgerQuery.unendedShares) }
    }

    /// The newest first, those that are over included.
    /// - Parameter limit: older ones are listed as long as something of them is or may be in the store.
    package func shares(limit: Int) throws(LedgerError) -> [ShareRecord] {
        try read("list shares") { db in
            let newest = try db.rows(LedgerQuery.newestShares, [limit], as: ShareRecord.self)
            let listed = Set(newest.map(\.id))
            let older = try db.rows(LedgerQuery.unendedShares, as: ShareRecord.self).filter { !listed.contains($0.id) }
            return newest + older.reversed()
        }
    }

    /// In the order in which they are seen, and then those that are no longer shared.
    package func sharePhotos(_ id: ShareID) throws(LedgerError) -> [SharePhoto] {
        try read("list the photos of a share") { db in
            try db.rows(LedgerQuery.photosOfShare, [id.description], as: SharePhoto.self).sorted {
                ($0.position ?? .max, $0.slot) < ($1.position ?? .max, $1.slot)
            }
        }
    }

    /// Notes who is to get the link of a share, as long as it is not over.
    package func noteRecipient(_ recipient: String, of id: ShareID) throws(LedgerError) {
        try write(
            "note who is to get a share",
            "UPDATE shares SET recipient = ? WHERE id = ? AND state IN ('preparing', 'waiting', 'live')",
            [recipient, id.description])
    }

    /// Notes that the store tells the other machines that a share is this one's.
    package func noteOwnership(_ number: Int, ofShare id: ShareID) throws(LedgerError) {
        try write(
            "note who has a share", isDurable: true,
            "UPDATE shares SET ownership = ? WHERE id = ?", [number, id.description])
    }

    // MARK: The name of whoever shares

    /// Under which name was shared last.
    package func sharer() throws(LedgerError) -> String? {
        try read("look up who shares") { try String.fetchOne($0.cachedStatement(sql: "SELECT name FROM sharer")) }
    }

    package func rememberSharer(_ name: String) throws(LedgerError) {
        try write(
            "remember who shares",
            "INSERT INTO sharer VALUES (1, ?) ON CONFLICT DO UPDATE SET name = excluded.name", [name])
    }
}

extension LedgerQuery {
    package static let share = "SELECT \(ShareRecord.columns) FROM shares WHERE id = ?"
    package static let openShare = """
        SELECT \(ShareRecord.columns) FROM shares WHERE folder = ? AND selection = ? AND quality = ?
        AND state IN ('preparing', 'waiting', 'live') AND expires_at > ? ORDER BY twin LIMIT 1
        """
    package static let unendedShares =
        "SELECT \(ShareRecord.columns) FROM shares WHERE state NOT IN ('revoked', 'expired') ORDER BY number"
    package static let newestShares = "SELECT \(ShareRecord.columns) FROM shares ORDER BY number DESC LIMIT ?"
    package static let photosOfShare =
        "SELECT \(SharePhoto.columns) FROM share_photos WHERE share = (SELECT number FROM shares WHERE id = ?)"
}

extension Ledger {
    /// Makes a share, in the hands of whoever makes it. There is one open share of the same photos of a vacation in the
    /// same quality, whichever process asks.
    /// - Returns: `false` when there is one already.
    package func addShare(
        _ id: ShareID, _ draft: ShareDraft, by owner: String, at time: Date
    ) throws(LedgerError) -> Bool {
        try write("make a share", isDurable: true) { db in
            let added = try db.run(
                """
                INSERT INTO shares (id, folder, selection, quality, location, start_day, end_day, shared_by, created_at,
                    expires_at, claimed_by, claimed_until, tells_names, takes_guests)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (folder, selection, quality, twin) WHERE state IN ('preparing', 'waiting', 'live') DO NOTHING
                """,
                [
                    id.description, draft.folder.blob, draft.selection?.description ?? "", draft.quality.rawValue,
                    draft.location, draft.startDate.description, draft.endDate.description, draft.sharedBy,
                    time.milliseconds, draft.expiresAt.milliseconds, owner,
                    (time + Ledger.shareClaimSeconds).milliseconds, draft.tellsNames, draft.takesGuests,
                ])
            guard added > 0 else { return false }
            _ = try db.revise(db.lastInsertedRowID, draft.photos)
            return true
        }
    }

    /// Brings an open share up to what is to be shared now. Photos that stay keep their slot; new ones get slots that were
    /// never used; those that go keep their row until their objects are gone.
    /// - Returns: whether anything is to be published anew; `nil` when the share is over, or in the hands of another.
    package func reviseShare(_ id: ShareID, _ draft: ShareDraft, by owner: String) throws(LedgerError) -> Bool? {
        try write("change a share", isDurable: true) { db in
            guard let number = try db.claimedShare(id, by: owner) else { return nil }
            let described = try db.run(
                """
                UPDATE shares SET location = ?1, start_day = ?2, end_day = ?3, shared_by = ?4, expires_at = ?5,
                    tells_names = ?7, takes_guests = ?8
                WHERE number = ?6
                AND (location, start_day, end_day, expires_at, tells_names, takes_guests) <> (?1, ?2, ?3, ?5, ?7, ?8)
                OR number = ?6 AND shared_by IS NOT ?4
                """,
                [
                    draft.location, draft.startDate.description, draft.endDate.description, draft.sharedBy,
                    draft.expiresAt.milliseconds, number, draft.tellsNames, draft.takesGuests,
                ])
            let revised = try db.revise(number, draft.photos)
            guard described > 0 || revised else { return false }
            try db.run("UPDATE shares SET step = 'publish' WHERE number = ?", [number])
            return true
        }
    }
}

extension Database {
    /// The number of an open share that is in somebody's hands.
    func claimedShare(_ id: ShareID, by owner: String) throws -> Int64? {
        try number(
            "SELECT number FROM shares WHERE id = ? AND claimed_by = ? AND state IN ('preparing', 'waiting', 'live')",
            [id.description, owner])
    }

    /// - Returns: whether that changed what is seen.
    fileprivate func revise(_ share: Int64, _ photos: [ShareDraft.Photo]) throws -> Bool {
        let rows = try rows(
            "SELECT \(SharePhoto.columns) FROM share_photos WHERE share = ?", [share], as: SharePhoto.self)
        // A row that goes and one that stays may be of one photo: the one that stays is met last.
        let known = Dictionary(
            rows.sorted { ($0.position != nil ? 1 : 0, $0.slot) < ($1.position != nil ? 1 : 0, $1.slot) }
                .map { ($0.md5, $0) }, uniquingKeysWith: { $1 })
        var kept: Set<Int> = []
        var isChanged = false
        for (position, photo) in photos.enumerated() {
            guard let row = known[photo.md5] else {
                try insert(photo, at: position, of: share)
                isChanged = true
                continue
            }
            kept.insert(row.slot)
            let isTriedAgain = row.failure != nil && !row.isFinal
            let isDated = row.isDatedAnew(by: photo.takenAt)
            isChanged = isChanged || row.position != position || isTriedAgain || isDated
            try run(
                """
                UPDATE share_photos SET position = ?1, path = ?2, source_key = ?3, taken_at = IIF(?8, ?4, taken_at),
                    taken_offset = IIF(?8, ?7, taken_offset), failure = IIF(is_final, failure, NULL), is_local = ?9
                WHERE share = ?5 AND slot = ?6
                """,
                [
                    position, photo.path.blob, photo.sourceKey?.rawValue, photo.takenAt?.clock, share, row.slot,
                    photo.takenAt?.offset, isDated, photo.isLocal,
                ])
        }
        for row in rows where row.position != nil && !kept.contains(row.slot) {
            try run("UPDATE share_photos SET position = NULL WHERE share = ? AND slot = ?", [share, row.slot])
            isChanged = true
        }
        return isChanged
    }

    private func insert(_ photo: ShareDraft.Photo, at position: Int, of share: Int64) throws {
        try run(
            """
            INSERT INTO share_photos (share, slot, position, md5, path, source_key, taken_at, taken_offset, is_local)
            SELECT number, next_slot, ?, ?, ?, ?, ?, ?, ? FROM shares WHERE number = ?
            """,
            [
                position, photo.md5.blob, photo.path.blob, photo.sourceKey?.rawValue, photo.takenAt?.clock,
                photo.takenAt?.offset, photo.isLocal, share,
            ])
        try run("UPDATE shares SET next_slot = next_slot + 1 WHERE number = ?", [share])
    }
}

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

    /// Notes that the objects of all photos that are no longer shared are gone. What has to be published anew meanwhile
    /// still has to be.
    package func noteShareCleaned(_ id: ShareID, by owner: String) throws(LedgerError) {
        try write("note a cleaned share") { db in
            guard let share = try db.claimedShare(id, by: owner) else { return }
            try db.run("DELETE FROM share_photos WHERE share = ? AND position IS NULL", [share])
            try db.run(
                "UPDATE shares SET step = IIF(step = 'clean', 'done', step), problem = NULL WHERE number = ?", [share])
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
