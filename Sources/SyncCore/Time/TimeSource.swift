package import FoundationEssentials

/// The clock and the waiting, as a parameter: tests hand in a manual one.
package struct TimeSource: Sendable {
    /// The wall clock.
    package let now: @Sendable () -> Date
    /// A monotonic reading since some fixed moment; only differences mean anything.
    package let monotonic: @Sendable () -> Duration
    /// Waits; throws `CancellationError` when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void
    /// Uniform in 0..<1, for jitter.
    package let random: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> Date, monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.monotonic = monotonic
        self.sleep = sleep
        self.random = random
    }
}
