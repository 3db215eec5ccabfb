package import FoundationEssentials
package import SyncLedger

/// Where the cleanup of old events stands, by the schedule of the daily one.
package struct RetentionOutlook: Sendable {
    /// Seconds that a daily cleanup may take before what it should have done is overdue.
    private static let patience: TimeInterval = 3_600

    private let schedule: DailySchedule
    private let days: Int

    /// - Parameter days: after which an event is due.
    package init(schedule: DailySchedule, days: Int) {
        self.schedule = schedule
        self.days = days
    }

    /// Events that were due at a daily cleanup an hour ago or earlier, and still have their text. It walks an index over
    /// those that are due.
    package func overdue(_ ledger: Ledger, at now: Date) throws(LedgerError) -> Int {
        let run = schedule.last(upTo: now.addingTimeInterval(-Self.patience))
        return try ledger.dueEventCount(createdBefore: run.addingTimeInterval(-Double(days) * 86_400))
    }

    package func standing(_ ledger: Ledger, at now: Date) throws(LedgerError) -> RetentionStanding {
        let counts = try ledger.eventCounts().retention
        return RetentionStanding(
            events: counts.values.reduce(0, +), kept: counts[.kept] ?? 0, overdue: try overdue(ledger, at: now),
            lastRunAt: try ledger.dailyRun(RetentionService.task)?.finishedAt, nextRunAt: schedule.next(after: now))
    }
}

package struct RetentionStanding: Hashable, Sendable {
    /// All that are known.
    package var events: Int
    /// Of these, those that have their text still.
    package var kept: Int
    /// See ``RetentionOutlook/overdue(_:at:)``.
    package var overdue: Int
    /// When the last daily cleanup ended; `nil` before the first.
    package var lastRunAt: Date?
    package var nextRunAt: Date
}
