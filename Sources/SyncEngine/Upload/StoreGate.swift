package import SyncCore

/// Holds the queue back while the store as a whole is away, and lets it go on by itself.
///
/// Photos are not to blame for an outage, so none of them loses a try to it: the first failure closes the gate, and from
/// then on one cheap check after each backoff decides when it opens.
package final class StoreGate: Sendable {
    private struct State {
        var failures = 0
        var error: StoreError?
    }

    private let state = Mutex(State())
    private let policy: RetryPolicy
    private let time: TimeSource

    package init(policy: RetryPolicy = .outage, time: TimeSource) {
        self.policy = policy
        self.time = time
    }

    /// The store has taken something: the next outage begins with a short pause again. A check that succeeds does not
    /// prove as much (a full disk answers well to everything but a put).
    package func noteSuccess() {
        state.withLock { $0.failures = 0 }
    }

    /// Why the gate is closed; `nil` while it is open.
    package var closedBy: StoreError? { state.withLock { $0.error } }

    /// Closes the gate.
    /// - Returns: whether it was open before: the one moment to tell somebody.
    package func close(_ error: StoreError) -> Bool {
        state.withLock { state in
            let wasOpen = state.error == nil
            state.error = error
            return wasOpen
        }
    }

    /// Returns when the gate is open: at once, or after `check` has succeeded.
    /// - Returns: whether it had to be opened: the one moment to tell somebody.
    /// - Throws: `CancellationError`.
    package func pass(check: () async throws -> Void) async throws -> Bool {
        guard closedBy != nil else { return false }
        while closedBy != nil {
            let failures = state.withLock { state in
                state.failures += 1
                return state.failures
            }
            // Between half the backoff and the whole of it: never at once, never all agents together.
            try await time.sleep(policy.delay(afterAttempt: failures, random: 0.5 + time.random() / 2))
            do {
                try await check()
                state.withLock { $0.error = nil }
            } catch let error as StoreError {
                state.withLock { $0.error = error }
            }
        }
        return true
    }
}
