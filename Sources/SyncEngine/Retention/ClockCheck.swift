package import FoundationEssentials
import SyncCore
package import SyncLedger

/// Whether the clock of this machine can be right, before it decides that a text is old enough to be deleted.
///
/// What was seen last is evidence of the time: files, events, and cleanups. A clock that is before the last cleanup, or more
/// than a year after all of them, stops the cleanup, until there is something newer or a person says that the clock is right.
package struct ClockCheck: Sendable {
    package enum Doubt: Hashable, Sendable, CustomStringConvertible {
        case before(Date, now: Date)
        case longAfter(Date, now: Date)

        package var description: String {
            switch self {
            case .before(let last, let now):
                "the clock says \(Self.day(now)), and the last cleanup was on \(Self.day(last)); \(Self.remedy)"
            case .longAfter(let newest, let now):
                "the clock says \(Self.day(now)), and nothing seen here is newer than \(Self.day(newest)); \(Self.remedy)"
            }
        }

        var isBefore: Bool { if case .before = self { true } else { false } }

        private static let remedy = "set it right, or, if it is right, run: sync-agent cleanup --trust-clock"
        private static func day(_ date: Date) -> String { "\(CalendarDay(date))" }
    }

    /// Seconds. Longer than any zone or leap makes a clock go back.
    private static let tolerance = 86_400.0
    private static let longest = 366 * 86_400.0

    private let ledger: Ledger

    package init(_ ledger: Ledger) {
        self.ledger = ledger
    }

    /// Blocks. Cheap as long as a cleanup was done within a year.
    /// - Returns: `nil` when nothing speaks against the clock.
    /// - Throws: ``LedgerError``.
    package func doubt(at now: Date) throws(LedgerError) -> Doubt? {
        let last = try ledger.lastCleanup()
        if let last {
            if last.timeIntervalSince(now) > Self.tolerance { return .before(last, now: now) }
            if now.timeIntervalSince(last) <= Self.longest { return nil }
        }
        // What a wrong clock elsewhere has dated later than now tells nothing.
        let newest = [last, try ledger.newestEvidence(before: now)].compactMap(\.self).max()
        guard let newest, now.timeIntervalSince(newest) > Self.longest else { return nil }
        return .longAfter(newest, now: now)
    }

    /// Notes that the clock was found right, or that a person says so.
    package func accept(at now: Date) throws(LedgerError) {
        try ledger.noteCleanup(at: now)
    }
}
