import ServiceLifecycle
package import SyncCore

/// What tells others how the agent is: after each whole pass, and each minute.
package struct MonitoringService: Service {
    private static let interval = Duration.seconds(60)

    private let file: MetricsFile?
    private let passes: Wakeup
    private let loop: ServiceLoop

    /// - Parameter passes: signalled after each whole pass.
    package init(file: MetricsFile?, passes: Wakeup, patience: LedgerPatience, time: TimeSource) {
        self.file = file
        self.passes = passes
        loop = ServiceLoop(name: "monitoring", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            try await round()
            return .work(passes, atMost: Self.interval)
        }
    }

    /// - Throws: ``LedgerError``, `CancellationError`.
    package func round() async throws {
        try await file?.write()
    }
}
