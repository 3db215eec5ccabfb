import Logging
import ServiceLifecycle
import SyncCore
import SyncLedger

/// The one loop of the services that look now and then: a round, a pause, the next round, until the agent is told to stop.
/// What one of them survives, all survive: a ledger that is away (``LedgerPatience``), and a store that is away, with
/// longer and longer pauses.
///
/// A round may be cancelled at any moment: what it has begun is in the ledger or is seen by the next one, also after a
/// start.
struct ServiceLoop: Sendable {
    /// What comes after a round.
    enum Next: Sendable {
        case round(after: Duration)
        /// As soon as there is work, and after so long at the latest.
        case work(Wakeup, atMost: Duration)
        /// The round has to be made up: the longer, the more of them in a row.
        case retry(atLeast: Duration, atMost: Duration = .seconds(86_400))
    }

    /// For the log: `restores`.
    let name: String
    /// The least pause after a round that the store has failed.
    let interval: Duration
    let patience: LedgerPatience
    let time: TimeSource

    /// - Parameters:
    ///   - state: what the first round begins with, and each one leaves for the next.
    ///   - round: throws ``StoreError`` when the store is away.
    func run<State: Sendable>(
        _ state: State, _ round: @escaping @Sendable (inout State) async throws -> Next
    ) async throws {
        do {
            try await cancelWhenGracefulShutdown {
                var state = state
                var failures = 0
                while true {
                    let next = try await self.next { try await round(&state) }
                    if case .retry = next { failures += 1 } else { failures = 0 }
                    try await self.pause(next, failures)
                }
            }
        } catch is CancellationError {
            // Told to stop.
        }
    }

    /// For rounds that leave nothing for the next one.
    func run(_ round: @escaping @Sendable () async throws -> Next) async throws {
        try await run(()) { _ in try await round() }
    }

    private func next(_ round: () async throws -> Next) async throws -> Next {
        do {
            return try await patience.riding(name, round)
        } catch let error as StoreError {
            patience.logger.debug("\(name) wait for the store: \(error)")
            return .retry(atLeast: interval)
        }
    }

    private func pause(_ next: Next, _ failures: Int) async throws {
        switch next {
        case .round(let duration):
            try await time.sleep(duration)
        case .work(let wakeup, let longest):
            await wakeup.wait(atMost: longest, time: time)
            try Task.checkCancellation()
        case .retry(let shortest, let longest):
            let delay = RetryPolicy.outage.delay(afterAttempt: failures, random: 0.5 + time.random() / 2)
            try await time.sleep(min(max(shortest, delay), longest))
        }
    }
}
