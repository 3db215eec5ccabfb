import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem

/// What tells others how the agent is: after each whole pass, and each minute.
package final class MonitoringService: Service {
    private static let interval = Duration.seconds(60)

    private let file: MetricsFile?
    private let troubles: TroubleAnnouncer
    private let beat: (@Sendable () async throws -> Void)?
    private let passes: Wakeup
    private let ledger: LedgerQueue
    private let loop: ServiceLoop
    private let logger: Logger
    /// Whether the last call has failed.
    private let isMute = Mutex(false)

    /// - Parameters:
    ///   - beat: calls somebody to whom silence is an alarm.
    ///   - passes: signalled after each whole pass.
    package init(
        file: MetricsFile?, troubles: TroubleAnnouncer, beat: (@Sendable () async throws -> Void)?, passes: Wakeup,
        ledger: LedgerQueue, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.file = file
        self.troubles = troubles
        self.beat = beat
        self.passes = passes
        self.ledger = ledger
        self.logger = logger
        loop = ServiceLoop(name: "monitoring", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        // The pass that an earlier agent has ended was its own to tell.
        try await loop.run(nil as PassSeen?) { seen in
            let pass = try await self.ledger { try PassSeen($0) }
            try await self.note()
            // One that nobody heard of is told with the next round.
            let isNew = seen.map { $0.endedAt != pass.endedAt } ?? false
            let isTold = isNew ? try await self.tellPass(isGood: pass.isGood) : true
            if isTold { seen = pass }
            return .work(self.passes, atMost: Self.interval)
        }
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
    package func tellPass(isGood: Bool) async throws -> Bool {
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
    /// Whether nothing has failed, nothing is lost, all folders could be read, and every share that is over is gone.
    let isGood: Bool

    init(_ ledger: Ledger) throws(LedgerError) {
        let overview = try ledger.overview()
        let troubles = try ledger.shareTroubles()
        endedAt = overview.lastSyncAt
        isGood =
            overview.totals[.failed].files == 0 && overview.lost == 0 && overview.store?.error == nil
            && overview.folders.allSatisfy { $0.record.problem == nil } && troubles.isEmpty
    }
}
