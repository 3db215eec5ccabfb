package import FoundationEssentials
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
    private let told = Lock<Bool?>(nil)

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
        // Nothing tells of the time before the folders were looked at.
        if try await ledger({ try $0.lastCleanup() == nil && $0.hasUnscannedFolder() }) { return false }
        if let doubt = try await ledger({ try ClockCheck($0).doubt(at: now) }) {
            // Each kind of doubt is told once; the next look is at a clock that was set, maybe.
            let isNews = told.withLock { exchange(&$0, with: doubt.isBefore) } != doubt.isBefore
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
        } catch  where !(error is AgentLock.Held) {
            logger.warning("old gallery events wait: the lock of cleanups cannot be taken: \(error)")
            return false
        }
        defer { withExtendedLifetime(lock) {} }
        let summary = try await retention.run(olderThan: days)
        log(summary)
        let run = RetentionRun(summary, scheduledAt: due, at: time.now())
        try await ledger.finish { try $0.noteRetentionRun(run) }
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

    private func log(_ summary: RetentionSummary) {
        if summary.deleted > 0 {
            logger.notice(
                "old gallery events: \(summary.archived.counted("photo")) archived, \(summary.deleted.counted("text")) deleted"
            )
        }
        for issues in [summary.errors, summary.skipped] { log(issues) }
    }

    private func log(_ issues: RetentionSummary.Issues) {
        for issue in issues.named.prefix(RetentionSummary.Issues.mostTold) {
            let file = issue.file?.string.escapingControls
            let what = issue.isOfFile ? "text" : "gallery event \(issue.event.escapingControls)"
            logger.warning("\(what) is kept\(file.map { " (\($0))" } ?? ""): \(issue.reason)")
        }
        guard issues.count > RetentionSummary.Issues.mostTold else { return }
        for (reason, count) in issues.reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(Self.told)
        {
            logger.warning("kept: \(count.counted("gallery event")): \(reason)")
        }
    }
}

extension RetentionRun {
    /// - Parameter scheduledAt: `nil` of one that somebody has started.
    package init(_ summary: RetentionSummary, scheduledAt: Date?, at time: Date) {
        self.init(
            scheduledAt: scheduledAt, finishedAt: time, archived: summary.archived, deleted: summary.deleted,
            skipped: summary.skipped.count, failed: summary.errors.count, waiting: summary.waiting)
    }
}

/// A time of the day at which something is done once, by the clock on the wall of a time zone.
///
/// Where a change of the clock skips the time, its moment is the first one after the gap; where the time comes twice, the
/// first of the two. A day that a zone leaves out (Samoa, 30 December 2011) has no moment.
package struct DailySchedule: Hashable, Sendable {
    private static let day = 86_400

    private let zone: TimeZone
    /// Seconds after midnight, as the clock shows them.
    private let time: Int

    package init(hour: Int, minute: Int, in zone: TimeZone) {
        self.zone = zone
        time = hour * 3_600 + minute * 60
    }

    /// The last scheduled moment that is not after a date.
    package func last(upTo date: Date) -> Date {
        let now = date.timeIntervalSince1970
        var day = localDay(of: date) + 2
        while true {
            if let moment = moment(on: day), Double(moment) <= now { return Self.date(moment) }
            day -= 1
        }
    }

    /// The first scheduled moment after a date.
    package func next(after date: Date) -> Date {
        let now = date.timeIntervalSince1970
        var day = localDay(of: date) - 2
        while true {
            if let moment = moment(on: day), Double(moment) > now { return Self.date(moment) }
            day += 1
        }
    }

    /// - Parameter day: counted from 1 January 1970, by the calendar of the zone.
    /// - Returns: seconds since 1970; `nil` when the zone has no such day.
    private func moment(on day: Int) -> Int? {
        let midnight = day * Self.day
        let moment = first(at: midnight + time)
        // Only on a day of its own has the clock shown anything between its midnight and the next.
        if first(at: midnight) == first(at: midnight + Self.day) { return nil }
        return moment
    }

    /// The first moment at which the clock on the wall shows this, or more. Clocks are never changed twice within two days.
    /// - Parameter wall: what the clock shows, as the seconds since 1970 that it would be in UTC.
    private func first(at wall: Int) -> Int {
        let (before, after) = (offset(wall - Self.day), offset(wall + Self.day))
        let moments = [wall - before, wall - after].sorted()
        if let moment = moments.first(where: { $0 + offset($0) == wall }) { return moment }
        // The clock is put forward between the two, over what it was to show.
        var (early, late) = (moments[0], moments[1])
        while late - early > 1 {
            let middle = early + (late - early) / 2
            if middle + offset(middle) < wall { early = middle } else { late = middle }
        }
        return late
    }

    private func localDay(of date: Date) -> Int {
        let moment = Int(date.timeIntervalSince1970.rounded(.down))
        return Int((Double(moment + offset(moment)) / Double(Self.day)).rounded(.down))
    }

    /// Seconds east of UTC at a moment.
    private func offset(_ moment: Int) -> Int { zone.secondsFromGMT(for: Self.date(moment)) }

    private static func date(_ moment: Int) -> Date { Date(timeIntervalSince1970: Double(moment)) }
}

/// Whether the clock of this machine can be right, before it decides that a text is old enough to be deleted.
///
/// A clock that is before the last cleanup stops the cleanup. So does one that is more than a year after what was seen
/// last (files, events, cleanups), and one that has left out more than a year: between two days on which this machine
/// did something, or since the last of them. What others have dated, as a file that says to be from next year, is no
/// proof that a clock is right, and neither is what was done after it had jumped; then a person has to say so.
package struct ClockCheck: Sendable {
    package enum Doubt: Hashable, Sendable, CustomStringConvertible {
        case before(Date, now: Date)
        case longAfter(Date, now: Date)

        package var description: String {
            switch self {
            case .before(let last, let now):
                "the clock says \(Self.day(now)), and the last cleanup was on \(Self.day(last)); \(Self.remedy)"
            case .longAfter(let newest, let now):
                "the clock says \(Self.day(now)), and nothing here proves a later day than \(Self.day(newest)); "
                    + Self.remedy
            }
        }

        var isBefore: Bool { if case .before = self { true } else { false } }

        private static let remedy = "set it right, or, if it is right, run: sync-agent cleanup --trust-clock"
        private static func day(_ date: Date) -> String { "\(CalendarDay(date))" }
    }

    /// Seconds.
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
            if last.isAhead(of: now, by: ClockTolerance.toAct) { return .before(last, now: now) }
            if now.timeIntervalSince(last) <= Self.longest { return nil }
        }
        // What a wrong clock elsewhere has dated later than now tells nothing.
        let seen = [last, try ledger.newestEvidence(before: now)].compactMap(\.self).max()
        let newest = [seen, try lastDeed(since: last, upTo: now)].compactMap(\.self).min()
        guard let newest, now.timeIntervalSince(newest) > Self.longest else { return nil }
        return .longAfter(newest, now: now)
    }

    /// The last day of work to which no gap leads that a clock may have jumped over.
    /// - Parameter start: when the clock was found right; `nil` for the first day of all.
    private func lastDeed(since start: Date?, upTo now: Date) throws(LedgerError) -> Date? {
        var last = start
        for day in try ledger.daysOfDeeds(upTo: now) {
            if let last, day.timeIntervalSince(last) > Self.longest { break }
            last = max(last ?? day, day)
        }
        return last
    }

    /// Notes that the clock was found right, or that a person says so.
    package func accept(at now: Date) throws(LedgerError) {
        try ledger.noteCleanup(at: now)
    }
}

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

    /// Whether a cleanup has kept an event that is due by now.
    package func isAnyKept(_ ledger: Ledger, at now: Date) throws(LedgerError) -> Bool {
        try ledger.isAnyKept(createdBefore: now.addingTimeInterval(-Double(days) * 86_400))
    }

    package func status(_ ledger: Ledger, at now: Date) throws(LedgerError) -> RetentionStatus {
        let counts = try ledger.eventCounts().retention
        return RetentionStatus(
            events: counts.values.reduce(0, +), kept: counts[.kept] ?? 0, overdue: try overdue(ledger, at: now),
            lastRunAt: try ledger.dailyRun(RetentionService.task)?.finishedAt, nextRunAt: schedule.next(after: now))
    }
}

package struct RetentionStatus: Hashable, Sendable {
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
