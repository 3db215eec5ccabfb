import ArgumentParser
import Glibc
import Logging
import ServiceLifecycle
import SyncConfig
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage
import UnixSignals

/// The exit codes of the program. Numbers above 63 are those of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// Some items failed; each was named.
    case partlyDone = 3
    case usage = 64
    case noSuchPath = 66
    case storeUnreachable = 69
    case locked = 75
    case refused = 77
    case configuration = 78
    /// Ended by SIGINT, and by SIGTERM: what a shell tells of a program that such a signal has killed (128 and its number).
    case interrupted = 130
    case terminated = 143

    init(endedBy signal: UnixSignal) { self = signal == .sigterm ? .terminated : .interrupted }

    var code: ExitCode { ExitCode(rawValue) }

    /// The one place that turns an error into an exit code.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure.status
        case is ConfigError: self = .configuration
        case is AgentLock.Held: self = .locked
        case let error as StoreError where error.operation == "configure": self = .configuration
        case let error as StoreError: self = Self.status(of: error.code)
        case let error as LedgerError: self = Self.status(of: error.code)
        case let error as DownloadError where error.code == .inUse: self = .locked
        case let error as DownloadError: self = error.code == .notAllowed ? .refused : .failed
        case let error as FolderError: self = [.notAllowed, .readOnly].contains(error.code) ? .refused : .failed
        case let error as ZipError where error.code == .inUse: self = .locked
        case let error as ZipError: self = error.code == .notAllowed ? .refused : .failed
        case is VacationLookupError: self = .noSuchPath
        case let error as ShareError: self = error.exitStatus
        case let error as MirrorError: self = error.exitStatus
        case is ShareReference.Invalid: self = .usage
        case let error as ScanError: self = error.code == .missing ? .noSuchPath : .failed
        default: self = .failed
        }
    }

    private static func status(of code: LedgerError.Code) -> ExitStatus {
        switch code {
        case .notAllowed, .readOnly: .refused
        // Started again, the same program would end the same way: the units do not try.
        case .newerSchema: .configuration
        case .unreadable, .noSpace, .damaged, .moved, .busy, .failed: .failed
        }
    }

    private static func status(of code: StoreError.Code) -> ExitStatus {
        switch code {
        case .accessDenied, .credentialsMissing, .credentialsRejected: .refused
        case .unreachable, .timedOut, .connectionLost, .throttled, .serverFailed, .storeMissing, .noSpace, .wrongRegion,
            .clockSkew:
            .storeUnreachable
        case .settingRefused: .configuration
        default: .failed
        }
    }
}

/// A failure whose exit code its thrower knows.
struct CommandFailure: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) { (self.status, self.description) = (status, description) }

    static func failed(_ description: String) -> Self { Self(.failed, description) }
    static func usage(_ description: String) -> Self { Self(.usage, description) }
    static func noSuchPath(_ description: String) -> Self { Self(.noSuchPath, description) }
    static func refused(_ description: String) -> Self { Self(.refused, description) }
    static func configuration(_ description: String) -> Self { Self(.configuration, description) }

    /// Why no digest can be made; `nil` where one can be. It opens libcrypto.
    static var ofDigests: CommandFailure? {
        DigestLibrary.missing.map { CommandFailure.failed("\($0.escapingControls); install OpenSSL 3 again") }
    }

    /// Of a file that cannot be made or written.
    /// - Parameters:
    ///   - place: which it is, and what was to become of it.
    ///   - remedy: as ``FileFault`` tells it.
    ///   - rest: what is to be known besides.
    init(_ error: Errno, at place: String, or remedy: String, _ rest: String = "") {
        self.init(
            error.isRefusal || error == .readOnlyFileSystem ? .refused : .failed,
            "\(place): \(FileFault(error, or: remedy).message)\(rest)")
    }
}

/// Runs `body`. Where the store fails it, its error gets a sentence about what has become of the work.
/// - Throws: ``CommandFailure`` then, with the exit code of that error; else what `body` throws.
func withStoreErrors<Value>(adding rest: String, _ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as StoreError {
        throw CommandFailure(ExitStatus(error), "\(error). \(rest)")
    }
}

extension ShareError {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .tooMany, .tooLarge, .noSuchNumber, .endsTooLate, .noGuests: .usage
        case .inOtherHands: .locked
        case .nothing, .over, .takenOver, .unseen, .sharedHere, .storeMoved: .failed
        }
    }
}

extension MirrorError {
    fileprivate var exitStatus: ExitStatus {
        switch code {
        case .inUse: .locked
        case .notAllowed: .refused
        case .otherShare, .newerState, .notAFolder, .lost: .failed
        }
    }
}

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
    /// - Parameter ending: what one that has done its work does to the others.
    /// - Returns: the first signal that asked, `nil` when none did.
    @discardableResult
    static func run(
        _ services: [any Service],
        ending: ServiceGroupConfiguration.ServiceConfiguration.TerminationBehavior = .cancelGroup,
        logger: Logger
    ) async throws -> UnixSignal? {
        // The group's own words are for whoever debugs it.
        var quiet = logger
        quiet.logLevel = .error
        // One without a name is called by all that it holds, as reflection finds it: that took longer than a short pass.
        let named = services.map {
            ServiceGroupConfiguration.ServiceConfiguration(
                service: $0, successTerminationBehavior: ending, serviceName: "\(type(of: $0))")
        }
        var configuration = ServiceGroupConfiguration(services: named, gracefulShutdownSignals: [], logger: quiet)
        // systemd kills after 90 s by default; what is still in flight by then is sent again at the next start.
        configuration.maximumGracefulShutdownDuration = .seconds(75)
        let lastResort = UInt32(85)
        let group = ServiceGroup(configuration: configuration)
        // Waited for here, because the group does not tell which of them came. They stay caught to the end: a second one
        // changes nothing.
        let signals = await UnixSignalsSequence(trapping: [.sigterm, .sigint])
        return try await withThrowingTaskGroup(of: UnixSignal?.self) { tasks in
            let first = Lock<UnixSignal?>(nil)
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
                    guard isFirst else { continue }
                    endProcess(after: lastResort, by: signal, logger)
                    await group.triggerGracefulShutdown()
                }
                // It ends when the group has ended, which cancels it.
                throw CancellationError()
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? nil
        }
    }

    /// A disk that does not answer may hold threads that cannot be ended from within, and are waited for. What is to be
    /// kept is on the disk at every moment: the ledger and the store are whole after a kill, too.
    private static func endProcess(after seconds: UInt32, by signal: UnixSignal, _ logger: Logger) {
        _ = try? OwnedThread.start(name: "last-resort") {
            sleep(seconds)
            logger.error(
                """
                the end was asked for \(seconds) s ago, and some work still waits for a disk, or a server, that does \
                not answer. It is left as it is; the next start goes on with it
                """)
            _exit(ExitStatus(endedBy: signal).rawValue)
        }
    }
}
