import Glibc
import SyncSystem
import SystemPackage

/// An open folder. What is below it is reached through its descriptor only, never through a path: a rename or a link
/// planted in the meantime cannot lead out of the tree, and PATH_MAX does not bound the depth (openat(2), readdir(3)).
///
/// Stays on the thread that made it.
final class DirectoryHandle {
    /// What tells this folder from any other, whatever it is called.
    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    enum EntryKind {
        case file, folder, other, unknown
    }

    let identity: Identity
    let access: FolderAccess
    private let stream: OpaquePointer

    var descriptor: Int32 { dirfd(stream) }

    /// Opens a watched root, which may itself be a symbolic link.
    convenience init(root: FilePath) throws(Errno) {
        try self.init(taking: Self.open(root))
    }

    /// Opens a folder of `parent`. A symbolic link is refused (ENOTDIR).
    convenience init(_ name: EntryName, in parent: DirectoryHandle) throws(Errno) {
        try self.init(taking: Self.open(name, in: parent.descriptor))
    }

    /// Opens the folder at `path` below `root`, one component after the other.
    convenience init(root: FilePath, descending path: RelativePath) throws(Errno) {
        var current = try Self.open(root)
        for name in path.names {
            let parent = current
            defer { close(parent) }
            current = try Self.open(name, in: parent)
        }
        try self.init(taking: current)
    }

    private init(taking descriptor: Int32) throws(Errno) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, let stream = fdopendir(descriptor) else {
            let reason = Errno(rawValue: errno)
            close(descriptor)
            throw reason
        }
        self.stream = stream
        identity = Identity(status)
        access = FolderAccess(status)
    }

    deinit {
        closedir(stream)
    }

    /// Calls `body` with the name and kind of every entry but `.` and `..`. Can be done once.
    func forEachEntry(_ body: (UnsafePointer<CChar>, EntryKind) throws(Errno) -> Void) throws(Errno) {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Errno(rawValue: errno) }
                return
            }
            let name = UnsafeRawPointer(entry).advanced(by: Self.nameOffset).assumingMemoryBound(to: CChar.self)
            if name[0] == Self.dot, name[1] == 0 || (name[1] == Self.dot && name[2] == 0) { continue }
            let kind: EntryKind =
                switch Int(entry.pointee.d_type) {
                case DT_REG: .file
                case DT_DIR: .folder
                case DT_UNKNOWN: .unknown
                default: .other
                }
            try body(name, kind)
        }
    }

    /// The status of one entry, links not followed; `nil` when it is gone.
    func status(of name: UnsafePointer<CChar>) throws(Errno) -> FileStatus? {
        do throws(Errno) {
            return try FileStatus(of: name, in: descriptor)
        } catch {
            if error == .noSuchFileOrDirectory { return nil }
            throw error
        }
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

    private static func open(_ root: FilePath) throws(Errno) -> Int32 {
        try check(root.withPlatformString { openat(AT_FDCWD, $0, flags) })
    }

    private static func open(_ name: EntryName, in parent: Int32) throws(Errno) -> Int32 {
        try check(name.withPointer { openat(parent, $0, flags | O_NOFOLLOW) })
    }

    private static func check(_ descriptor: Int32) throws(Errno) -> Int32 {
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        return descriptor
    }

    private static let dot = CChar(UInt8(ascii: "."))
    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 19
}

extension DirectoryHandle.Identity {
    init(_ status: stat) {
        self.init(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Of what is at `path` now; `nil` when that cannot be told.
    init?(at path: FilePath, following: Bool) {
        var status = stat()
        guard path.withPlatformString({ following ? stat($0, &status) : lstat($0, &status) }) == 0 else { return nil }
        self.init(status)
    }
}

/// Who may read a folder: when it changes, so does what a scan of it finds.
struct FolderAccess: Hashable {
    var mode: UInt32
    var user: UInt32
    var group: UInt32

    init(_ status: stat) {
        mode = status.st_mode
        user = status.st_uid
        group = status.st_gid
    }
}
