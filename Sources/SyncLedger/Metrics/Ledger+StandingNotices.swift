package import FoundationEssentials
import GRDB
package import SyncCore

/// Something that was told, and is to be told once more when it is over.
package struct StandingNotice: Hashable, Sendable, FetchableRecord {
    package let kind: Notice.Kind
    /// What it is about, where there may be several; else empty.
    package let subject: String

    package init(_ kind: Notice.Kind, about subject: String = "") {
        self.kind = kind
        self.subject = subject
    }

    init(row: Row) throws {
        self.init(try Notice.Kind(rawValue: row[0]).known(), about: row[1])
    }
}

extension Ledger {
    package func standingNotices() throws(LedgerError) -> Set<StandingNotice> {
        try read("list what was told") { db in
            Set(try db.rows("SELECT kind, subject FROM standing_notices", [], as: StandingNotice.self))
        }
    }

    /// - Returns: `false` when it was noted before: somebody else tells it.
    package func noteTold(_ notice: StandingNotice, at time: Date) throws(LedgerError) -> Bool {
        try write(
            "note what is told", "INSERT OR IGNORE INTO standing_notices VALUES (?, ?, ?)",
            [notice.kind.rawValue, notice.subject, time.milliseconds]) > 0
    }

    /// - Returns: `false` when it was over before.
    package func noteOver(_ notice: StandingNotice) throws(LedgerError) -> Bool {
        try write(
            "note what is over", "DELETE FROM standing_notices WHERE kind = ? AND subject = ?",
            [notice.kind.rawValue, notice.subject]) > 0
    }
}
