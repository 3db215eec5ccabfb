package import FoundationEssentials
package import SyncCore
import SyncSystem

/// A clock that stands still until a test moves it, and the sleepers that wait for it.
package final class ManualTime: Sendable {
    private struct Sleeper {
        var asked: Duration
        var deadline: Duration
        var wake: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed: Duration = .zero
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleeps that were cancelled before they began to wait.
        var cancelled: Set<Int> = []
        /// Woken sleepers whose tasks do not run yet, and who waits for them.
        var waking = 0
        var awake: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, notify: CheckedContinuation<Void, Never>)] = []
        /// All durations ever slept for, in order.
        var asked: [Duration] = []
    }

    private let start: Date
    private let jitter: Double
    private let state = Lock(State())

    /// - Parameters:
    ///   - start: what the clock shows first; 2026-01-01 00:00 UTC unless told.
    ///   - random: what `TimeSource.random` always answers.
    package init(start: Date = Date(timeIntervalSince1970: 1_767_225_600), random: Double = 0.5) {
        self.start = start
        jitter = random
    }

    package var source: TimeSource {
        TimeSource(
            now: { self.now }, monotonic: { self.state.withLock { $0.elapsed } },
            sleep: { try await self.sleep(for: $0) }, random: { self.jitter })
    }

    package var now: Date {
        let elapsed = state.withLock { $0.elapsed }.components
        return start.addingTimeInterval(Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18)
    }

    /// What the sleepers asked for, in the order in which they began to sleep.
    package var sleeps: [Duration] { state.withLock { $0.asked } }

    /// Moves the clock, stopping at every deadline on the way, earliest first. Returns once every woken task has come
    /// back from its sleep; what it does next may still be under way, and a new sleep that it begins counts from the
    /// moment at which it begins.
    package func advance(by duration: Duration) async {
        let target = state.withLock { $0.elapsed } + duration
        while let due = takeDue(until: target) {
            for sleeper in due { sleeper.wake.resume() }
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.waking > 0 { state.awake.append(continuation) }
                    return state.waking == 0
                }
                if isDone { continuation.resume() }
            }
        }
        state.withLock { $0.elapsed = max($0.elapsed, target) }
    }

    /// Waits until at least so many tasks sleep.
    package func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.sleepers.count < count { state.watchers.append((count, continuation)) }
                return state.sleepers.count >= count
            }
            if isDone { continuation.resume() }
        }
    }

    /// Waits until a task sleeps for so long or longer, from when it began. The clock is moved for those that sleep for
    /// less: what waits within a round, for a ledger that another process holds, is not the pause after it.
    package func waitForSleeper(ofAtLeast duration: Duration) async {
        while true {
            await waitForSleepers()
            let (isThere, next) = state.withLock { state in
                let (sleepers, elapsed) = (state.sleepers.values, state.elapsed)
                let next = sleepers.map { $0.deadline - elapsed }.min() ?? .zero
                return (sleepers.contains { $0.asked >= duration }, next)
            }
            if isThere { return }
            await advance(by: max(next, .zero))
        }
    }

    private func sleep(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            state.asked.append(duration)
            return state.nextID
        }
        guard duration > .zero else { return try Task.checkCancellation() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(id, duration, continuation)
            }
            acknowledge()
        } onCancel: {
            cancel(id)
        }
    }

    private func enter(_ id: Int, _ duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        let (wasCancelled, notified) = state.withLock { state in
            if state.cancelled.remove(id) != nil { return (true, [CheckedContinuation<Void, Never>]()) }
            state.sleepers[id] = Sleeper(
                asked: duration, deadline: state.elapsed + duration, wake: continuation)
            let count = state.sleepers.count
            let notified = state.watchers.filter { $0.count <= count }.map(\.notify)
            state.watchers.removeAll { $0.count <= count }
            return (false, notified)
        }
        if wasCancelled { continuation.resume(throwing: CancellationError()) }
        for watcher in notified { watcher.resume() }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: id)
            if sleeper == nil { state.cancelled.insert(id) }
            return sleeper
        }
        sleeper?.wake.resume(throwing: CancellationError())
    }

    /// Moves the clock to the next deadline up to `target` and takes out those who wait for it.
    private func takeDue(until target: Duration) -> [Sleeper]? {
        state.withLock { state in
            guard let next = state.sleepers.values.map(\.deadline).min(), next <= target else { return nil }
            state.elapsed = max(state.elapsed, next)
            let due = state.sleepers.filter { $0.value.deadline <= next }.sorted { $0.key < $1.key }
            for (id, _) in due { state.sleepers[id] = nil }
            state.waking += due.count
            return due.map(\.value)
        }
    }

    private func acknowledge() {
        let waiting = state.withLock { state in
            state.waking -= 1
            guard state.waking == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.awake = [] }
            return state.awake
        }
        for continuation in waiting { continuation.resume() }
    }
}
