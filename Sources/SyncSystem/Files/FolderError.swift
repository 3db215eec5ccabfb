import SyncCore
package import SystemPackage

/// Why a folder cannot be made.
package struct FolderError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable, CaseIterable {
        case notAllowed, readOnly, noSpace, ioFailed
        /// Something that is no folder has the name of it, or of one above it.
        case taken
        /// A link to what is not there, or in a circle.
        case deadLink
        case nameTooLong
        /// A file system that takes no folders, as /proc.
        case unsupported
    }

    package var code: Code
    /// The folder that was asked for.
    package var path: FilePath
    /// What was in the way: the folder itself, or something above it.
    package var obstacle: FilePath
    /// The reason, and the next step.
    package var message: String

    package init(_ code: Code, _ path: FilePath, at obstacle: FilePath, _ message: String) {
        self.code = code
        self.path = path
        self.obstacle = obstacle
        self.message = message
    }

    /// What an errno means for a new folder; the rest is as for any file.
    package init(_ errno: Errno, _ path: FilePath, at obstacle: FilePath) {
        let (code, message): (Code, String) =
            switch errno {
            case .permissionDenied, .notPermitted:
                (.notAllowed, "no permission; change the owner or mode of the folder above it, or name another folder")
            case .readOnlyFileSystem:
                (.readOnly, "the disk is mounted read-only; mount it writable, or name another folder")
            case .notDirectory, .fileExists:
                (.taken, "something that is no folder has this name; move it away, or name another folder")
            case .tooManySymbolicLinkLevels:
                (.deadLink, "the link leads in a circle; remove it, or name another folder")
            case .fileNameTooLong:
                (.nameTooLong, "the name is too long (255 bytes, the whole path 4095); name another folder")
            case .noSuchFileOrDirectory, .notSupported, .noFunction:
                (.unsupported, "this file system takes no new folders; name a folder on another one")
            default:
                Self.fault(errno)
            }
        self.init(code, path, at: obstacle, message)
    }

    private static func fault(_ errno: Errno) -> (Code, String) {
        let fault = FileFault(errno, or: "name another folder")
        return (fault.code == .noSpace ? .noSpace : .ioFailed, fault.message)
    }

    /// Whether the next folder on the same disk would meet the same.
    package var concernsAll: Bool { code == .noSpace }

    package var description: String {
        let name = path.string.escapingControls
        return obstacle == path
            ? "\(name): the folder cannot be made: \(message)"
            : "\(name): the folder cannot be made: \(obstacle.string.escapingControls): \(message)"
    }
}
