package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem

/// What the agent does while its ledger cannot be used: a full disk, a drive that fails, another process that writes for
/// long. The one home of it, for all services: each goes on with its work when the ledger can be written again, and it is
/// told once, with the remedy, however many of them meet it.
///
/// Nothing is lost meanwhile. What was in hand is in hand still or begins anew; what was not written down is found again,
/// by the scan with which the intake goes on.
package final class LedgerPatience: Sendable {
    /// From a second to half a minute: a look at the ledger costs nothing.
    private static let pauses = RetryPolicy(maximumAttempts: .max, base: .seconds(1), ceiling: .seconds(30))
    /// What goes well for so long was no part of the trouble before.
    private static let calm = Duration.seconds(60)
    /// A ledger that comes and goes is not told of more often.
    private static let quiet = Duration.seconds(600)
    /// Another process may write for some seconds; that is nothing to tell.
    private static let busyAttempts = 3

    private struct State {
        var isAway = false
        var isTold = false
        var toldAt: Duration?
    }

    private let ledger: LedgerQueue
    private let time: TimeSource
    let logger: Logger
    private let state = Mutex(State())

    package init(ledger: LedgerQueue, time: TimeSource, logger: Logger) {
        self.ledger = ledger
        self.time = time
        self.logger = logger
    }

    /// Runs `work`; when the ledger fails it, waits until the ledger can be written, and runs it again.
    /// - Parameter what: what waits, for the log: `uploads`.
    /// - Throws: what `work` throws, but ``LedgerError`` that may pass; `CancellationError`, also when the agent is told
    ///   to stop while the ledger is away.
    package func riding<Value>(
        _ what: String, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Value
    ) async throws -> Value {
        var failures = 0
        while true {
            let start = time.monotonic()
            do {
                return try await work()
            } catch let error as LedgerError where error.mayPass {
                try Task.checkCancellation()
                failures = time.monotonic() - start >= Self.calm ? 1 : failures + 1
                tell(error, what, failures)
                failures = try await waitForLedger(failures)
            }
        }
    }

    /// - Returns: how often it was found to be away by now.
    private func waitForLedger(_ failures: Int) async throws -> Int {
        try await cancelWhenGracefulShutdown {
            var failures = failures
            while true {
                try await self.time.sleep(
                    Self.pauses.delay(afterAttempt: failures, random: 0.5 + self.time.random() / 2))
                do {
                    try await self.ledger { try $0.checkWritable() }
                    self.tellBack()
                    return failures
                } catch let error as LedgerError where error.mayPass {
                    failures += 1
                    self.logger.debug("\(error)")
                }
            }
        }
    }

    private func tell(_ error: LedgerError, _ what: String, _ failures: Int) {
        if error.code == .busy, failures < Self.busyAttempts {
            return logger.debug("\(what): the ledger is busy: \(error)")
        }
        let now = time.monotonic()
        let isNews = state.withLock { state in
            if state.isAway { return false }
            state.isAway = true
            if let last = state.toldAt, now - last < Self.quiet { return false }
            state.isTold = true
            state.toldAt = now
            return true
        }
        guard isNews else { return logger.debug("\(what): \(error)") }
        logger.warning(
            """
            the ledger cannot be used, \(what) and all else wait: \(error). What is in the folders is not lost; the agent \
            goes on by itself as soon as it can
            """)
    }

    private func tellBack() {
        let isNews = state.withLock { state in
            defer { (state.isAway, state.isTold) = (false, false) }
            return state.isTold
        }
        if isNews { logger.notice("the ledger can be written again, the agent goes on") }
    }
}
