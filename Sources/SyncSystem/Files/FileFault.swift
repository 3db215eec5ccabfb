package import SystemPackage

/// What an errno of a file call means, and what helps, whatever the file is for. Each adapter has its own error type, and
/// takes its words from here.
package struct FileFault: Hashable, Sendable {
    package enum Code: String, Sendable {
        case noSpace, tooLarge, folderMissing, notAllowed, nameTaken, ioFailed
    }

    /// What ENAMETOOLONG says (path_resolution(7)).
    package static let pathTooLong = "the path is too long (4095 bytes in all, 255 for each name)"

    package let code: Code
    /// The reason, and the next step.
    package let message: String

    /// - Parameters:
    ///   - other: what somebody may do instead, as "name another folder".
    ///   - nameTaken: the step where something has the name.
    package init(_ errno: Errno, or other: String, nameTaken: String = "move it away") {
        let (code, message): (Code, String) =
            switch errno {
            case .noSpace: (.noSpace, "the disk is full; free some space, or \(other)")
            case .diskQuotaExceeded: (.noSpace, "your disk quota is used up; free some space, or \(other)")
            case .fileTooLarge:
                (
                    .tooLarge,
                    "the file system (FAT takes 4 GiB) or the file size limit (ulimit -f) does not take such a large file"
                )
            case .noSuchFileOrDirectory, .notDirectory:
                (.folderMissing, "its folder is not there; make it, or mount its disk")
            case .permissionDenied, .notPermitted:
                (.notAllowed, "no permission to write there; change the owner or mode of the folder")
            case .readOnlyFileSystem:
                (.notAllowed, "the disk is mounted read-only; look into dmesg, or \(other)")
            case .fileExists, .isDirectory, .directoryNotEmpty:
                (.nameTaken, "something has this name already; \(nameTaken)")
            case .tooManySymbolicLinkLevels:
                (.ioFailed, "a link leads in a circle, or stands where none may be; move it away")
            case .ioError: (.ioFailed, "the disk reports an error; look into dmesg, and check the disk")
            case .staleNFSFileHandle:
                (
                    .ioFailed,
                    "the server or disk no longer knows this file or folder; mount it again, check the disk, or \(other)"
                )
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
                (.ioFailed, "too many files are open; raise the limit (ulimit -n)")
            case .fileNameTooLong: (.ioFailed, "\(Self.pathTooLong); give its folders shorter names, or \(other)")
            default: (.ioFailed, "\(errno.description.lowercased()); try again, or \(other)")
            }
        (self.code, self.message) = (code, message)
    }
}
