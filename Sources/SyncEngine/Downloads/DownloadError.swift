import SyncCore
package import SystemPackage

/// Why a download failed on this side. What the store has against it is a `StoreError`.
package struct DownloadError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case noSpace, tooLarge, folderMissing, notAllowed, nameTaken, ioFailed
        /// Another process, or another task of this one, downloads the same file.
        case inUse
    }

    package var code: Code
    package var path: FilePath
    /// The reason, and the next step.
    package var message: String

    package init(_ code: Code, _ path: FilePath, _ message: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// Whether the next file would meet the same.
    package var concernsAll: Bool { code == .noSpace }

    package var description: String { "\(path.string.escapingControls): \(message)" }
}

extension DownloadError {
    /// The one place where an errno gets its meaning.
    package init(_ errno: Errno, _ path: FilePath) {
        let (code, message): (Code, String) =
            switch errno {
            case .noSpace: (.noSpace, "the disk is full; free some space, or name another folder")
            case .diskQuotaExceeded:
                (.noSpace, "your disk quota is used up; free some space, or name another folder")
            case .fileTooLarge:
                (.tooLarge, "the file system or the file size limit (ulimit -f) does not take a file of this size")
            case .noSuchFileOrDirectory, .notDirectory:
                (.folderMissing, "its folder is not there; make it, or mount its disk")
            case .permissionDenied, .notPermitted:
                (.notAllowed, "no permission to write there; change the owner or mode of the folder")
            case .readOnlyFileSystem:
                (.notAllowed, "the disk is mounted read-only; look into dmesg, or name another folder")
            case .fileExists, .isDirectory, .directoryNotEmpty:
                (.nameTaken, "something else has this name; move it away")
            case .ioError: (.ioFailed, "the disk reports an error; look into dmesg, and check the disk")
            default: (.ioFailed, "\(errno)")
            }
        self.init(code, path, message)
    }
}
