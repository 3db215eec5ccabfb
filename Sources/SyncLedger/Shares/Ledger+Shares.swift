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
