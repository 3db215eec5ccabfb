import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger

/// ``VacationManifestSync`` as a service: it looks when photos were stored, and now and then for what was renamed or deleted.
package struct VacationService: Service {
    /// How long a vacation has to stay as it is before it is stored: a folder that is being filled is stored once.
    private static let quiet = Duration.seconds(10)
    private static let interval = Duration.seconds(60)

    private let keeper: VacationManifestSync
    private let work: Wakeup
    private let loop: ServiceLoop
    private let logger: Logger

    /// - Parameter work: signalled when a photo is done with.
    package init(
        _ keeper: VacationManifestSync, work: Wakeup, patience: LedgerPatience, time: TimeSource, logger: Logger
    ) {
        self.keeper = keeper
        self.work = work
        loop = ServiceLoop(name: "vacations", interval: Self.quiet, patience: patience, time: time)
        self.logger = logger
    }

    /// One round over all vacations, for a pass.
    /// - Throws: ``LedgerError``, `CancellationError`. What the store has against it is logged, and tried again with the
    ///   next pass.
    package func round() async throws {
        var rounds = Rounds()
        try await look(&rounds, where: { _ in true })
    }

    /// The same for one vacation.
    package func round(of vacation: VacationID) async throws {
        var rounds = Rounds()
        try await look(&rounds, where: { $0.id == vacation })
    }

    package func run() async throws {
        try await loop.run(Rounds()) { rounds in
            let seen = rounds.seen
            guard try await look(&rounds, where: { seen[$0.id] == $0.revision }) else {
                return .retry(atLeast: Self.quiet)
            }
            return rounds.seen.isEmpty ? .work(work, atMost: Self.interval) : .round(after: Self.quiet)
        }
    }

    /// What one round leaves for the next.
    private struct Rounds {
        var seen: [VacationID: Int64] = [:]
        var told: Set<String> = []
    }

    /// - Returns: whether nothing failed.
    @discardableResult
    private func look(
        _ rounds: inout Rounds, where isQuiet: @Sendable (VacationRecord) -> Bool
    ) async throws -> Bool {
        do {
            let result = try await keeper.run(where: isQuiet)
            rounds.seen = result.left
            for text in result.notes + result.failures where rounds.told.insert(text).inserted {
                logger.warning("\(text)")
            }
            if result.stored > 0 { logger.debug("\(result.stored) manifests of vacations were stored") }
            return result.failures.isEmpty
        } catch let error as StoreError {
            let text = "vacations wait for the store: \(error)"
            if rounds.told.insert(text).inserted { logger.warning("\(text)") }
            return false
        }
    }
}
