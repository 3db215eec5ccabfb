import Logging
import ServiceLifecycle
import UnixSignals

/// How work ended that a person may interrupt.
enum Interruptible<Value: Sendable>: Sendable {
    case done(Value)
    /// With what the work came to all the same, when it was told to stop.
    case interrupted(Value?)

    /// Runs `body`, and cancels it when the process is asked to end. It is waited for in any case.
    /// - Throws: what `body` throws before it is interrupted.
    static func run(
        until signals: UnixSignal..., body: @escaping @Sendable () async throws -> Value
    ) async throws -> Self {
        let signals = await UnixSignalsSequence(trapping: signals)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                for await _ in signals { return nil }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return .done(value) }
            group.cancelAll()
            return .interrupted(try? await group.next() ?? nil)
        }
    }
}

extension ServiceGroup {
    /// Runs services until one ends the group or the process is asked to end; they are stopped from the last to the first.
    static func run(
        _ services: [ServiceGroupConfiguration.ServiceConfiguration], logger: Logger
    ) async throws {
        // The group's own words are for whoever debugs it.
        var quiet = logger
        quiet.logLevel = .error
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        // systemd kills after 90 s by default; what is still in flight by then is sent again at the next start.
        configuration.maximumGracefulShutdownDuration = .seconds(75)
        try await ServiceGroup(configuration: configuration).run()
    }
}
