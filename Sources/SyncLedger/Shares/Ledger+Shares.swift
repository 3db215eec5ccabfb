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

    /// Those that ended after a moment. A put that was under way when a share ended may come to its end later.
    package func shares(endedAfter time: Date) throws(LedgerError) -> [ShareRecord] {
        try read("list shares") { try $0.rows(LedgerQuery.endedShares, [time.milliseconds]) }
    }

    /// The newest first, those that are over included.
    package func shares(limit: Int) throws(LedgerError) -> [ShareRecord] {
        try read("list shares") { try $0.rows(LedgerQuery.newestShares, [limit]) }
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
    package static let endedShares = "SELECT \(ShareRecord.columns) FROM shares WHERE ended_at > ? ORDER BY number"
    package static let newestShares = "SELECT \(ShareRecord.columns) FROM shares ORDER BY number DESC LIMIT ?"
    package static let photosOfShare =
        "SELECT \(SharePhoto.columns) FROM share_photos WHERE share = (SELECT number FROM shares WHERE id = ?)"
}

/// Why a share ends.
package enum ShareEnd: Hashable, Sendable {
    case revoked, expired

    fileprivate var stateWhileEnding: ShareState { self == .revoked ? .revoking : .expiring }
}

extension Ledger {
    /// Ends an open share: from here on nobody publishes it, and it counts as gone only when ``noteShareEnded(_:by:at:)``
    /// says so.
    /// - Parameter machine: what people call the one on which it was taken back; `nil`: this one.
    /// - Returns: whether it was open.
    @discardableResult
    package func endShare(_ id: ShareID, _ end: ShareEnd, by machine: String? = nil) throws(LedgerError) -> Bool {
        try write(
            "end a share", isDurable: true,
            """
            UPDATE shares SET state = ?, problem = NULL, ended_by = ?
            WHERE id = ? AND state IN ('preparing', 'waiting', 'live')
            """, [end.stateWhileEnding.rawValue, machine, id.description]) > 0
    }

    /// Corrects the times of an open share that was made while the clock was wrong. It is published anew with its true end.
    /// - Returns: whether it was open.
    package func correctShare(_ id: ShareID, createdAt: Date, expiresAt: Date) throws(LedgerError) -> Bool {
        try write(
            "correct the end of a share", isDurable: true,
            """
            UPDATE shares SET created_at = ?, expires_at = ?, step = 'publish'
            WHERE id = ? AND state IN ('preparing', 'waiting', 'live')
            """, [createdAt.milliseconds, expiresAt.milliseconds, id.description]) > 0
    }

    /// Notes that the store tells the other machines that a share is this one's.
    package func noteOwnership(_ number: Int, ofShare id: ShareID) throws(LedgerError) {
        try write(
            "note who has a share", isDurable: true,
            "UPDATE shares SET ownership = ? WHERE id = ?", [number, id.description])
    }

    /// Forgets an open share, which another machine has from now on.
    package func giveShareUp(_ id: ShareID) throws(LedgerError) {
        try write("give a share up", isDurable: true) { db in
            let open = "id = ? AND state IN ('preparing', 'waiting', 'live')"
            try db.run(
                "DELETE FROM share_photos WHERE share = (SELECT number FROM shares WHERE \(open))", [id.description])
            try db.run("DELETE FROM shares WHERE \(open)", [id.description])
        }
    }

    /// Notes why the objects of a share that ends could not be removed.
    package func noteShareUnended(_ problem: String, of id: ShareID, by owner: String) throws(LedgerError) {
        try write(
            "note how a share stands",
            "UPDATE shares SET problem = ? WHERE id = ? AND claimed_by = ? AND state IN ('revoking', 'expiring')",
            [problem, id.description, owner])
    }

    /// Notes that nothing of a share that ends is in the store any more. What it consisted of stays known.
    /// - Returns: `false` when it does not end, or is in the hands of another.
    package func noteShareEnded(_ id: ShareID, by owner: String, at time: Date) throws(LedgerError) -> Bool {
        try write("note the end of a share") { db in
            let ended = try db.run(
                """
                UPDATE shares SET state = IIF(state = 'revoking', 'revoked', 'expired'), ended_at = ?, step = 'done',
                    problem = NULL, link = NULL, link_ends_at = NULL, link_limit = NULL, links_end_at = NULL,
                    recipient = NULL, claimed_by = NULL, claimed_until = NULL
                WHERE id = ? AND claimed_by = ? AND state IN ('revoking', 'expiring')
                """, [time.milliseconds, id.description, owner])
            guard ended > 0 else { return false }
            try db.run(
                "DELETE FROM share_objects WHERE share = (SELECT number FROM shares WHERE id = ?)", [id.description])
            return true
        }
    }
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
