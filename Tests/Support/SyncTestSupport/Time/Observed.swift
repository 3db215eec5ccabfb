import Dispatch
import SyncCore
import SyncSystem

/// A value that threads change and tests wait on.
///
/// A wait ends with the change that it waits for, so no test sleeps. It is bounded by ``Patience``: where nothing has
/// changed and nobody has worked for that long, nothing will, and the test says what it waited for.
package final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state: Lock<State>
    private let effort: @Sendable () -> Duration

    /// - Parameter effort: the processor time of whoever changes the value, so far.
    package init(_ value: Value, effort: @escaping @Sendable () -> Duration = { .zero }) {
        state = Lock(State(value: value))
        self.effort = effort
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes whoever waits.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, waiters) = state.withLock { state in
            let result = body(&state.value)
            state.version += 1
            defer { state.waiters = [:] }
            return (result, Array(state.waiters.values))
        }
        waiters.forEach { $0.resume() }
        return result
    }

    /// Waits until `look` finds something.
    /// - Parameter what: ends the sentence "… did not come about".
    /// - Throws: ``Overdue``; whatever `look` throws.
    package func wait<Found>(for what: String, _ look: (Value) throws -> Found?) async throws -> Found {
        var patience = Patience(effort: effort())
        var seen: Int?
        while true {
            let (value, version) = state.withLock { ($0.value, $0.version) }
            if let found = try look(value) { return found }
            guard patience.lasts(isChanged: version != seen, effort: effort) else {
                throw Overdue(what: what, seen: "\(value)")
            }
            seen = version
            await changeAfter(version, before: patience.deadline)
        }
    }

    /// Returns when the version is another one, or at the deadline.
    private func changeAfter(_ version: Int, before deadline: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in
            let waiter: Int? = state.withLock { state in
                guard state.version == version else { return nil }
                state.nextWaiter += 1
                state.waiters[state.nextWaiter] = continuation
                return state.nextWaiter
            }
            guard let waiter else { return continuation.resume() }
            let left = (deadline - .now) / .seconds(1)
            DispatchQueue.global().asyncAfter(deadline: .now() + max(left, 0)) { [weak self] in
                self?.state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
            }
        }
    }
}

/// How long a test waits for what has to happen: for as long as there is progress. It is over when for ``limit`` nothing
/// has changed, and nobody has had the processor for long enough to be at work rather than idle; on a busy machine that is
/// later. It is long: the next try of a photo that failed may be half a minute away, and what hangs is seldom. A run in
/// which no test ends for ten minutes is ended by `scripts/watch-tests`; before that, a test has to tell what it has seen.
package struct Patience {
    package static let limit = Duration.seconds(120)
    /// What changes for ever without getting anywhere ends here.
    private static let most = limit * 4
    /// Of processor time within ``limit``. An agent that only waits takes a few hundredths of it.
    private static let leastEffort = Duration.seconds(2)

    package private(set) var deadline = ContinuousClock.now + limit
    private let end = ContinuousClock.now + most
    private var effort: Duration

    package init(effort: Duration) {
        self.effort = effort
    }

    /// Returns when ``limit`` is over, or the task is cancelled: the other side of a race with what a test waits for.
    package static func runOut() async {
        // In pieces: on a busy machine each of them takes longer, as does what is waited for.
        for _ in 0..<100 where !Task.isCancelled { try? await Task.sleep(for: limit / 100) }
    }

    /// Whether to go on waiting.
    package mutating func lasts(isChanged: Bool, effort measure: () -> Duration) -> Bool {
        let now = ContinuousClock.now
        guard isChanged || now >= deadline else { return true }
        let effort = measure()
        guard isChanged || effort - self.effort >= Self.leastEffort else { return false }
        self.effort = effort
        deadline = min(now + Self.limit, end)
        return now < end
    }
}

/// Something did not happen in time.
package struct Overdue: Error, CustomStringConvertible {
    package var what: String
    package var seen: String

    package init(what: String, seen: String) {
        self.what = what
        self.seen = seen
    }

    package var description: String {
        "\(what) did not come about, and for \(Patience.limit) there was no progress; what there was:\n\(seen)"
    }
}
