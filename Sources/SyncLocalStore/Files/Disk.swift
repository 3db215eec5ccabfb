import SyncCore
import SyncSystem
import SystemPackage

/// The file calls of the store, as ``FileError`` tells of them.
enum Disk {
    /// What lstat(2) tells of a path; `nil` when nothing is there.
    static func status(_ path: FilePath, followsLinks: Bool = false) throws(FileError) -> FileStatus? {
        try FileError.unlessMissing(followsLinks ? "stat" : "lstat", path) {
            try FileStatus(at: path, followsLinks: followsLinks)
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
        try FileError.unlessMissing("readdir", folder) {
            let reader = try FolderReader(folder)
            while let name = try reader.next({ (name, _) throws(Errno) in String(cString: name) }) { body(name) }
            return true
        } ?? false
    }

    static func requireWritable(_ folder: FilePath) throws(FileError) {
        try FileError.of("access", folder) { try folder.requireAccess([.read, .write, .execute]) }
    }

    /// Makes a folder of mode 0700. `false` when something has the name already.
    @discardableResult
    static func makeFolder(_ path: FilePath) throws(FileError) -> Bool {
        do throws(FileError) {
            try FileError.of("mkdir", path) { try path.makeFolder(.ownerReadWriteExecute) }
            return true
        } catch  where error.errno == .fileExists {
            return false
        }
    }

    static func rename(_ old: FilePath, to new: FilePath) throws(FileError) {
        try FileError.of("rename", new) { try old.rename(to: new) }
    }

    /// Gives a file a second name.
    static func link(_ file: FilePath, to name: FilePath) throws(FileError) {
        try FileError.of("link", name) { try file.link(as: name) }
    }

    /// Removes a file; one that is not there is no error.
    static func remove(_ path: FilePath) throws(FileError) {
        _ = try FileError.unlessMissing("unlink", path) { try path.unlink() }
    }

    /// Removes empty folders from `folder` upwards, `top` excluded. Stops quietly at the first that it cannot remove.
    static func prune(_ folder: FilePath, upTo top: FilePath) {
        var folder = folder
        while folder != top, folder.starts(with: top), (try? folder.removeFolder()) != nil {
            folder.removeLastComponent()
        }
    }

    /// fsync(2) of a folder: its entries are on the disk.
    static func syncFolder(_ path: FilePath) throws(FileError) {
        try FileError.of("fsync", path) { try Folder.sync(path) }
    }

    /// A whole small file; `nil` when it is not there. Of one that is longer than `limit` one byte more than that:
    /// somebody may have made it as long as a disk.
    static func read(_ path: FilePath, atMost limit: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try OpenFile(path, .read).bytes(atMost: limit + 1)
        } catch  where error.isMissing {
            return nil
        }
    }

    /// Writes a new file of mode 0600 and syncs it. When that fails, there is none.
    static func write(_ bytes: [UInt8], to path: FilePath) throws(FileError) {
        _ = try FileError.of("write", path) { try NewFile.make(bytes, at: path) }
    }
}
