import Glibc
import SystemPackage

/// The file calls of the store. Each throws ``FileError``; each is retried when a signal interrupts it.
enum Disk {
    /// What lstat(2) tells of a path; `nil` when nothing is there.
    static func status(_ path: FilePath) throws(FileError) -> stat? {
        var status = stat()
        guard path.withPlatformString({ lstat($0, &status) }) != 0 else { return status }
        let reason = Errno(rawValue: errno)
        if reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
        throw FileError(call: "lstat", path: path, errno: reason)
    }

    static func exists(_ path: FilePath) throws(FileError) -> Bool {
        try status(path) != nil
    }

    /// What stat(2) tells of a folder; `nil` when there is none. Links are followed: a folder of the store may have been
    /// moved to another disk and linked.
    static func folderStatus(_ path: FilePath) -> stat? {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            return nil
        }
        return status
    }

    /// What stat(2) tells of a regular file; `nil` when there is none.
    static func fileStatus(_ path: FilePath) throws(FileError) -> stat? {
        var status = stat()
        guard path.withPlatformString({ stat($0, &status) }) != 0 else {
            return status.st_mode & S_IFMT == S_IFREG ? status : nil
        }
        let reason = Errno(rawValue: errno)
        if reason == .noSuchFileOrDirectory || reason == .notDirectory { return nil }
        throw FileError(call: "stat", path: path, errno: reason)
    }

    static func requireWritable(_ folder: FilePath) throws(FileError) {
        try call("access", folder) { access($0, R_OK | W_OK | X_OK) }
    }

    /// Makes a folder of mode 0700. `false` when something has the name already.
    @discardableResult
    static func makeFolder(_ path: FilePath) throws(FileError) -> Bool {
        do throws(FileError) {
            try call("mkdir", path) { mkdir($0, 0o700) }
            return true
        } catch  where error.errno == .fileExists {
            return false
        }
    }

    static func rename(_ old: FilePath, to new: FilePath) throws(FileError) {
        try call("rename", new) { new in old.withPlatformString { Glibc.rename($0, new) } }
    }

    /// Gives a file a second name.
    static func link(_ file: FilePath, to name: FilePath) throws(FileError) {
        try call("link", name) { name in file.withPlatformString { Glibc.link($0, name) } }
    }

    /// Removes a file; one that is not there is no error.
    static func remove(_ path: FilePath) throws(FileError) {
        do throws(FileError) {
            try call("unlink", path) { unlink($0) }
        } catch  where error.isMissing {}
    }

    /// Removes empty folders from `folder` upwards, `top` excluded. Stops quietly at the first that it cannot remove.
    static func prune(_ folder: FilePath, upTo top: FilePath) {
        var folder = folder
        while folder != top, folder.starts(with: top), folder.withPlatformString({ rmdir($0) }) == 0 {
            folder.removeLastComponent()
        }
    }

    /// fsync(2) of a folder: its entries are on the disk.
    static func syncFolder(_ path: FilePath) throws(FileError) {
        let file = try OpenFile(path, .folder)
        try file.sync()
    }

    /// A whole small file; `nil` when it is not there.
    static func read(_ path: FilePath) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            let file = try OpenFile(path, .read)
            var bytes = [UInt8](repeating: 0, count: Int(try file.size()) + 1)
            var length = 0
            while true {
                if length == bytes.count { bytes += [UInt8](repeating: 0, count: length) }
                let count = try file.read(into: &bytes, at: length)
                if count == 0 { return Array(bytes.prefix(length)) }
                length += count
            }
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Writes a new file of mode 0600 and syncs it.
    static func write(_ bytes: [UInt8], to path: FilePath) throws(FileError) {
        let file = try OpenFile(path, .create)
        try file.write(bytes)
        try file.sync()
    }

    /// Calls `body` until no signal interrupts it.
    private static func call(
        _ name: String, _ path: FilePath, _ body: (UnsafePointer<CChar>) -> Int32
    ) throws(FileError) {
        while path.withPlatformString(body) != 0 {
            let reason = Errno(rawValue: errno)
            if reason != .interrupted { throw FileError(call: name, path: path, errno: reason) }
        }
    }
}
