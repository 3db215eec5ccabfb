import FoundationEssentials
import SyncCore

extension TimeSource {
    /// The clocks of this machine.
    static let system: TimeSource = {
        let start = ContinuousClock.now
        return TimeSource(
            now: { Date() },
            monotonic: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0) },
            random: { Double.random(in: 0..<1) }
        )
    }()
}
