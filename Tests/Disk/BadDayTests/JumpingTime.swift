import FoundationEssentials
import SyncCore
import SyncSystem

/// A clock on which nobody waits: whoever sleeps moves it on by as much and goes on at once. A day of retries is over as
/// soon as the requests are answered.
final class JumpingTime: Sendable {
    private let start: Date
    private let elapsed = Lock(Duration.zero)

    /// - Parameter start: 2026-01-01 00:00 UTC unless told.
    init(start: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        self.start = start
    }

    var source: TimeSource {
        TimeSource(
            now: { self.start.addingTimeInterval(self.slept / .seconds(1)) }, monotonic: { self.slept },
            sleep: { duration in
                try Task.checkCancellation()
                self.elapsed.withLock { $0 += duration }
            },
            random: { 0.5 })
    }

    /// By all sleepers together.
    var slept: Duration { elapsed.withLock { $0 } }
}
