import Foundation
import SyncCore

/// A value that threads change and tests wait on.
///
/// A wait ends with the change that it waits for, so no test sleeps. It is bounded: what has not come about within
/// ``Patience/limit`` will not, and the test says what it waited for.
final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes whoever waits.
    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
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
    func wait<Found>(for what: String, _ look: (Value) throws -> Found?) async throws -> Found {
        let deadline = ContinuousClock.now + Patience.limit
        while true {
            let (value, version) = state.withLock { ($0.value, $0.version) }
            if let found = try look(value) { return found }
            guard ContinuousClock.now < deadline else { throw Overdue(what: what, seen: "\(value)") }
            await changeAfter(version, before: deadline)
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

/// How long a test waits for what has to happen. It is far more than any of it takes, so that a loaded machine fails no
/// test.
enum Patience {
    static let limit = Duration.seconds(30)
}

/// Something did not happen in time.
struct Overdue: Error, CustomStringConvertible {
    var what: String
    var seen: String

    var description: String { "within \(Patience.limit) \(what) did not come about; what there was:\n\(seen)" }
}
