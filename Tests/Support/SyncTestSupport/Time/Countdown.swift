import SyncSystem

/// Answers `true` to exactly one of many calls: the n-th.
package final class Countdown: Sendable {
    private let number: Int
    private let calls = Lock(0)

    /// - Parameter number: which call, from 1.
    package init(_ number: Int = 1) {
        self.number = number
    }

    /// How many calls there were.
    package var count: Int { calls.withLock { $0 } }

    package var hasFired: Bool { count >= number }

    /// Counts a call.
    package func fires() -> Bool {
        calls.withLock { calls in
            calls += 1
            return calls == number
        }
    }
}
