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
