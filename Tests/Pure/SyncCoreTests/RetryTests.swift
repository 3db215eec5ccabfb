import SyncCore
import Testing

@Suite struct RetryTests {
    @Test(
        arguments: [(1, 1), (2, 2), (3, 4), (5, 16), (6, 20), (1_000, 20)])
    func `the ceiling of the delay doubles up to the policy's`(attempt: Int, seconds: Int) {
        let policy = RetryPolicy()
        #expect(policy.delay(afterAttempt: attempt, random: 1) == .seconds(seconds))
        #expect(policy.delay(afterAttempt: attempt, random: 0) == .zero)
    }

    @Test func `an empty budget ends retrying, and successes fill it again`() {
        var budget = RetryBudget(tokens: 12)
        #expect(budget.take(afterTimeout: true) == 10)
        #expect(budget.take(afterTimeout: false) == nil)
        budget.refund(lastCost: 10)
        #expect(budget.take(afterTimeout: false) == 5)
        #expect(budget.tokens == 7)
    }

    @Test func `the budget never grows beyond its capacity`() {
        var budget = RetryBudget()
        budget.refund(lastCost: nil)
        #expect(budget.tokens == RetryBudget.capacity)
    }

    @Test(
        arguments: [
            (StoreError.Code.throttled, true), (.serverFailed, true), (.timedOut, true), (.conflict, true),
            (.sourceUnreadable, true), (.sourceSilent, false),
            (.notFound, false), (.archived, false), (.accessDenied, false), (.noSpace, false), (.alreadyExists, false),
        ])
    func `only what may pass is sent again`(code: StoreError.Code, isTransient: Bool) {
        #expect(StoreError(code, operation: "put", message: "m").isTransient == isTransient)
    }
}
