package import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SystemPackage

/// Restore jobs from request to file: sent, followed, saved, announced. One round is what a command runs; as a service it
/// is the agent's part of it.
package struct RestoreService: Service {
    /// How soon a job that another process has made is seen.
    private static let interval = Duration.seconds(5)
    /// How often copies are looked through for those that end soon, and what could not be saved is tried again.
    private static let thoroughEvery = Duration.seconds(900)

    private let poller: RestorePoller
    private let downloader: RestoreDownloader
    private let announcer: RestoreAnnouncer
    private let loop: ServiceLoop
    private let time: TimeSource
    private let logger: Logger

    package init(
        poller: RestorePoller, downloader: RestoreDownloader, announcer: RestoreAnnouncer, patience: LedgerPatience,
        time: TimeSource, logger: Logger
    ) {
        self.poller = poller
        self.downloader = downloader
        self.announcer = announcer
        loop = ServiceLoop(name: "restores", interval: Self.interval, patience: patience, time: time)
        self.time = time
        self.logger = logger
    }

    /// One round over all jobs, announcements included.
    /// - Parameter isUrgent: looks at every open job whether its time has come or not.
    /// - Returns: what was saved, what could not be, and what the store has said where it should have told how far an object
    ///   is, for whoever asked to tell.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`; what could not be saved is in the log then.
    @discardableResult
    package func round(
        isUrgent: Bool
    ) async throws -> (saved: RestoreDownloader.SaveSummary, unanswered: [StoreError]) {
        var rounds = Rounds()
        let saved = try await work(&rounds, isUrgent: isUrgent, tellsAll: false)
        return (saved, rounds.unanswered)
    }

    /// One round over one job, for whoever waits for it: the store is asked when it is time, and what can be read is saved.
    /// - Returns: what was saved and what could not be; and what the store has against the rest.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func round(
        of job: RestoreJobID, _ rounds: inout Rounds
    ) async throws -> (saved: RestoreDownloader.SaveSummary, obstacle: StoreError?) {
        let isDue = rounds.next.map { $0 <= time.now() } ?? false
        return try await turn(&rounds, of: job, asks: isDue)
    }

    /// Saves what can be read of one job now; when nothing more is to come, that is told.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func save(_ job: RestoreJobID) async throws -> RestoreDownloader.SaveSummary {
        let result = try await downloader.run(job: job)
        try await announcer.run(unsaved: result.unsaved.mapValues(\.count))
        return result
    }

    package func run() async throws {
        try await loop.run(Rounds()) { rounds in
            let glance = await loop.glance()
            _ = try await work(&rounds)
            return rounds.isAnyLeft
                ? .round(after: Self.interval) : .change(since: glance, every: Self.interval)
        }
    }

    /// What one round leaves for the next.
    package struct Rounds: Sendable {
        /// When a job is due to be looked at; `nil` when none is open.
        package fileprivate(set) var next: Date? = .distantPast
        /// What could not be saved, and would meet the same again. The agent tries it again when it looks through everything.
        package fileprivate(set) var unsaved: [RestoreJobID: Set<Int64>] = [:]
        /// What the store has said where it should have told how far an object is, when it was asked last.
        package fileprivate(set) var unanswered: [StoreError] = []
        /// Whether something was to be saved, whatever came of it: another process that had it in hand may be killed, and
        /// a server that was busy answers, without a change of the ledger.
        fileprivate var hasTried = true
        /// Whether something may be due at any moment, by the clock, the store or a disk.
        package var isAnyLeft: Bool { next != nil || hasTried || !unsaved.isEmpty }
        fileprivate var told: Set<String> = []
        /// When everything was looked through last, whether something seemed to be new or not.
        fileprivate var thoroughAt: Duration?

        package init() {}

        /// Those failures that nobody was told of yet, as ``RestoreDownloader/SaveSummary/lines`` names them.
        package mutating func news(in saved: RestoreDownloader.SaveSummary) -> [String] {
            RestoreDownloader.SaveSummary.lines(saved.failures.filter { told.insert($0).inserted })
        }

        /// Those refusals to tell that nobody was told of yet.
        package mutating func newRefusals() -> [String] {
            unanswered.map(\.description).filter { told.insert($0).inserted }
        }
    }

    /// Each part does what it can, whatever the store has against the other.
    /// - Parameters:
    ///   - job: only this one; `nil` for all.
    ///   - asks: whether the store is asked how far it is.
    private func turn(
        _ rounds: inout Rounds, of job: RestoreJobID?, asks: Bool = true, isUrgent: Bool = false
    ) async throws -> (saved: RestoreDownloader.SaveSummary, obstacle: StoreError?) {
        var obstacle: StoreError?
        do {
            if asks {
                let outlook = try await poller.step(job: job, isUrgent: isUrgent)
                (rounds.next, rounds.unanswered) = (outlook.next, outlook.unanswered)
            }
        } catch let error as StoreError {
            obstacle = error
        }
        do {
            let held = rounds.unsaved.values.reduce(into: Set()) { $0.formUnion($1) }
            let saved = try await downloader.run(job: job, leavingOut: held)
            rounds.unsaved.merge(saved.unsaved) { $0.union($1) }
            rounds.hasTried = saved.tried > 0
            return (saved, obstacle)
        } catch let error as StoreError {
            return (RestoreDownloader.SaveSummary(), obstacle ?? error)
        }
    }

    /// - Parameter tellsAll: also what could not be saved, which otherwise the caller does.
    private func work(
        _ rounds: inout Rounds, isUrgent: Bool = false, tellsAll: Bool = true
    ) async throws -> RestoreDownloader.SaveSummary {
        let now = time.monotonic()
        let isThorough = rounds.thoroughAt.map { now - $0 >= Self.thoroughEvery } ?? true
        if isThorough { rounds.unsaved = [:] }
        let before = rounds.next
        let (saved, obstacle) = try await turn(&rounds, of: nil, isUrgent: isUrgent)
        if tellsAll || obstacle != nil {
            for failure in rounds.news(in: saved) { logger.warning("not saved: \(failure)") }
        }
        if !isUrgent || obstacle != nil {
            for refusal in rounds.newRefusals() { logger.warning("a restore whose progress is not told: \(refusal)") }
        }
        let hasNews =
            isThorough || obstacle != nil || before != rounds.next || saved.saved > 0 || !saved.unsaved.isEmpty
        if hasNews {
            try await announcer.run(unsaved: rounds.unsaved.mapValues(\.count))
            rounds.thoroughAt = isThorough ? now : rounds.thoroughAt
        }
        if let obstacle { throw obstacle }
        return saved
    }
}

/// Tells people that a restore job has ended, and that its copies end soon: each once, also after a restart.
package struct RestoreAnnouncer: Sendable {
    /// Copies that end within this time are told of; of short-lived ones the last quarter of their life.
    private static let expiryNotice: TimeInterval = 86_400

    private let ledger: LedgerQueue
    private let notifiers: Notifiers
    private let time: TimeSource

    package init(ledger: LedgerQueue, notifiers: Notifiers, time: TimeSource) {
        self.ledger = ledger
        self.notifiers = notifiers
        self.time = time
    }

    /// - Parameter unsaved: how many items of a job cannot be saved until somebody does something about it.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func run(unsaved: [RestoreJobID: Int] = [:]) async throws {
        let jobs = try await ledger { try $0.untoldRestoreJobs() }
        for summary in jobs {
            let unsaved = unsaved[summary.job.id] ?? 0
            if !summary.job.isAnnounced, summary.isOver(but: unsaved) { try await announceEnd(of: summary, unsaved) }
            if !summary.job.isExpiryAnnounced, let end = summary.firstUnsavedExpiry, isSoon(end, of: summary) {
                try await announceExpiry(of: summary, end)
            }
        }
    }

    private func announceEnd(of summary: RestoreJobSummary, _ unsaved: Int) async throws {
        let (job, now) = (summary.job, time.now())
        // Noted first: a notice that is lost with a crash is a smaller evil than one that comes with every restart, or
        // from each process that works on the job.
        guard try await ledger({ try $0.noteJob(job.id, finishedAt: now, announced: true) }) else { return }
        let left = summary.left(of: unsaved)
        let lost = (summary.counts[.failed] ?? 0) + left + summary.endedUnsaved
        try await notifiers.deliver(
            Notice(
                lost > 0 ? .restoreFailed : .restoreReady,
                title: lost > 0 ? "Restore \(job.id): \(lost.counted("photo")) failed" : "Restore \(job.id) is ready",
                message: summary.end(left),
                facts: [
                    "jobId": "\(job.id)", "ready": "\(summary.counts[.restored] ?? 0)",
                    "failed": "\(summary.counts[.failed] ?? 0)", "output": job.output?.string ?? "",
                ],
                at: now))
    }

    private func announceExpiry(of summary: RestoreJobSummary, _ end: Date) async throws {
        let (job, now) = (summary.job, time.now())
        guard try await ledger({ try $0.noteJob(job.id, expiryAnnounced: true) }) else { return }
        let photos = summary.readableUnsaved
        try await notifiers.deliver(
            Notice(
                .restoreExpiring, title: "Restored photos go back to the archive",
                message: """
                    \(photos.counted("photo")) of restore \(job.id) can be read until \(end.formatted(.iso8601)). \
                    Save them, or ask for longer with sync-agent restore and --days.
                    """,
                facts: ["jobId": "\(job.id)", "expiresAt": end.formatted(.iso8601), "photos": "\(photos)"], at: now))
    }

    /// - Parameter end: of a copy that is not saved: a job whose files are all saved needs no warning.
    private func isSoon(_ end: Date, of summary: RestoreJobSummary) -> Bool {
        let now = time.now()
        guard end > now else { return false }
        let life = summary.latestReadyAt.map { end.timeIntervalSince($0) } ?? .infinity
        return end.timeIntervalSince(now) <= min(Self.expiryNotice, life / 4)
    }
}

extension RestoreJobSummary {
    package var total: Int { counts.values.reduce(0, +) }

    /// Whether nothing more is to come: all is answered, and what was to be saved is.
    package var isOver: Bool { isOver(but: 0) }

    fileprivate func isOver(but unsaved: Int) -> Bool {
        let open = (counts[.planned] ?? 0) + (counts[.retrieving] ?? 0)
        return open == 0 && (job.output == nil || readableUnsaved <= unsaved)
    }

    /// How many of the items that could not be saved can still be read: the others have failed or ended since, and are
    /// told as such.
    fileprivate func left(of unsaved: Int) -> Int { min(unsaved, readableUnsaved) }

    /// What became of it, in a sentence or two.
    fileprivate func end(_ unsaved: Int) -> String {
        let readable = counts[.restored] ?? 0
        let failed = counts[.failed] ?? 0
        var parts: [String] = []
        if readable > 0 { parts.append("\(readable) of \(total.counted("photo")) can be read") }
        if let output = job.output, saved > 0 {
            let all = readable > 0 ? "" : "of \(total.counted("photo")) "
            parts.append("\(saved.counted(all + "is", all + "are")) saved in \(output)")
        }
        if let output = job.output, unsaved > 0 { parts.append("\(unsaved) could not be saved in \(output)") }
        if failed == total {
            parts.append(
                total == 1 ? "its photo could not be brought back" : "none of \(total) photos could be brought back")
        } else if failed > 0 {
            parts.append("\(failed) could not be brought back")
        }
        // Before they were saved, where they were to be, or before anybody was told of them.
        if endedUnsaved > 0 { parts.append("\(endedUnsaved.counted("copy has", "copies have")) ended already") }
        var text = parts.joined(separator: "; ")
        text = text.prefix(1).uppercased() + text.dropFirst()
        if failed + unsaved > 0 { text += ". sync-agent restores \(job.id) says why" }
        return text + "."
    }
}
