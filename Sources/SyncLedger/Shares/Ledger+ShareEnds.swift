package import FoundationEssentials
import GRDB
package import SyncCore

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

    /// Those that ended after a moment, and those that ended and of which something that guests have sent cannot be
    /// taken in. A put that was under way when a share ended may come to its end later.
    package func shares(endedAfter time: Date) throws(LedgerError) -> [ShareRecord] {
        try read("list shares") { try $0.rows(LedgerQuery.endedShares, [time.milliseconds]) }
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

    /// Forgets a share that is open, or that expires here and nowhere else: another machine has it from now on.
    package func giveShareUp(_ id: ShareID) throws(LedgerError) {
        try write("give a share up", isDurable: true) { db in
            let given = "id = ? AND state IN ('preparing', 'waiting', 'live', 'expiring')"
            try db.run(
                "DELETE FROM share_photos WHERE share = (SELECT number FROM shares WHERE \(given))", [id.description])
            try db.run("DELETE FROM shares WHERE \(given)", [id.description])
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

extension LedgerQuery {
    package static let endedShares =
        """
        SELECT \(ShareRecord.columns) FROM shares
        WHERE ended_at > ? OR ended_at IS NOT NULL AND guests_problem IS NOT NULL
        ORDER BY number
        """
}

// MARK: Shares of other machines

/// A share of another machine that is taken back from this one.
package struct ShareRemoval: Hashable, Sendable {
    package let id: ShareID
    package let location: String
    /// What people call the machine that has it.
    package let machine: String
    package let expiresAt: Date
    /// Since when the store tells the other machines.
    package let toldAt: Date?
    /// When nothing of it was left.
    package let goneAt: Date?
}

extension Ledger {
    /// Notes that a share of another machine is to go, before anything is done about it: whoever is killed goes on with it.
    package func beginShareRemoval(
        _ id: ShareID, location: String, machine: String, expiresAt: Date, at time: Date
    ) throws(LedgerError) {
        try write(
            "note a share that is taken back", isDurable: true,
            """
            INSERT INTO share_removals (share, location, machine, expires_at, begun_at) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET gone_at = NULL, problem = NULL
            """, [id.description, location, machine, expiresAt.milliseconds, time.milliseconds])
    }

    package func shareRemoval(_ id: ShareID) throws(LedgerError) -> ShareRemoval? {
        try read("look up a share that is taken back") {
            try $0.row("SELECT \(ShareRemoval.columns) FROM share_removals WHERE share = ?", [id.description])
        }
    }

    /// Those of which something may be left, or came later and cannot be taken in, and those of which nothing was left
    /// after a moment.
    package func shareRemovals(goneAfter time: Date) throws(LedgerError) -> [ShareRemoval] {
        try read("list shares that are taken back") {
            try $0.rows(
                """
                SELECT \(ShareRemoval.columns) FROM share_removals
                WHERE gone_at IS NULL OR gone_at > ? OR problem IS NOT NULL
                ORDER BY begun_at, share
                """, [time.milliseconds])
        }
    }

    /// Notes that nothing was left of shares of other machines that had expired: nobody needs to ask for them again.
    package func noteGoneShares(_ shares: [(id: ShareID, expiresAt: Date)]) throws(LedgerError) {
        try write(
            "note shares of other machines that are gone",
            """
            INSERT INTO gone_shares (share, expires_at) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at
            """, each: shares.map { [$0.id.description, $0.expiresAt.milliseconds] })
    }

    /// Whether nothing was left of a share of another machine after this end of it.
    package func isShareGone(_ id: ShareID, expiredAt end: Date) throws(LedgerError) -> Bool {
        try read("look up a share of another machine") {
            try $0.number(
                "SELECT 1 FROM gone_shares WHERE share = ? AND expires_at = ?", [id.description, end.milliseconds])
                != nil
        }
    }

    /// Notes that the store tells of the end.
    package func noteShareRemovalTold(_ id: ShareID, at time: Date) throws(LedgerError) {
        try write(
            "note a share that is taken back",
            "UPDATE share_removals SET told_at = COALESCE(told_at, ?) WHERE share = ?",
            [time.milliseconds, id.description])
    }

    /// - Parameter problem: why something of it is left; `nil` when nothing is.
    package func noteShareRemoval(_ id: ShareID, problem: String?, at time: Date) throws(LedgerError) {
        try write(
            "note a share that is taken back",
            """
            UPDATE share_removals SET problem = ?1, gone_at = IIF(?1 IS NULL AND told_at IS NOT NULL, ?2, gone_at)
            WHERE share = ?3
            """, [problem, time.milliseconds, id.description])
    }
}

extension ShareRemoval: FetchableRecord {
    static let columns = "share, location, machine, expires_at, told_at, gone_at"

    init(row: Row) throws {
        self.init(
            id: try ShareID(row[0] as String).known(), location: row[1], machine: row[2],
            expiresAt: Date(milliseconds: row[3]), toldAt: row.time(4), goneAt: row.time(5))
    }
}
