import SyncCore
import SystemPackage

extension ScanError {
    /// What an errno of openat(2), readdir(3) or fstatat(2) means for whoever asked for `path`.
    init(_ reason: Errno, opening path: FilePath) {
        switch reason {
        case .noSuchFileOrDirectory:
            self.init(.missing, path: path, message: "it is not there; is the drive plugged in and mounted?")
        case .notDirectory, .tooManySymbolicLinkLevels:
            self.init(
                .missing, path: path, message: "it is not a folder; links inside a watched folder are not followed")
        case .permissionDenied, .notPermitted:
            self.init(
                .denied, path: path,
                message: "\(reason.description); the agent's user needs permission to read and enter it (chmod u+rx)"
            )
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            self.init(.failed, path: path, message: "\(reason.description); raise the limit of open files (ulimit -n)")
        case .ioError:
            self.init(
                .failed, path: path, message: "\(reason.description); the drive may be failing: see the kernel's log"
            )
        case .staleNFSFileHandle:
            self.init(.failed, path: path, message: "\(reason.description); mount the network folder again")
        default:
            self.init(.failed, path: path, message: "cannot be read: \(reason.description)")
        }
    }
}
