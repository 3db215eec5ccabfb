import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// An open folder. What is below it is reached through its descriptor only, never through a path: a rename or a link
/// planted in the meantime cannot lead out of the tree, and PATH_MAX does not bound the depth (openat(2), readdir(3)).
///
/// Stays on the thread that made it.
final class DirectoryHandle {
    typealias EntryKind = FolderReader.Kind

    let identity: FolderIdentity
    let access: FolderAccess
    private let reader: FolderReader
    private var isRead = false

    var descriptor: Int32 { reader.descriptor }

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
        reader = try FolderReader(taking: descriptor)
        let status = try FileStatus(ofDescriptor: descriptor)
        identity = FolderIdentity(of: status)
        access = FolderAccess(status)
    }

    /// A folder of a million entries gets on, however long it takes.
    private static let entriesPerSign = 256

    /// Calls `body` with the name and kind of every entry but `.` and `..`. Gives signs of life.
    func forEachEntry(_ body: (UnsafePointer<CChar>, EntryKind) throws(Errno) -> Void) throws(Errno) {
        if isRead { reader.rewind() }
        isRead = true
        var entries = 0
        while try reader.next(body) != nil {
            entries += 1
            if entries % Self.entriesPerSign == 0 { SignOfLife.give() }
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
        try Errno.calling { root.withPlatformString { openat(AT_FDCWD, $0, flags) } }
    }

    private static func open(_ name: EntryName, in parent: Int32) throws(Errno) -> Int32 {
        try Errno.calling { name.withPointer { openat(parent, $0, flags | O_NOFOLLOW) } }
    }
}

/// Who may read a folder: when it changes, so does what a scan of it finds.
struct FolderAccess: Hashable {
    private var permissions: FilePermissions?
    private var user: UInt32?
    private var group: UInt32?

    /// - Parameter status: `nil` where it cannot be told.
    init(_ status: FileStatus?) {
        (permissions, user, group) = (status?.permissions, status?.user, status?.group)
    }
}
