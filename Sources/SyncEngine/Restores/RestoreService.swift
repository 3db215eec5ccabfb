import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger

/// Restore jobs from request to file: sent, followed, saved, announced. One round is what a command runs; as a service it
/// is the agent's part of it.
package struct RestoreService: Service {
    /// How soon a job that another process has made is seen.
    private static let interval = Duration.seconds(5)
    /// How often copies are looked through for those that end soon, and what could not be saved is tried again.
    private static let thoroughEvery = Duration.seconds(900)

    package let follower: RestorePoller
    package let delivery: RestoreDownloader
    private let announcer: RestoreAnnouncer
    private let loop: ServiceLoop
    private let time: TimeSource
    private let logger: Logger

    package init(
        follower: RestorePoller, delivery: RestoreDownloader, announcer: RestoreAnnouncer, patience: LedgerPatience,
        time: TimeSource, logger: Logger
    ) {
        self.follower = follower
        self.delivery = delivery
        self.announcer = announcer
        loop = ServiceLoop(name: "restores", interval: Self.interval, patience: patience, time: time)
        self.time = time
        self.logger = logger
    }

    /// One round over all jobs, announcements included.
    /// - Parameter isUrgent: looks at every open job whether its time has come or not.
    /// - Returns: what was saved, and what could not be, for whoever asked to tell.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`; what could not be saved is in the log then.
    @discardableResult
    package func round(isUrgent: Bool) async throws -> RestoreDownloader.Result {
        var rounds = Rounds()
        return try await work(&rounds, isUrgent: isUrgent, tellsAll: false)
    }

    /// Saves what can be read of one job now; when nothing more is to come, that is told.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func save(_ job: RestoreJobID) async throws -> RestoreDownloader.Result {
        let result = try await delivery.run(job: job)
        try await announcer.run(unsaved: result.unsaved.mapValues(\.count))
        return result
    }

    package func run() async throws {
        try await loop.run(Rounds()) { rounds in
            _ = try await work(&rounds)
            return .round(after: Self.interval)
        }
    }

    /// What one round leaves for the next.
    private struct Rounds {
        /// When a job is due to be looked at; `nil` when none is open.
        var next: Date? = .distantPast
        /// What could not be saved. It is tried again when everything is looked through.
        var unsaved: [RestoreJobID: Set<Int64>] = [:]
        var told: Set<String> = []
        /// When everything was looked through last, whether something seemed to be new or not.
        var lookedThrough: Duration?
    }

    /// Each part does what it can, whatever the store has against the others.
    /// - Parameter tellsAll: also what could not be saved, which otherwise the caller does.
    private func work(
        _ rounds: inout Rounds, isUrgent: Bool = false, tellsAll: Bool = true
    ) async throws -> RestoreDownloader.Result {
        let now = time.monotonic()
        let isThorough = rounds.lookedThrough.map { now - $0 >= Self.thoroughEvery } ?? true
        if isThorough { rounds.unsaved = [:] }
        let before = rounds.next
        var obstacle: StoreError?
        do {
            rounds.next = try await follower.step(isUrgent: isUrgent)
        } catch let error as StoreError {
            obstacle = error
        }
        var saved = RestoreDownloader.Result()
        var hasNews = isThorough || obstacle != nil || before != rounds.next
        do {
            let held = rounds.unsaved.values.reduce(into: Set()) { $0.formUnion($1) }
            let result = try await delivery.run(leavingOut: held)
            saved = result
            if tellsAll || obstacle != nil {
                for failure in result.failures where rounds.told.insert(failure).inserted {
                    logger.warning("not saved: \(failure)")
                }
            }
            rounds.unsaved.merge(result.unsaved) { $0.union($1) }
            hasNews = hasNews || result.saved > 0 || !result.unsaved.isEmpty
        } catch let error as StoreError {
            obstacle = obstacle ?? error
        }
        if hasNews {
            try await announcer.run(unsaved: rounds.unsaved.mapValues(\.count))
            rounds.lookedThrough = isThorough ? now : rounds.lookedThrough
        }
        if let obstacle { throw obstacle }
        return saved
    }
}
