package import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem

/// What tells others how the agent is: after each whole pass, and each minute. While nobody writes to the ledger it is
/// read no more often than every ten minutes (``LedgerGlance``): what changes by itself can wait for that.
package final class MonitoringService: Service {
    private static let interval = Duration.seconds(60)

    private let file: MetricsFile?
    private let troubles: TroubleAnnouncer
    private let beat: (@Sendable () async throws -> Void)?
    private let passes: Wakeup
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let loop: ServiceLoop
    private let time: TimeSource
    private let logger: Logger
    /// Whether the last call has failed.
    private let isMute = Lock(false)

    /// - Parameters:
    ///   - beat: calls somebody to whom silence is an alarm.
    ///   - passes: signalled after each whole pass.
    package init(
        file: MetricsFile?, troubles: TroubleAnnouncer, beat: (@Sendable () async throws -> Void)?, passes: Wakeup,
        ledger: LedgerQueue, keys: KeyLayout, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.file = file
        self.troubles = troubles
        self.beat = beat
        self.passes = passes
        self.ledger = ledger
        self.keys = keys
        self.time = time
        self.logger = logger
        loop = ServiceLoop(name: "monitoring", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        // The pass that an earlier agent has ended was its own to tell.
        try await loop.run(Rounds()) { rounds in
            let next = ServiceLoop.Next.work(self.passes, atMost: Self.interval)
            if let glance = rounds.glance, await glance.isNothingNew(), try await self.isUnchanged() { return next }
            rounds.glance = nil
            let glance = await self.loop.glance()
            let pass = try await self.ledger { [self] in try PassSeen($0, keys, at: time.now()) }
            try await self.note()
            // One that nobody heard of is told with the next round.
            let isNew = rounds.seen.map { $0.endedAt != pass.endedAt } ?? false
            let isTold = isNew ? try await self.reportPass(isGood: pass.isGood) : true
            if isTold { rounds.seen = pass }
            // A store that is away is told of when it has been so for a while.
            if isTold, pass.isStoreWell { rounds.glance = glance }
            return next
        }
    }

    /// What one round leaves for the next.
    private struct Rounds: Sendable {
        var seen: PassSeen?
        /// Begun before the ledger was read; `nil` where the next round has to read it, whatever it holds.
        var glance: LedgerGlance?
    }

    /// Whether no disk tells what the ledger does not. Then the file is brought up to date without the ledger.
    private func isUnchanged() async throws -> Bool {
        if try await troubles.haveDisksChanged() { return false }
        try await file?.renew()
        return true
    }

    /// Brings the file up to date, and tells what is wrong.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func note() async throws {
        try await file?.write()
        try await troubles.run()
    }

    /// Calls whoever waits for it, when a whole pass was good. A failure is a warning, once until it succeeds.
    /// - Returns: `false` when nobody has heard.
    /// - Throws: `CancellationError`.
    @discardableResult
    package func reportPass(isGood: Bool) async throws -> Bool {
        guard isGood, let beat else { return true }
        do {
            try await beat()
            isMute.withLock { $0 = false }
            return true
        } catch  where !(error is CancellationError) {
            let wasMute = isMute.withLock { exchange(&$0, with: true) }
            if !wasMute { logger.warning("the heartbeat is not heard: \(error)") }
            return false
        }
    }
}

/// What a round knows of the last whole pass.
private struct PassSeen: Sendable {
    let endedAt: Date?
    let isGood: Bool
    let isStoreWell: Bool

    init(_ ledger: Ledger, _ keys: KeyLayout, at now: Date) throws(LedgerError) {
        let overview = try ledger.overview()
        endedAt = overview.lastSyncAt
        let isWell = try ledger.isAllWell(overview, keys, at: now)
        isStoreWell = overview.store?.error == nil
        isGood = isWell && isStoreWell
    }
}

extension Ledger {
    /// Whether a whole pass is one to hear of, for an agent and for `sync`, which looks at more: nothing has failed,
    /// nothing is lost, nothing that is stored is damaged or gone, all folders could be read, every share that is over
    /// is gone, what guests have sent is taken in, the catalogue is of this ledger or an older one, each stored object
    /// could be looked at, and of silent machines nothing was found to be damaged today.
    package func isAllWell(_ overview: Overview, _ keys: KeyLayout, at now: Date) throws(LedgerError) -> Bool {
        guard overview.totals[.failed].files == 0, overview.lost == 0, overview.broken == 0,
            overview.folders.allSatisfy({ $0.record.problem == nil })
        else { return false }
        guard try shareTroubles(at: now).isEmpty, try otherDamage(seenOn: CalendarDay(now)).isEmpty,
            try catalogStatus().problem != OlderLedger().description
        else { return false }
        return try unclearOwnObjects(keys) == 0
    }

    /// What is damaged of machines that are silent, and was looked at on a day.
    package func otherDamage(seenOn day: CalendarDay) throws(LedgerError) -> [OtherDamage] {
        try otherDamage(limit: SilentObjects.mostDamage).filter { CalendarDay($0.seenAt) == day }
    }
}
