import Glibc
package import SystemPackage

/// Folders on the disk: the one place that makes them, and that puts their names on the disk for good. All functions block.
package enum Folder {
    /// What is done to the disk. Tests script it.
    package struct Calls: Sendable {
        /// mkdir(2)
        package var make: @Sendable (FilePath, FilePermissions) throws(Errno) -> Void = { path, mode throws(Errno) in
            guard path.withPlatformString({ mkdir($0, mode.rawValue) }) != 0 else { return }
            throw Errno(rawValue: errno)
        }
        /// fsync(2) of a folder.
        package var sync: @Sendable (FilePath) throws(Errno) -> Void = { path throws(Errno) in try Folder.sync(path) }

        package init() {}
    }

    /// Makes a folder and those above it, where they are not there. A link to a folder is a folder. When this returns, a
    /// power failure takes none of those that were made.
    ///
    /// Each name is looked at once on the way up and made once on the way down. Whatever a file system answers, it ends:
    /// in /proc, mkdir(2) says ENOENT of a folder whose parent is there.
    /// - Parameters:
    ///   - permissions: of the folder; the umask is taken off.
    ///   - above: of those above it; the same when nothing is said.
    /// - Returns: `false` when it was there already.
    /// - Throws: ``FolderError``.
    @discardableResult
    package static func make(
        _ path: FilePath, permissions: FilePermissions, above: FilePermissions? = nil, calls: Calls = Calls()
    ) throws(FolderError) -> Bool {
        var missing: [FilePath] = []
        var place = path.isEmpty ? "." : path
        while try !isThere(place, of: path) {
            missing.append(place)
            place = parent(of: place)
        }
        // A run before this one may have been killed between mkdir(2) and fsync(2): the last folder that is there may be
        // known to the memory only. Those above it were on the disk before it was made.
        try put(place, of: path, calls)
        for folder in missing.reversed() {
            let isLast = folder == missing.first
            do {
                try calls.make(folder, isLast ? permissions : above ?? permissions)
            } catch Errno.fileExists {
                // Somebody else was quicker; or a file came in between.
                guard try isThere(folder, of: path) else { throw FolderError(.fileExists, path, at: folder) }
            } catch {
                throw FolderError(error, path, at: folder)
            }
            do {
                try put(folder, of: path, calls)
            } catch {
                // Left there, the next run would find it, and take it for one that is on the disk.
                _ = folder.withPlatformString { rmdir($0) }
                throw error
            }
        }
        return !missing.isEmpty
    }

    /// Puts the names in a folder on the disk (fsync(2)); an empty path is the working folder.
    /// - Throws: `Errno`.
    package static func sync(_ folder: FilePath) throws(Errno) {
        // That of a bare name is the working folder.
        let file = try FileDescriptor.opened(folder.isEmpty ? "." : folder, .readOnly, [.directory, .closeOnExec])
        defer { try? file.close() }
        try file.sync()
    }

    private static func put(_ folder: FilePath, of path: FilePath, _ calls: Calls) throws(FolderError) {
        let above = parent(of: folder)
        do {
            try calls.sync(above)
        } catch Errno.permissionDenied, Errno.notPermitted {
            // fsync(2) needs a descriptor that may read: a folder that only lets through (/home, often) has none for us.
        } catch {
            throw FolderError(error, path, at: above)
        }
    }

    /// - Throws: ``FolderError`` when what has the name is in the way.
    private static func isThere(_ place: FilePath, of path: FilePath) throws(FolderError) -> Bool {
        let obstacle: Errno
        do {
            if try FileStatus(at: place, followsLinks: true).kind == .folder { return true }
            obstacle = .fileExists
        } catch {
            obstacle = error
        }
        switch obstacle {
        case .noSuchFileOrDirectory:
            guard (try? FileStatus(at: place)) == nil else {
                throw FolderError(
                    .deadLink, path, at: place,
                    "the link leads to what is not there; remove it, mount its disk, or name another folder")
            }
            // Of an absolute path the root is there; a relative one ends with the working folder, which may be removed.
            guard place != parent(of: place) else {
                throw FolderError(.unsupported, path, at: place, "the working folder is gone; change to another one")
            }
            return false
        // A file is above it: the way up comes to it.
        case .notDirectory where place != parent(of: place): return false
        default: throw FolderError(obstacle, path, at: place)
        }
    }

    private static func parent(of path: FilePath) -> FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? (path.isAbsolute ? path : ".") : parent
    }
}
