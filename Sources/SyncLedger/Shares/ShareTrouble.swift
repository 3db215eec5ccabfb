package import FoundationEssentials
import GRDB
package import SyncCore

/// Something that is wrong with a share, and that whoever asks whether all is well has to hear of.
package struct ShareTrouble: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable {
        /// What its guests have sent cannot be taken in.
        case guests
        /// It is over, and something of it is still in the store: others may see it.
        case end
    }

    package let share: ShareID
    package let location: String
    package let kind: Kind
    /// In plain words.
    package let problem: String
}

extension Ledger {
    /// Seconds after which another machine's share, which no process claims, counts as left by whoever removed it.
    private static let removalSeconds = 60.0

    /// Of the shares of this machine, and then of those of other machines that are taken back from this one. What keeps
    /// a share from its end because of its guests is told as theirs alone, where both are noted.
    /// - Parameter now: those count, too, that are over and that nobody is removing: whoever did was killed. `nil`:
    ///   only what was tried in vain.
    package func shareTroubles(at now: Date? = nil) throws(LedgerError) -> [ShareTrouble] {
        let unattended = "nobody has removed it yet: an agent, or the next sync-agent sync, does so"
        return try read("list what is wrong with shares") { db in
            try db.rawRows(
                """
                SELECT id, location, 'guests', guests_problem, 0 AS is_other, number AS place FROM shares
                WHERE guests_problem IS NOT NULL
                UNION ALL
                SELECT id, location, 'end', ifnull(problem, ?3), 0, number FROM shares
                WHERE state IN ('revoking', 'expiring') AND (problem IS NOT NULL AND problem IS NOT guests_problem
                    OR problem IS NULL AND ifnull(claimed_until, 0) <= ?1)
                UNION ALL
                SELECT share, location, IIF(gone_at IS NULL, 'end', 'guests'), ifnull(problem, ?3), 1, begun_at
                FROM share_removals WHERE problem IS NOT NULL OR gone_at IS NULL AND begun_at <= ?2
                ORDER BY is_other, place
                """,
                [now?.milliseconds, now.map { ($0 - Self.removalSeconds).milliseconds }, unattended]
            ).compactMap { row in
                guard let share = ShareID(row[0] as String), let kind = ShareTrouble.Kind(rawValue: row[2] as String)
                else { return nil }
                return ShareTrouble(share: share, location: row[1], kind: kind, problem: row[3])
            }
        }
    }
}
