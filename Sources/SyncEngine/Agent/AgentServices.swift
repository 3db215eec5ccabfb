import ServiceLifecycle

/// The watching half of the agent as a service: from the folders into the queue.
package struct IntakeService: Service {
    private let intake: Intake
    private let onWatching: @Sendable () async -> Void

    /// - Parameter onWatching: called once, when every change from now on will be seen; the moment of readiness.
    package init(_ intake: Intake, onWatching: @escaping @Sendable () async -> Void) {
        self.intake = intake
        self.onWatching = onWatching
    }

    package func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await intake.run(onWatching: onWatching) }
        } catch is CancellationError {
            // Whatever was not settled yet is found by the scan of the next start.
        }
    }
}

/// The storing half of the agent as a service: from the queue into the store.
package struct UploadService: Service {
    private let pipeline: PhotoPipeline
    private let patience: LedgerPatience

    package init(_ pipeline: PhotoPipeline, patience: LedgerPatience) {
        self.pipeline = pipeline
        self.patience = patience
    }

    package func run() async throws {
        do {
            try await patience.riding("uploads") { try await pipeline.run(.untilStopped) }
        } catch is CancellationError {
            // What was in hand is given back by the next start.
        }
    }
}
