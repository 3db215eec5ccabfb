import FoundationEssentials
import SyncCore
import SyncSystem

/// The wall clock of a home, which may be set, and a time that only goes on. Whoever sleeps moves both at once: a month
/// takes no longer than what is done in it.
final class LifeClock: Sendable {
    private struct State {
        var wall: Date
        var elapsed = Duration.zero
    }

    private let state = Lock(State(wall: Date(timeIntervalSince1970: 1_767_225_600)))

    var now: Date { state.withLock { $0.wall } }
    var elapsed: Duration { state.withLock { $0.elapsed } }

    func advance(by duration: Duration) {
        state.withLock { state in
            state.wall += duration / .seconds(1)
            state.elapsed += duration
        }
    }

    /// Somebody sets the wall clock; no time goes by.
    func jump(by seconds: TimeInterval) { state.withLock { $0.wall += seconds } }

    /// For what is done every few seconds beside the work: that takes no time here, and so it never comes to it.
    var standing: TimeSource {
        TimeSource(
            now: { self.now }, monotonic: { self.elapsed },
            sleep: { _ in try await Task.sleep(for: .seconds(86_400)) }, random: { 0.5 })
    }

    /// - Parameter isAlive: of the process that it is for: a dead one never wakes up, which ends its tasks here.
    func source(isAlive: @escaping @Sendable () -> Bool) -> TimeSource {
        TimeSource(
            now: { self.now }, monotonic: { self.elapsed },
            sleep: { duration in
                try Task.checkCancellation()
                guard isAlive() else { throw CancellationError() }
                self.advance(by: duration)
                await Task.yield()
            }, random: { 0.5 })
    }
}
