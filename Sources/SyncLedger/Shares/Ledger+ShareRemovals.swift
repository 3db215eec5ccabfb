package import FoundationEssentials
import GRDB
package import SyncCore

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

    /// Those of which something may be left, and those of which nothing was left after a moment.
    package func shareRemovals(goneAfter time: Date) throws(LedgerError) -> [ShareRemoval] {
        try read("list shares that are taken back") {
            try $0.rows(
                """
                SELECT \(ShareRemoval.columns) FROM share_removals WHERE gone_at IS NULL OR gone_at > ?
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
