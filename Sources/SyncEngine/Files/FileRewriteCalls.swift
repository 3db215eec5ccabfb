import Glibc
package import SyncCore
import SyncSystem
package import SystemPackage

/// What is done to files that are rewritten. Tests script it.
package struct FileRewriteCalls: Sendable {
    /// Makes a new file with the mode and the owner of another, on the disk for good.
    package var write: @Sendable (_ bytes: [UInt8], _ new: FilePath, _ model: FilePath) throws -> FileStamp = {
        try Self.write($0, to: $1, like: $2)
    }
    /// Gives each of two files the name of the other (renameat2(2), RENAME_EXCHANGE).
    /// - Returns: `false` where the file system cannot.
    package var exchange: @Sendable (FilePath, FilePath) throws -> Bool = { try Self.exchange($0, $1) }
    /// rename(2)
    package var rename: @Sendable (FilePath, FilePath) throws -> Void = {
        guard Glibc.rename($0.string, $1.string) == 0 else { throw Errno(rawValue: errno) }
    }
    /// unlink(2)
    package var remove: @Sendable (FilePath) throws -> Void = {
        guard Glibc.unlink($0.string) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
    }
    /// fsync(2)
    package var syncFolder: @Sendable (FilePath) throws -> Void = { try Folder.sync($0) }

    package init() {}

    private static func write(_ bytes: [UInt8], to new: FilePath, like model: FilePath) throws -> FileStamp {
        var status = stat()
        guard model.withPlatformString({ lstat($0, &status) }) == 0 else { throw Errno(rawValue: errno) }
        let file = try FileDescriptor.open(
            new, .readWrite, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: .ownerReadWrite)
        defer { try? file.close() }
        do {
            try file.writeAll(bytes)
            // Another owner is kept where that is allowed; the mode always is.
            _ = fchown(file.rawValue, status.st_uid, status.st_gid)
            guard fchmod(file.rawValue, status.st_mode & 0o7777) == 0 else { throw Errno(rawValue: errno) }
            try file.sync()
            return try FileStatus(of: file).stamp
        } catch {
            _ = unlink(new.string)
            throw error
        }
    }

    private static func exchange(_ one: FilePath, _ other: FilePath) throws -> Bool {
        guard let renameat2 else { return false }
        if renameat2(AT_FDCWD, one.string, AT_FDCWD, other.string, exchangeFlag) == 0 { return true }
        switch errno {
        case ENOSYS, EINVAL, ENOTSUP: return false
        default: throw Errno(rawValue: errno)
        }
    }

    /// `RENAME_EXCHANGE` of `<linux/fs.h>`.
    private static let exchangeFlag: UInt32 = 2
    private typealias RenameAt2 =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

    /// The C library declares it to _GNU_SOURCE only, and Swift's Glibc is built without.
    private static let renameat2: RenameAt2? =
        dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
}
