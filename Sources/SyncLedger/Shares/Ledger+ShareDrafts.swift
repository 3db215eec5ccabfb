package import FoundationEssentials
import GRDB
package import SyncCore

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
