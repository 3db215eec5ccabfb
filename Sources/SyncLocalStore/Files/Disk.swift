import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// The file calls of the store. Each throws ``FileError``; each is retried when a signal interrupts it.
enum Disk {
    /// What lstat(2) tells of a path; `nil` when nothing is there.
    static func status(_ path: FilePath, followsLinks: Bool = false) throws(FileError) -> FileStatus? {
        do {
            return try FileStatus(at: path, followsLinks: followsLinks)
        } catch {
            let error = FileError(call: followsLinks ? "stat" : "lstat", path: path, errno: error)
            if error.isMissing { return nil }
            throw error
        }
    }

    static func exists(_ path: FilePath) throws(FileError) -> Bool {
        try status(path) != nil
    }

    /// Of a folder; `nil` when there is none. Links are followed: a folder of the store may have been moved to another disk
    /// and linked.
    static func folderStatus(_ path: FilePath) throws(FileError) -> FileStatus? {
        guard let status = try status(path, followsLinks: true), status.kind == .folder else { return nil }
        return status
    }

    /// The stamp of a regular file; `nil` when there is none. Links are followed.
    static func stamp(_ path: FilePath) throws(FileError) -> FileStamp? {
        guard let status = try status(path, followsLinks: true), status.kind == .file else { return nil }
        return status.stamp
    }

    /// Calls `body` with each name in a folder, in no order. Memory does not grow with the folder.
    /// - Returns: `false` when the folder is not there.
    static func forEachName(in folder: FilePath, _ body: (String) -> Void) throws(FileError) -> Bool {
        do {
            let reader = try FolderReader(folder)
            while let name = try reader.next({ (name, _) throws(Errno) in String(cString: name) }) { body(name) }
            return true
        } catch {
            let error = FileError(call: "readdir", path: folder, errno: error)
            if error.isMissing { return false }
            throw error
        }
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
        do {
            try Folder.sync(path)
        } catch {
            throw FileError(call: "fsync", path: path, errno: error)
        }
    }

    /// A whole small file; `nil` when it is not there.
    static func read(_ path: FilePath) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try OpenFile(path, .read).bytes()
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Writes a new file of mode 0600 and syncs it. When that fails, there is none.
    static func write(_ bytes: [UInt8], to path: FilePath) throws(FileError) {
        do {
            try NewFile.make(bytes, at: path)
        } catch {
            throw FileError(call: "write", path: path, errno: error as? Errno ?? .ioError)
        }
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
