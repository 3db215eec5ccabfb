import Logging
import ServiceLifecycle
import SyncSystem
import UnixSignals

/// How work ended that a person may interrupt.
enum Interruptible<Value: Sendable>: Sendable {
    case done(Value)
    /// By what, and with what the work came to all the same, when it was told to stop.
    case interrupted(UnixSignal, Value?)

    /// Runs `body`, and cancels it when the process is asked to end. It is waited for in any case.
    /// - Throws: what `body` throws before it is interrupted.
    static func run(
        until signals: UnixSignal..., body: @escaping @Sendable () async throws -> Value
    ) async throws -> Self {
        let signals = await UnixSignalsSequence(trapping: signals)
        return try await withThrowingTaskGroup(of: Step.self) { group in
            group.addTask { .done(try await body()) }
            group.addTask {
                for await signal in signals { return .told(signal) }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            let signal: UnixSignal
            switch try await group.next() {
            case .done(let value): return .done(value)
            case .told(let told): signal = told
            case nil: throw CancellationError()
            }
            group.cancelAll()
            guard case .done(let value) = try? await group.next() else { return .interrupted(signal, nil) }
            return .interrupted(signal, value)
        }
    }

    private enum Step: Sendable {
        case done(Value)
        case told(UnixSignal)
    }
}

extension ServiceGroup {
    /// Runs services until one ends the group or the process is asked to end; they are stopped from the last to the first.
    /// - Returns: the first signal that asked, `nil` when none did.
    @discardableResult
    static func run(
        _ services: [ServiceGroupConfiguration.ServiceConfiguration], logger: Logger
    ) async throws -> UnixSignal? {
        // The group's own words are for whoever debugs it.
        var quiet = logger
        quiet.logLevel = .error
        var configuration = ServiceGroupConfiguration(services: services, gracefulShutdownSignals: [], logger: quiet)
        // systemd kills after 90 s by default; what is still in flight by then is sent again at the next start.
        configuration.maximumGracefulShutdownDuration = .seconds(75)
        let group = ServiceGroup(configuration: configuration)
        // Waited for here, because the group does not tell which of them came. They stay caught to the end: a second one
        // changes nothing.
        let signals = await UnixSignalsSequence(trapping: [.sigterm, .sigint])
        return try await withThrowingTaskGroup(of: UnixSignal?.self) { tasks in
            let first = Mutex<UnixSignal?>(nil)
            tasks.addTask {
                try await group.run()
                return first.withLock { $0 }
            }
            tasks.addTask {
                for await signal in signals {
                    let isFirst = first.withLock { first in
                        defer { first = first ?? signal }
                        return first == nil
                    }
                    if isFirst { await group.triggerGracefulShutdown() }
                }
                // It ends when the group has ended, which cancels it.
                throw CancellationError()
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? nil
        }
    }
}
