import SyncCore
import SystemPackage

extension PhotoError {
    /// What a failed system call means for a photo.
    init(_ errno: Errno, _ call: String) {
        switch errno {
        case .noSuchFileOrDirectory, .notDirectory:
            self.init(.missing, "the file is gone")
        case .tooManySymbolicLinkLevels:
            self.init(.notStored, "a symbolic link, which is not followed")
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            self.init(.outOfResources, "\(call): \(errno)")
        case .permissionDenied, .notPermitted:
            self.init(.unreadable, "it cannot be read: permission denied; give the agent's user the right to read it")
        default:
            self.init(.unreadable, "it cannot be read (\(call): \(errno)); check the drive and the kernel's log")
        }
    }
}
