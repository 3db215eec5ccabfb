import Glibc
package import SyncCore
import SyncSystem
package import SystemPackage

/// What is done to files that are rewritten. Tests script it.
package struct FileRewriteCalls: Sendable {
    /// Makes a new file with the mode and the owner of another, on the disk for good.
    package var write: @Sendable (_ bytes: [UInt8], _ new: FilePath, _ model: FilePath) throws -> FileStamp = {
        let status = try FileStatus(at: $2)
        return try NewFile.make($0, at: $1) { file in
            // Another owner is kept where that is allowed; the mode always is.
            _ = fchown(file.rawValue, status.user, status.group)
            guard fchmod(file.rawValue, status.permissions.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }
    /// Gives each of two files the name of the other (renameat2(2), RENAME_EXCHANGE).
    /// - Returns: `false` where the file system cannot.
    package var exchange: @Sendable (FilePath, FilePath) throws -> Bool = { try NewFile.exchange($0, $1) }
    /// rename(2)
    package var rename: @Sendable (FilePath, FilePath) throws -> Void = {
        // By their bytes: by way of `String`, a name that is no UTF-8 is that of another file.
        let code = $0.withPlatformString { [other = $1] one in other.withPlatformString { Glibc.rename(one, $0) } }
        guard code == 0 else { throw Errno(rawValue: errno) }
    }
    /// unlink(2)
    package var remove: @Sendable (FilePath) throws -> Void = {
        guard $0.withPlatformString({ Glibc.unlink($0) }) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
    }
    /// fsync(2)
    package var syncFolder: @Sendable (FilePath) throws -> Void = { try Folder.sync($0) }

    package init() {}
}
