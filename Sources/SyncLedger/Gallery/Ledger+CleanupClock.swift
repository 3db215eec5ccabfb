package import FoundationEssentials
import GRDB
import SyncCore

/// What the ledger knows of the time, by which a cleanup judges the clock.
extension Ledger {
    /// The daily task under whose name a cleanup of any kind notes when it was.
    private static let cleanup = "cleanup"

    /// When the last cleanup was, by hand or by an agent.
    package func lastCleanup() throws(LedgerError) -> Date? {
        try read("look up the last cleanup") { db in
            let times = try db.numbers(
                "SELECT finished_at FROM daily_runs WHERE name IN ('retention', ?)", [Self.cleanup])
            return times.max().map(Date.init(milliseconds:))
        }
    }

    /// Notes a cleanup. Runs that a wrong clock has dated later than it are dated anew.
    package func noteCleanup(at time: Date) throws(LedgerError) {
        try write("note a cleanup") { db in
            try db.run(
                "UPDATE daily_runs SET scheduled_at = MIN(scheduled_at, ?1), finished_at = ?1 WHERE finished_at > ?1",
                [time.milliseconds])
            try db.run(
                "INSERT OR REPLACE INTO daily_runs VALUES (?, ?, ?)",
                [Self.cleanup, time.milliseconds, time.milliseconds])
        }
    }

    /// The latest moment before another one that a file or an event tells of; `nil` where there is none. It walks over all
    /// of them.
    package func newestEvidence(before time: Date) throws(LedgerError) -> Date? {
        try read("look for the newest file") { db in
            let now = time.milliseconds
            let file = try db.number("SELECT MAX(modified) FROM photos WHERE modified <= ?", [now * 1_000_000])
            let event = try db.number("SELECT MAX(created_at) FROM events WHERE created_at <= ?", [now])
            return [file.map { $0 / 1_000_000 }, event].compactMap(\.self).max().map(Date.init(milliseconds:))
        }
    }

    /// The days, up to a moment, on which this machine queued a file or stored something, by its clock: when they began
    /// in UTC, in their order. It walks over all files and objects.
    package func daysOfDeeds(upTo time: Date) throws(LedgerError) -> [Date] {
        try read("look for the days of work") { db in
            let days = try db.numbers(
                """
                SELECT queued_at / 86400000 AS day FROM photos WHERE queued_at <= ?1
                UNION SELECT stored_at / 86400000 FROM objects WHERE stored_at <= ?1 ORDER BY day
                """, [time.milliseconds])
            return days.map { Date(timeIntervalSince1970: Double($0) * 86_400) }
        }
    }
}
