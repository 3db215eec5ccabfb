package import Logging
import ServiceLifecycle
package import SyncCore
import SystemPackage

/// ``OriginalKeeper`` as a service: whenever nothing else waits.
package struct OriginalService: Service {
    /// A look at the ledger costs a seek in an index.
    private static let interval = Duration.seconds(5)
    /// While some could not be kept: each look meets all of them.
    private static let afterFailure = Duration.seconds(60)

    private let keeper: OriginalKeeper
    private let loop: ServiceLoop
    private let logger: Logger

    package init(_ keeper: OriginalKeeper, patience: LedgerPatience, time: TimeSource, logger: Logger) {
        self.keeper = keeper
        self.logger = logger
        loop = ServiceLoop(name: "originals", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            let result = try await keeper.run()
            result.tell(logger)
            let isAnyLeft = result.failed + result.resting > 0 && !result.isInterrupted
            return .round(after: isAnyLeft ? Self.afterFailure : Self.interval)
        }
    }
}

extension OriginalKeeper.Summary {
    private static let failuresTold = 10

    package func tell(_ logger: Logger) {
        if kept > 0 { logger.notice("kept: \(kept.counted("original"))") }
        for failure in failures.prefix(Self.failuresTold) {
            logger.warning("its original is not kept yet: \(failure.file.string.escapingControls): \(failure.reason)")
        }
        if failed > Self.failuresTold { logger.warning("not kept yet: \(failed.counted("original"))") }
    }
}
