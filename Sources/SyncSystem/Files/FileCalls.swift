import CSyncLinux
import Glibc
package import SyncCore
package import SystemPackage

/// What statx(2) tells of a file. The only place where a ``FileStamp`` is made of a file on a disk.
package struct FileStatus: Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, link, other
    }

    package let kind: Kind
    package let stamp: FileStamp
    /// Bytes on the disk. They may be too few: some file systems count only what they have put on the disk already, and
    /// others pack.
    package let allocated: Int64
    package let permissions: FilePermissions
    /// How many names it has.
    package let links: UInt32
    package let user: UInt32
    package let group: UInt32
    /// Immutable or append-only (chattr(1)).
    let isFixed: Bool
    /// The root of a mount, which may be a file.
    let isMountRoot: Bool

    /// Of an open file.
    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        try self.init(ofDescriptor: file.rawValue)
    }

    /// Of an open file, by its descriptor.
    /// - Throws: `Errno`.
    package init(ofDescriptor descriptor: Int32) throws(Errno) {
        var status = CSyncLinux_Status()
        let code = Errno.code { CSyncLinux_StatusOf(descriptor, &status) }
        guard code.rawValue == 0 else { throw code }
        self.init(status)
    }

    /// Of what has a name now.
    /// - Throws: `Errno`.
    package init(at path: FilePath, followsLinks: Bool = false) throws(Errno) {
        self = try path.withPlatformString { name in
            Result { () throws(Errno) in
                try FileStatus(of: name, in: CSyncLinux_CurrentFolder, followsLinks: followsLinks)
            }
        }.get()
    }

    /// Of what has a name now; `nil` when nothing has it.
    /// - Throws: `Errno`.
    package static func find(_ path: FilePath, followsLinks: Bool = false) throws(Errno) -> FileStatus? {
        do {
            return try FileStatus(at: path, followsLinks: followsLinks)
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return nil
        }
    }

    /// Of an entry of an open folder.
    /// - Throws: `Errno`.
    package init(of name: UnsafePointer<CChar>, in folder: Int32, followsLinks: Bool = false) throws(Errno) {
        var status = CSyncLinux_Status()
        let code = Errno.code { CSyncLinux_StatusAt(folder, name, followsLinks, &status) }
        guard code.rawValue == 0 else { throw code }
        self.init(status)
    }

    private init(_ status: CSyncLinux_Status) {
        // `S_IFMT` and its values (inode(7)).
        kind =
            switch status.mode & 0o170000 {
            case 0o100000: .file
            case 0o040000: .folder
            case 0o120000: .link
            default: .other
            }
        stamp = FileStamp(
            device: status.device, inode: status.inode, size: status.size,
            modified: status.modified.sinceEpoch, changed: status.changed.sinceEpoch,
            born: status.isBirthKnown ? status.born.sinceEpoch : nil)
        allocated = status.allocated
        permissions = FilePermissions(rawValue: status.mode & 0o7777)
        (links, user, group) = (status.links, status.user, status.group)
        (isFixed, isMountRoot) = (status.isFixed, status.isMountRoot)
    }

    /// Whether both are one file, under one name or two.
    package func isSameFile(as other: FileStatus) -> Bool {
        (stamp.device, stamp.inode) == (other.stamp.device, other.stamp.inode)
    }
}

extension FileStamp {
    /// The stamp of the regular file that has a name now; `nil` when none has. Links are not followed.
    package static func ofFile(_ path: FilePath) -> FileStamp? {
        guard let status = try? FileStatus(at: path), status.kind == .file else { return nil }
        return status.stamp
    }
}

extension CSyncLinux_Time {
    /// Nanoseconds.
    fileprivate var sinceEpoch: Int64 { FileStamp.time(seconds: seconds, nanoseconds: nanoseconds) }
}

extension FileDescriptor {
    /// open(2).
    /// - Throws: `Errno`, as its type says.
    package static func opened(
        _ path: FilePath, _ mode: AccessMode, _ options: OpenOptions, _ permissions: FilePermissions? = nil
    ) throws(Errno) -> FileDescriptor {
        try Errno.only { try FileDescriptor.open(path, mode, options: options, permissions: permissions) }
    }

    /// The bytes of a file from `offset` on, at most `limit` of them.
    /// - Throws: `Errno`; `.ioError` when fewer came than there are.
    package func bytes(atMost limit: Int, from offset: Int64 = 0) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                let length = try read(at: offset + Int64(count), into: rest)
                if length == 0 { return }
                count += length
            }
        }
    }

    /// pread(2), by which nothing is read only at the end of the file: a drive that fails, or a mount that went away, may
    /// give nothing before. Then, and where the file has just become longer, it is read once more.
    /// - Parameter offset: bytes from the beginning of a regular file.
    /// - Returns: how many bytes were read; 0 at the end.
    /// - Throws: `Errno`; `.ioError` when there are more bytes, and none came.
    package func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        for _ in 0..<2 {
            let count = try Errno.only {
                try self.read(fromAbsoluteOffset: offset, into: buffer, retryOnInterrupt: true)
            }
            if count > 0 || buffer.isEmpty { return count }
            if try FileStatus(of: self).stamp.size <= offset { return 0 }
        }
        throw .ioError
    }

    /// Takes all bytes out of the file.
    package func cut() throws(Errno) {
        try Errno.calling { ftruncate(rawValue, 0) }
    }

    /// Returns when all that was written to the file, or all names in the folder, are on the disk (fsync(2)). The only place
    /// that says so: whoever calls something stored or saved has been here.
    ///
    /// No error is EINVAL, that nothing here can be synchronised, as folders of some network mounts; nor EROFS, that
    /// nothing could be missing.
    /// - Throws: `Errno`.
    package func sync() throws(Errno) {
        do {
            try Errno.calling { fsync(rawValue) }
        } catch {
            guard error == .invalidArgument || error == .readOnlyFileSystem else { throw error }
        }
    }

    /// Has the kernel begin to write the file to the disk, and does not wait (sync_file_range(2)). It makes nothing safe.
    /// - Throws: `Errno` of bytes that could not be written: the sync that follows need not tell of it again.
    package func startWriting() throws(Errno) {
        let code = Errno(rawValue: CSyncLinux_StartWriting(rawValue))
        if [.ioError, .noSpace, .diskQuotaExceeded].contains(code) { throw code }
    }

    /// The next piece of the file that was written, from an offset on; holes, places that nobody ever wrote to, are passed
    /// over (lseek(2), `SEEK_DATA`). A file system that knows nothing of holes tells one piece.
    /// - Returns: `nil` when there is none; an empty piece when it has just become a hole. The position is behind it.
    /// - Throws: `Errno` where the file system does not tell.
    package func writtenPiece(from offset: Int64) throws(Errno) -> Range<Int64>? {
        // `SEEK_DATA` and `SEEK_HOLE` of Linux, which Glibc shows only to GNU sources.
        let (data, hole) = (Int32(3), Int32(4))
        do {
            let start = try position(Glibc.lseek(rawValue, off_t(offset), data))
            let end = try position(Glibc.lseek(rawValue, off_t(start), hole))
            return start..<max(start, end)
        } catch {
            guard error == .noSuchAddressOrDevice else { throw error }
            return nil
        }
    }

    private func position(_ found: off_t) throws(Errno) -> Int64 {
        guard found >= 0 else { throw Errno(rawValue: errno) }
        return Int64(found)
    }

    /// fchmod(2).
    package func setPermissions(_ permissions: FilePermissions) throws(Errno) {
        try Errno.calling { fchmod(rawValue, permissions.rawValue) }
    }

    /// fchown(2).
    package func setOwner(_ user: UInt32, group: UInt32) throws(Errno) {
        try Errno.calling { fchown(rawValue, user, group) }
    }

    // MARK: Locks

    // Those of flock(2) and those of bytes belong to one opening of a file, and hold off threads of this process as well as
    // others. The kernel drops them with the last descriptor of that opening, however its process ends.

    /// Takes the lock of flock(2) without waiting. Where there are no such locks (some network mounts), all get it.
    /// - Returns: `false` while another opening has it.
    package func tryLock() -> Bool {
        do {
            try Errno.calling { flock(rawValue, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            return error != .wouldBlock
        }
    }

    /// A path that leads to this open folder (proc(5), `/proc/pid/fd`), whatever has its name by now: a long run does not
    /// follow a link that has taken its place.
    /// - Parameter path: what it was opened by: the answer where there is no /proc.
    package func heldPath(else path: FilePath) -> FilePath {
        let held = FilePath("/proc/self/fd/\(rawValue)")
        return held.allows([]) ? held : path
    }

    /// Waits for the lock of flock(2).
    package func waitForLock() throws(Errno) {
        try Errno.calling { flock(rawValue, LOCK_EX) }
    }

    /// Lets the lock of flock(2) go; closing does the same.
    package func unlock() {
        flock(rawValue, LOCK_UN)
    }

    /// Locks bytes without waiting (an open file description lock, fcntl(2)). Unlike that of flock(2), such a lock can be
    /// looked at without taking it.
    /// - Parameter length: 0 is all from `start` on.
    /// - Returns: `false` while another opening has one of them.
    package func tryLockBytes(from start: Int64, _ length: Int64) throws(Errno) -> Bool {
        let code = Errno.code { CSyncLinux_LockBytes(rawValue, start, length) }
        if code == .wouldBlock || code == .permissionDenied { return false }
        guard code.rawValue == 0 else { throw code }
        return true
    }

    /// Whether another opening has one of the bytes locked.
    package func areBytesLocked(from start: Int64, _ length: Int64) throws(Errno) -> Bool {
        var isLocked = false
        let code = Errno.code { CSyncLinux_AreBytesLocked(rawValue, start, length, &isLocked) }
        guard code.rawValue == 0 else { throw code }
        return isLocked
    }
}

/// Calls by name. Each is made again when a signal interrupts it, throws `Errno`, and goes by the bytes of the name: by way
/// of `String`, one that is no UTF-8 would be that of another file.
extension FilePath {
    /// rename(2), which replaces what has the new name.
    package func rename(to name: FilePath) throws(Errno) {
        try call { path in name.withPlatformString { Glibc.rename(path, $0) } }
    }

    /// link(2): a second name for this file, where nothing has it.
    package func link(as name: FilePath) throws(Errno) {
        try call { path in name.withPlatformString { Glibc.link(path, $0) } }
    }

    /// unlink(2).
    /// - Returns: `false` when nothing has the name.
    @discardableResult
    package func unlink() throws(Errno) -> Bool {
        do {
            try call { Glibc.unlink($0) }
            return true
        } catch {
            guard error == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }

    /// mkdir(2); the umask is taken off. ``Folder/make(_:permissions:above:calls:)`` makes one that stays.
    package func makeFolder(_ permissions: FilePermissions) throws(Errno) {
        try call { mkdir($0, permissions.rawValue) }
    }

    /// rmdir(2): only a folder that is empty.
    package func removeFolder() throws(Errno) {
        try call { rmdir($0) }
    }

    /// chmod(2).
    package func setPermissions(_ permissions: FilePermissions) throws(Errno) {
        try call { chmod($0, permissions.rawValue) }
    }

    /// access(2): throws where it is not there, or this process may not do so.
    package func requireAccess(_ rights: AccessRights) throws(Errno) {
        try call { access($0, rights.rawValue) }
    }

    /// Whether it is there, and this process may do so.
    package func allows(_ rights: AccessRights) -> Bool {
        (try? requireAccess(rights)) != nil
    }

    /// Without symbolic links (realpath(3)); `nil` where that cannot be told.
    package var resolved: FilePath? {
        let call: () -> UnsafeMutablePointer<CChar>? = { withPlatformString { realpath($0, nil) } }
        guard let resolved = try? Errno.callingForPointer(call) else { return nil }
        defer { free(resolved) }
        return FilePath(platformString: resolved)
    }

    /// Without symbolic links, as far as there is anything: what was deleted, or lies in a folder that cannot be entered,
    /// is found by the nearest folder above it.
    package var resolvedAsFarAsThere: FilePath? {
        var (folder, rest) = (self, [FilePath.Component]())
        while true {
            if let real = folder.resolved { return real.appending(rest) }
            guard let name = folder.lastComponent else { return nil }
            rest.insert(name, at: 0)
            folder.removeLastComponent()
        }
    }

    /// By the bytes of the name, until no signal interrupts it.
    private func call(_ body: (UnsafePointer<CChar>) -> Int32) throws(Errno) {
        try Errno.calling { withPlatformString(body) }
    }
}

/// What a process may do with a file or folder; none of it is: it is there.
package struct AccessRights: OptionSet, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package static let read = AccessRights(rawValue: R_OK)
    package static let write = AccessRights(rawValue: W_OK)
    /// To enter a folder, to run a file.
    package static let execute = AccessRights(rawValue: X_OK)
}

extension Errno {
    /// Runs what throws nothing but an `Errno`, and does not say so: calls of System.
    package static func only<Value>(_ body: () throws -> Value) throws(Errno) -> Value {
        do {
            return try body()
        } catch {
            throw error as? Errno ?? .ioError
        }
    }

    /// Nothing is there, or not where the path says.
    package var isMissing: Bool { self == .noSuchFileOrDirectory || self == .notDirectory }

    /// This user may not.
    package var isRefusal: Bool { self == .permissionDenied || self == .notPermitted }

    /// Too little of what the process or the machine has: it is not about the file.
    package var isShortage: Bool { [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(self) }
}
