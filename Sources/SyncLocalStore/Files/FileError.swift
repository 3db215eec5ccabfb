package import SyncCore
import SyncSystem
package import SystemPackage

/// A failed file call: which one, on what, and why. Every errno becomes a ``StoreError`` in this file.
package struct FileError: Error {
    package var call: String
    package var path: FilePath
    package var errno: Errno

    package init(call: String, path: FilePath, errno: Errno) {
        self.call = call
        self.path = path
        self.errno = errno
    }

    /// Nothing is there, or not where the path says.
    var isMissing: Bool { errno == .noSuchFileOrDirectory || errno == .notDirectory }

    /// Too little of what the process or the machine has: it is not about the file.
    var isOfThisProcess: Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(errno)
    }

    var isReadOnly: Bool {
        errno == .readOnlyFileSystem || errno == .permissionDenied || errno == .notPermitted
    }
}

extension StoreError {
    package init(_ error: FileError, operation: String, key: String?) {
        let fault = FileFault(error.errno, or: "move the store to a larger disk")
        let (code, step): (StoreError.Code, String) =
            switch error.errno {
            case .noSpace, .diskQuotaExceeded: (.noSpace, fault.message)
            case .fileTooLarge: (.tooLarge, fault.message)
            case .permissionDenied, .notPermitted:
                (.accessDenied, "no permission: give the user that runs sync-agent access to it")
            case .readOnlyFileSystem:
                (.accessDenied, "the disk is mounted read-only: look for disk errors in dmesg, then remount it")
            case .fileNameTooLong:
                (.invalidRequest, "the name is too long for this file system")
            case .noSuchFileOrDirectory, .notDirectory:
                (.storeMissing, "it is gone: mount the disk that holds the store, or correct store.path")
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
                (.serverFailed, "too many files are open: raise the limit (ulimit -n)")
            default: (.serverFailed, fault.message)
            }
        self.init(
            code, operation: operation, key: key, message: "\(error.path.string.escapingControls): \(step)",
            detail: "\(error.call): \(error.errno.description.lowercased())")
    }
}
