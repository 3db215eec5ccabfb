import SyncCore
import SystemPackage

extension ZipError {
    /// The one place where an errno gets its meaning.
    init(_ errno: Errno, _ path: FilePath) {
        let (code, message): (Code, String) =
            switch errno {
            case .noSpace: (.noSpace, "the disk is full; free some space, or write the archive to another disk")
            case .diskQuotaExceeded:
                (.noSpace, "your disk quota is used up; free some space, or write the archive to another disk")
            case .fileTooLarge:
                (.tooLarge, "the file system (FAT takes 4 GiB), or ulimit -f, does not take such a large file")
            case .noSuchFileOrDirectory, .notDirectory:
                (.folderMissing, "its folder is not there; make it, or mount its disk")
            case .permissionDenied, .notPermitted:
                (.notAllowed, "no permission to write there; change the owner or mode of the folder")
            case .readOnlyFileSystem:
                (.notAllowed, "the disk is mounted read-only; look into dmesg, or name another folder")
            case .fileExists, .isDirectory:
                (.nameTaken, "something has this name already; name another file, or move it away")
            case .ioError: (.ioFailed, "the disk reports an error; look into dmesg, and check the disk")
            default: (.ioFailed, "\(errno)")
            }
        self.init(code, path.string, message)
    }
}
