import ArgumentParser
import Logging
import SyncConfig
import SyncCore
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
}

/// A failure whose exit code its thrower knows.
struct CommandFailure: Error, CustomStringConvertible {
    let status: ExitStatus
    let description: String

    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
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

extension ExitStatus {
    /// The one place that turns an error into an exit code.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure.status
        case is ConfigError: self = .configuration
        case is AgentLock.Held: self = .locked
        case let error as StoreError where error.operation == "configure": self = .configuration
        case let error as StoreError: self = Self.status(of: error.code)
        case let error as LedgerError: self = error.code == .readOnly ? .refused : .failed
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

extension ShareError {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .tooMany, .tooLarge, .noSuchNumber, .endsTooLate, .noGuests: .usage
        case .inOtherHands: .locked
        case .nothing, .over, .takenOver, .unseen, .sharedHere: .failed
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
