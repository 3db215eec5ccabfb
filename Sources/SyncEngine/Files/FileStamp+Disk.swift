import Glibc
import SyncCore
import SystemPackage

extension FileStamp {
    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
    }

    /// The stamp of the file that has a name now; `nil` when none has. Links are not followed.
    static func ofFile(_ path: FilePath) -> FileStamp? {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return FileStamp(status)
    }
}
