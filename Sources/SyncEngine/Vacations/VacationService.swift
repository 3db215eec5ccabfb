import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger

/// ``VacationKeeper`` as a service: it looks when photos were stored, and now and then for what was renamed or deleted.
package struct VacationService: Service {
    /// How long a vacation has to stay as it is before it is stored: a folder that is being filled is stored once.
    private static let quiet = Duration.seconds(10)
    private static let interval = Duration.seconds(60)

    private let keeper: VacationKeeper
    private let work: Wakeup
    private let patience: LedgerPatience
    private let time: TimeSource
    private let logger: Logger

    /// - Parameter work: signalled when a photo is done with.
    package init(
        _ keeper: VacationKeeper, work: Wakeup, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.keeper = keeper
        self.work = work
        self.patience = patience
        self.time = time
        self.logger = logger
    }

    /// One round over all vacations, for a pass.
    /// - Throws: ``LedgerError``, `CancellationError`. What the store has against it is logged, and tried again with the
    ///   next pass.
    package func round() async throws {
        var rounds = Rounds()
        try await look(&rounds) { _ in true }
    }

    /// The same for one vacation.
    package func round(of vacation: VacationID) async throws {
        var rounds = Rounds()
        try await look(&rounds) { $0.id == vacation }
    }

    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await keep() }
        } catch is CancellationError {
            // A put is one request: it has happened or not, and the next round sees which.
        }
    }

    /// What one round leaves for the next.
    private struct Rounds {
        var seen: [VacationID: Int64] = [:]
        /// Rounds in a row in which something failed.
        var failures = 0
        var told: Set<String> = []
    }

    private func keep() async throws {
        var rounds = Rounds()
        while true {
            let seen = rounds.seen
            try await patience.riding("vacations") { try await look(&rounds) { seen[$0.id] == $0.revision } }
            if rounds.failures > 0 {
                let delay = RetryPolicy.outage.delay(afterAttempt: rounds.failures, random: 0.5 + time.random() / 2)
                try await time.sleep(max(Self.quiet, delay))
            } else if rounds.seen.isEmpty {
                await work.wait(atMost: Self.interval, time: time)
                try Task.checkCancellation()
            } else {
                try await time.sleep(Self.quiet)
            }
        }
    }

    private func look(_ rounds: inout Rounds, where isQuiet: @Sendable (VacationRecord) -> Bool) async throws {
        do {
            let result = try await keeper.run(where: isQuiet)
            rounds.seen = result.left
            rounds.failures = result.failures.isEmpty ? 0 : rounds.failures + 1
            for text in result.notes + result.failures where rounds.told.insert(text).inserted {
                logger.warning("\(text)")
            }
            if result.stored > 0 { logger.debug("\(result.stored) manifests of vacations were stored") }
        } catch let error as StoreError {
            rounds.failures += 1
            let text = "vacations wait for the store: \(error)"
            if rounds.told.insert(text).inserted { logger.warning("\(text)") }
        }
    }
}
