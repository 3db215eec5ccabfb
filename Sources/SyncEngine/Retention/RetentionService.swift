import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem
import SystemPackage

/// ``RetentionPass`` once a day. A run that was missed is made up: the last scheduled moment that is done with is in the
/// ledger.
package final class RetentionService: Service {
    /// The name of the daily task in the ledger.
    package static let task = "retention"
    /// How often the clock is looked at: it may be set, and a machine that sleeps does not count.
    private static let glance = Duration.seconds(600)
    private static let busy = Duration.seconds(60)
    /// Reasons of one run.
    private static let told = 20

    private let retention: RetentionPass
    private let days: Int
    private let schedule: DailySchedule
    private let ledger: LedgerQueue
    private let hold: @Sendable () throws -> AgentLock
    private let loop: ServiceLoop
    private let time: TimeSource
    private let logger: Logger
    /// Which doubt about the clock was told last.
    private let told = Mutex<Bool?>(nil)

    /// - Parameter hold: takes the lock of cleanups, or throws ``AgentLock/Held``.
    package init(
        _ retention: RetentionPass, days: Int, schedule: DailySchedule, ledger: LedgerQueue,
        hold: @escaping @Sendable () throws -> AgentLock, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.retention = retention
        self.days = days
        self.schedule = schedule
        self.ledger = ledger
        self.hold = hold
        loop = ServiceLoop(name: "old gallery events", interval: Self.busy, patience: patience, time: time)
        self.time = time
        self.logger = logger
    }

    package func run() async throws {
        try await loop.run { [self] in
            do {
                let isDone = try await runIfDue()
                let now = time.now()
                let untilNext = schedule.next(after: now) - now
                return isDone
                    ? .round(after: min(untilNext, Self.glance)) : .retry(atLeast: Self.busy, atMost: untilNext)
            } catch is AgentLock.Held {
                // Somebody does it by hand; what is left then is looked at.
                return .round(after: Self.busy)
            }
        }
    }

    /// - Returns: `false` when the store or the lock was not to be had: the run is not over.
    private func runIfDue() async throws -> Bool {
        let now = time.now()
        if let doubt = try await ledger({ try ClockCheck($0).doubt(at: now) }) {
            // Each kind of doubt is told once; the next look is at a clock that was set, maybe.
            let isNews = told.withLock { told in
                defer { told = doubt.isBefore }
                return told != doubt.isBefore
            }
            if isNews { logger.warning("old gallery events wait: \(doubt)") }
            return true
        }
        told.withLock { $0 = nil }
        let due = schedule.last(upTo: now)
        if let done = try await ledger({ try $0.dailyRun(Self.task) }) {
            // One beyond the next is of a clock that was set back since.
            if done.scheduledAt >= due, done.scheduledAt <= schedule.next(after: now) { return true }
        }
        let lock: AgentLock
        do {
            lock = try hold()
        } catch let error as AgentLock.Held {
            throw error
        } catch {
            logger.warning("old gallery events wait: the lock of cleanups cannot be taken: \(error)")
            return false
        }
        defer { withExtendedLifetime(lock) {} }
        let summary = try await retention.run(olderThan: days)
        tell(summary)
        if let outage = summary.outage {
            logger.warning("old gallery events wait for the store: \(outage)")
            return false
        }
        let finished = time.now()
        try await ledger.finish { ledger in
            try ClockCheck(ledger).accept(at: finished)
            try ledger.noteDailyRun(Self.task, scheduledAt: due, at: finished)
        }
        return true
    }

    private func tell(_ summary: RetentionSummary) {
        if summary.deleted > 0 {
            logger.notice(
                "old gallery events: \(summary.archived.counted("photo")) archived, \(summary.deleted.counted("text")) deleted"
            )
        }
        for issues in [summary.errors, summary.skipped] { tell(issues) }
    }

    private func tell(_ issues: RetentionSummary.Issues) {
        for issue in issues.named.prefix(RetentionSummary.Issues.mostTold) {
            let place = issue.file.map { " (\($0.string.escapingControls))" } ?? ""
            logger.warning("gallery event \(issue.event.escapingControls) is kept\(place): \(issue.reason)")
        }
        guard issues.count > RetentionSummary.Issues.mostTold else { return }
        for (reason, count) in issues.reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(Self.told)
        {
            logger.warning("kept: \(count.counted("gallery event")): \(reason)")
        }
    }
}
