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
    /// - Returns: whether it was open.
    @discardableResult
    package func endShare(_ id: ShareID, _ end: ShareEnd) throws(LedgerError) -> Bool {
        try write("end a share", isDurable: true) { db in
            try db.run(
                "UPDATE shares SET state = ?, problem = NULL WHERE id = ? AND state IN ('preparing', 'waiting', 'live')",
                [end.stateWhileEnding.rawValue, id.description]) > 0
        }
    }

    /// Corrects the times of an open share that was made while the clock was wrong. It is published anew with its true end.
    /// - Returns: whether it was open.
    package func correctShare(
        _ id: ShareID, createdAt: Date, expiresAt: Date
    ) throws(LedgerError) -> Bool {
        try write("correct the end of a share", isDurable: true) { db in
            try db.run(
                """
                UPDATE shares SET created_at = ?, expires_at = ?, step = 'publish'
                WHERE id = ? AND state IN ('preparing', 'waiting', 'live')
                """, [createdAt.milliseconds, expiresAt.milliseconds, id.description]) > 0
        }
    }

    /// Notes why the objects of a share that ends could not be removed.
    package func noteShareUnended(_ problem: String, of id: ShareID, by owner: String) throws(LedgerError) {
        try write("note how a share stands") { db in
            try db.run(
                """
                UPDATE shares SET problem = ? WHERE id = ? AND claimed_by = ? AND state IN ('revoking', 'expiring')
                """, [problem, id.description, owner])
            return
        }
    }

    /// Notes that nothing of a share that ends is in the store any more. What it consisted of stays known.
    /// - Returns: `false` when it does not end, or is in the hands of another.
    package func noteShareEnded(_ id: ShareID, by owner: String, at time: Date) throws(LedgerError) -> Bool {
        try write("note the end of a share") { db in
            try db.run(
                """
                UPDATE shares SET state = IIF(state = 'revoking', 'revoked', 'expired'), ended_at = ?, step = 'done',
                    problem = NULL, link = NULL, link_ends_at = NULL, link_limit = NULL, links_end_at = NULL,
                    recipient = NULL, claimed_by = NULL, claimed_until = NULL
                WHERE id = ? AND claimed_by = ? AND state IN ('revoking', 'expiring')
                """, [time.milliseconds, id.description, owner]) > 0
        }
    }
}
