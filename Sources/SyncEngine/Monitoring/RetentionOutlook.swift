package import FoundationEssentials
package import SyncLedger

/// When old events are due, by the schedule of the daily cleanup.
package struct RetentionOutlook: Sendable {
    /// Seconds that a daily cleanup may take before what it should have done is overdue.
    private static let patience: TimeInterval = 3_600

    package let schedule: DailySchedule
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
}
