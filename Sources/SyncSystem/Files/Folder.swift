import Glibc
import SyncCore
package import SystemPackage

/// Folders on the disk: the one place that makes them, and that puts their names on the disk for good. All functions block.
package enum Folder {
    /// What is done to the disk. Tests script it.
    package struct Calls: Sendable {
        /// mkdir(2)
        package var make: @Sendable (FilePath, FilePermissions) throws(Errno) -> Void = { path, mode throws(Errno) in
            try path.makeFolder(mode)
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
    /// - Returns: those that were made, from the top; none when the folder was there already.
    /// - Throws: ``FolderError``. What was made until then is taken away again.
    @discardableResult
    package static func make(
        _ path: FilePath, permissions: FilePermissions, above: FilePermissions? = nil, calls: Calls = Calls()
    ) throws(FolderError) -> [FilePath] {
        let missing = try missing(on: path)
        // A run before this one may have been killed between mkdir(2) and fsync(2): the last folder that is there may be
        // known to the memory only. Those above it were on the disk before it was made.
        try put(missing.first.map(parent) ?? start(of: path), of: path, calls)
        var made: [FilePath] = []
        do throws(FolderError) {
            for folder in missing {
                let mode = folder == missing.last ? permissions : above ?? permissions
                if try makeOne(folder, of: path, mode, calls) { made.append(folder) }
                try put(folder, of: path, calls)
            }
        } catch {
            // Left there, the next run would find it, and take it for one that is on the disk.
            removeEmpty(made)
            throw error
        }
        return made
    }

    /// The folder and those above it that are not there, from the top.
    /// - Throws: ``FolderError`` when something is in the way.
    package static func missing(on path: FilePath) throws(FolderError) -> [FilePath] {
        var missing: [FilePath] = []
        var place = start(of: path)
        while try !isThere(place, of: path) {
            missing.append(place)
            place = parent(of: place)
        }
        return missing.reversed()
    }

    /// Takes folders away that were made, from the last one on, as far as nothing is in them.
    /// - Parameter made: from the top, each in the one before it.
    package static func removeEmpty(_ made: [FilePath]) {
        for folder in made.reversed() {
            do {
                try folder.removeFolder()
            } catch {
                // One that is gone is in nobody's way.
                guard error.isMissing else { return }
            }
        }
    }

    /// How many of the folders that were made are the last ones of a path: one on the way that somebody else has made meanwhile
    /// is not ours, nor are those above it.
    package static func count(of made: [FilePath], upTo path: FilePath) -> Int {
        var (count, place) = (0, start(of: path))
        while made.contains(place) { (count, place) = (count + 1, parent(of: place)) }
        return count
    }

    /// The same of a folder and of those above it.
    /// - Parameter count: how many of them in all.
    package static func removeEmpty(_ path: FilePath, count: Int) {
        var folders: [FilePath] = []
        var place = path
        for _ in 0..<max(0, count) {
            folders.append(place)
            place = parent(of: place)
        }
        removeEmpty(folders.reversed())
    }

    /// - Returns: `false` when somebody else was quicker.
    private static func makeOne(
        _ folder: FilePath, of path: FilePath, _ mode: FilePermissions, _ calls: Calls
    ) throws(FolderError) -> Bool {
        do {
            try calls.make(folder, mode)
            return true
        } catch Errno.fileExists {
            // Or a file came in between.
            guard try isThere(folder, of: path) else { throw FolderError(.fileExists, path, at: folder) }
            return false
        } catch {
            throw FolderError(error, path, at: folder)
        }
    }

    private static func start(of path: FilePath) -> FilePath { path.isEmpty ? "." : path }

    /// Puts the names in a folder on the disk (fsync(2)); an empty path is the working folder.
    /// - Throws: `Errno`.
    package static func sync(_ folder: FilePath) throws(Errno) {
        // That of a bare name is the working folder.
        let file = try FileDescriptor.opened(folder.isEmpty ? "." : folder, .readOnly, [.directory, .closeOnExec])
        defer { try? file.close() }
        try file.sync()
    }

    /// Gives a file of ours another name in its folder, for good. What has that name is replaced.
    package static func rename(_ old: FilePath, to new: FilePath) throws(Errno) {
        try old.rename(to: new)
        try sync(new.removingLastComponent())
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
                    code: .deadLink, path: path, obstacle: place,
                    message: "the link leads to what is not there; remove it, mount its disk, or name another folder")
            }
            // Of an absolute path the root is there; a relative one ends with the working folder, which may be removed.
            guard place != parent(of: place) else {
                throw FolderError(
                    code: .unsupported, path: path, obstacle: place,
                    message: "the working folder is gone; change to another one")
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

/// The names in a folder, one at a time and in no order (readdir(3)), `.` and `..` left out. Memory does not grow with the
/// folder.
package struct FolderReader: ~Copyable {
    /// What the folder says of an entry, without a look at it.
    package enum Kind: Sendable {
        case file, folder, other, unknown
    }

    private let stream: OpaquePointer

    /// Valid as long as this lives.
    package var descriptor: Int32 { dirfd(stream) }

    /// Links are followed.
    /// - Throws: `Errno`.
    package init(_ folder: FilePath) throws(Errno) {
        stream = try Errno.callingForPointer { folder.withPlatformString { opendir($0) } }
    }

    /// Takes over a descriptor of a folder, which is closed also when this fails.
    /// - Throws: `Errno`.
    package init(taking descriptor: Int32) throws(Errno) {
        let stream: OpaquePointer
        do {
            stream = try Errno.callingForPointer { fdopendir(descriptor) }
        } catch {
            close(descriptor)
            throw error
        }
        self.stream = stream
    }

    deinit {
        closedir(stream)
    }

    /// The next entry is the first one again (rewinddir(3)).
    package func rewind() { rewinddir(stream) }

    /// Calls `body` with the next entry.
    /// - Returns: what it returns; `nil` at the end.
    /// - Throws: `Errno`, and what `body` throws: a folder that cannot be read to its end has not been read.
    package func next<Value>(
        _ body: (UnsafePointer<CChar>, Kind) throws(Errno) -> Value
    ) throws(Errno) -> Value? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                let reason = Errno(rawValue: errno)
                if reason.rawValue == 0 { return nil }
                // It goes on where it was.
                if reason == .interrupted { continue }
                throw reason
            }
            let name = UnsafeRawPointer(entry).advanced(by: Self.nameOffset).assumingMemoryBound(to: CChar.self)
            if name[0] == Self.dot, name[1] == 0 || (name[1] == Self.dot && name[2] == 0) { continue }
            let kind: Kind =
                switch Int(entry.pointee.d_type) {
                case DT_REG: .file
                case DT_DIR: .folder
                case DT_UNKNOWN: .unknown
                default: .other
                }
            return try body(name, kind)
        }
    }

    private static let dot = CChar(UInt8(ascii: "."))
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
}

extension Folder {
    /// All names in a folder, in no order; `nil` when there is no such folder.
    /// - Throws: `Errno`.
    package static func names(
        in folder: FilePath, where isWanted: (FolderReader.Kind) -> Bool = { _ in true }
    ) throws(Errno) -> [FilePath.Component]? {
        do {
            let reader = try FolderReader(folder)
            var names: [FilePath.Component] = []
            while let name = try reader.next({ (name, kind) throws(Errno) in
                isWanted(kind) ? FilePath.Component(platformString: name) : nil
            }) {
                if let name { names.append(name) }
            }
            return names
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    /// The folders in a folder, in no order; links to folders are none of them.
    /// - Throws: `Errno`.
    package static func folders(in folder: FilePath) throws(Errno) -> [FilePath] {
        try names(in: folder) { $0 == .folder || $0 == .unknown }?.map { folder.appending($0) }
            .filter { (try? FileStatus(at: $0))?.kind == .folder } ?? []
    }
}

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
}

extension FolderError {
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
                (.nameTooLong, "\(FileFault.pathTooLong); name another folder")
            case .noSuchFileOrDirectory, .notSupported, .noFunction:
                (.unsupported, "this file system takes no new folders; name a folder on another one")
            default:
                Self.fault(errno)
            }
        self.init(code: code, path: path, obstacle: obstacle, message: message)
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

extension FilePermissions {
    /// Of what others may read, too, as far as a person's umask lets them.
    package static let readableFile: FilePermissions = [.ownerReadWrite, .groupRead, .otherRead]
    package static let readableFolder: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
}

/// Which folder it is, under whatever name (inode(7)). The root of a drive is another folder than the one that it is
/// mounted on; both names that a bind mount makes lead to one. A drive that is mounted anew may get another device, and
/// some file systems (FAT, network) other inodes, too.
package struct FolderIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    package init(of folder: FileStatus) {
        (device, inode) = (folder.stamp.device, folder.stamp.inode)
    }

    /// Of the folder that has a name now. `nil` where there is none, or it cannot be looked at.
    package init?(at path: FilePath, followsLinks: Bool = true) {
        guard let status = try? FileStatus(at: path, followsLinks: followsLinks), status.kind == .folder
        else { return nil }
        self.init(of: status)
    }
}

extension FilePath {
    /// The uppermost folder, itself or above it, that may not be entered, or is the path and may not be read: nobody can say
    /// that nothing is there. `nil` where all that is there can be read.
    package var unreadableFolder: FilePath? {
        var folder = FilePath(root: root)
        for component in components {
            guard folder.isFolder else { return nil }
            if folder.isRefused(.execute) { return folder }
            folder.append(component)
        }
        return folder.isFolder && folder.isRefused([.read, .execute]) ? folder : nil
    }

    private var isFolder: Bool { (try? FileStatus.find(self, followsLinks: true))?.kind == .folder }

    private func isRefused(_ rights: AccessRights) -> Bool {
        do {
            try requireAccess(rights)
            return false
        } catch {
            return error == .permissionDenied
        }
    }
}
