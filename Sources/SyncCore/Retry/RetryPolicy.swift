/// How often and how soon a request is sent again: exponential backoff with full jitter.
///
/// Source: the standard retry mode of the AWS SDKs (SDKs and Tools Reference Guide, "Retry behavior").
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts in all, the first included.
    package var maximumAttempts: Int
    package var base: Duration
    package var ceiling: Duration

    package init(maximumAttempts: Int = 3, base: Duration = .seconds(1), ceiling: Duration = .seconds(20)) {
        self.maximumAttempts = maximumAttempts
        self.base = base
        self.ceiling = ceiling
    }

    /// How long to wait after a failed attempt.
    /// - Parameters:
    ///   - attempt: the attempt that failed, from 1.
    ///   - random: uniform in 0..<1; the jitter.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        let doublings = min(max(attempt - 1, 0), 30)
        return min(base * (1 << doublings), ceiling) * random
    }

    /// For a photo whose upload failed for now: from half a minute to an hour, for ever.
    package static let queue = RetryPolicy(maximumAttempts: .max, base: .seconds(30), ceiling: .seconds(3_600))
    /// No photo waits longer for its next try. A moment in the ledger that is further away is of a clock that was wrong.
    package static let longestPause = Duration.seconds(86_400)
    /// From this attempt on an hour is too often: what a server has refused so many times it will refuse again.
    private static let manyAttempts = 10

    /// How long a photo waits that a server has refused: as ``queue``, and after ten attempts up to a day.
    package static func pause(afterRefusal attempt: Int, random: Double) -> Duration {
        guard attempt > manyAttempts else { return queue.delay(afterAttempt: attempt, random: random) }
        return min(queue.ceiling * (1 << min(attempt - manyAttempts, 5)), longestPause) * random
    }
    /// For the queue as a whole while the store is away: from a second to five minutes, for ever.
    package static let outage = RetryPolicy(maximumAttempts: .max, base: .seconds(1), ceiling: .seconds(300))
}

/// A token bucket that stops a client from retrying into an outage: when it is empty, a failure is final.
///
/// Figures of the AWS SDKs' standard mode (botocore, `retries/quota.py`): 500 tokens; a retry costs 5, after a timeout
/// 10; a success gives back what its last retry cost, or 1.
package struct RetryBudget: Hashable, Sendable {
    package static let capacity = 500
    package static let retryCost = 5
    package static let timeoutCost = 10

    package private(set) var tokens: Int

    package init(tokens: Int = RetryBudget.capacity) {
        self.tokens = tokens
    }

    /// Takes the cost of one retry. `nil` when there is not enough left: do not retry.
    package mutating func take(afterTimeout: Bool) -> Int? {
        let cost = afterTimeout ? Self.timeoutCost : Self.retryCost
        guard tokens >= cost else { return nil }
        tokens -= cost
        return cost
    }

    /// Notes a success.
    /// - Parameter lastCost: what the retry that led to it had cost; `nil` when it succeeded at once.
    package mutating func refund(lastCost: Int?) {
        tokens = min(tokens + (lastCost ?? 1), Self.capacity)
    }
}
