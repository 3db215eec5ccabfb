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
    package let permissions: FilePermissions
    /// How many names it has.
    package let links: UInt32
    package let user: UInt32
    package let group: UInt32

    /// Of an open file.
    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        try self.init(ofDescriptor: file.rawValue)
    }

    /// Of an open file, by its descriptor.
    /// - Throws: `Errno`.
    package init(ofDescriptor descriptor: Int32) throws(Errno) {
        var status = CSyncLinux_Status()
        let code = CSyncLinux_StatusOf(descriptor, &status)
        guard code == 0 else { throw Errno(rawValue: code) }
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
        let code = CSyncLinux_StatusAt(folder, name, followsLinks, &status)
        guard code == 0 else { throw Errno(rawValue: code) }
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
        permissions = FilePermissions(rawValue: status.mode & 0o7777)
        (links, user, group) = (status.links, status.user, status.group)
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
    /// Nanoseconds. Wraps past the year 2262, and for a time that a broken camera made up: only equality counts.
    fileprivate var sinceEpoch: Int64 { seconds &* 1_000_000_000 &+ Int64(nanoseconds) }
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

/// Extended attributes of a file (xattr(7)) that are a person's: those of programs, and the access control list (acl(5)).
/// Without the list, the bits of the group in the mode mean another thing, and let others in. All functions block.
package struct FileAttributes: Hashable, Sendable {
    /// The list of a file in XFS, ext4, Btrfs and the like.
    private static let accessList = "system.posix_acl_access"
    private static let ofPrograms = "user."

    private let values: [String: [UInt8]]

    /// - Parameter values: by the names of the attributes.
    package init(_ values: [String: [UInt8]]) { self.values = values }

    /// - Throws: `Errno`.
    package init(of file: FileDescriptor) throws(Errno) {
        var values: [String: [UInt8]] = [:]
        do {
            let names = try Self.bytes { CSyncLinux_AttributeNames(file.rawValue, $0, $1) }
            for name in names.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
                guard name == Self.accessList || name.hasPrefix(Self.ofPrograms) else { continue }
                values[name] = try Self.bytes { CSyncLinux_Attribute(file.rawValue, name, $0, $1) }
            }
        } catch Errno.notSupported {
            // The file system has none.
        }
        self.values = values
    }

    /// Gives them to a file that has none.
    /// - Throws: `Errno` `.notSupported` where its file system keeps none.
    package func set(on file: FileDescriptor) throws(Errno) {
        for (name, value) in values {
            let code = CSyncLinux_SetAttribute(file.rawValue, name, value, Int64(value.count))
            guard code == 0 else { throw Errno(rawValue: code) }
        }
    }

    /// As ``set(on:)``; nothing where its file system keeps none.
    /// - Throws: `Errno`.
    package func setWhereKept(on file: FileDescriptor) throws(Errno) {
        do {
            try set(on: file)
        } catch {
            guard error == .notSupported else { throw error }
        }
    }

    /// Asks for the size first, and again where it has grown since.
    private static func bytes(_ call: (UnsafeMutablePointer<CChar>?, Int64) -> Int64) throws(Errno) -> [UInt8] {
        while true {
            let size = call(nil, 0)
            guard size >= 0 else { throw Errno(rawValue: Int32(-size)) }
            var buffer = [CChar](repeating: 0, count: Int(size))
            let count = buffer.withUnsafeMutableBufferPointer { call($0.baseAddress, Int64($0.count)) }
            if count == -Int64(Errno.outOfRange.rawValue) { continue }
            guard count >= 0 else { throw Errno(rawValue: Int32(-count)) }
            return buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }
        }
    }
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
        guard ftruncate(rawValue, 0) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Returns when all that was written to the file, or all names in the folder, are on the disk (fsync(2)). The only place
    /// that says so: whoever calls something stored or saved has been here.
    ///
    /// No error is EINVAL, that nothing here can be synchronised, as folders of some network mounts; nor EROFS, that
    /// nothing could be missing.
    /// - Throws: `Errno`.
    package func sync() throws(Errno) {
        while fsync(rawValue) != 0 {
            switch errno {
            case EINTR: continue
            case EINVAL, EROFS: return
            case let code: throw Errno(rawValue: code)
            }
        }
    }

    /// fchmod(2).
    package func setPermissions(_ permissions: FilePermissions) throws(Errno) {
        guard fchmod(rawValue, permissions.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }

    // MARK: Locks

    // Those of flock(2) and those of bytes belong to one opening of a file, and hold off threads of this process as well as
    // others. The kernel drops them with the last descriptor of that opening, however its process ends.

    /// Takes the lock of flock(2) without waiting. Where there are no such locks (some network mounts), all get it.
    /// - Returns: `false` while another opening has it.
    package func tryLock() -> Bool { flock(rawValue, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK }

    /// A path that leads to this open folder (proc(5), `/proc/pid/fd`), whatever has its name by now: a long run does not
    /// follow a link that has taken its place.
    /// - Parameter path: what it was opened by: the answer where there is no /proc.
    package func heldPath(else path: FilePath) -> FilePath {
        let held = FilePath("/proc/self/fd/\(rawValue)")
        return held.allows([]) ? held : path
    }

    /// Waits for the lock of flock(2).
    package func waitForLock() throws(Errno) {
        while flock(rawValue, LOCK_EX) != 0 {
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
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
        let code = Errno(rawValue: CSyncLinux_LockBytes(rawValue, start, length))
        if code == .wouldBlock || code == .permissionDenied { return false }
        guard code.rawValue == 0 else { throw code }
        return true
    }

    /// Whether another opening has one of the bytes locked.
    package func areBytesLocked(from start: Int64, _ length: Int64) throws(Errno) -> Bool {
        var isLocked = false
        let code = CSyncLinux_AreBytesLocked(rawValue, start, length, &isLocked)
        guard code == 0 else { throw Errno(rawValue: code) }
        return isLocked
    }
}

/// Finds out whether a file is open for writing, with a read lease that is given back at once (fcntl(2), "Leases"):
/// the kernel refuses one with EAGAIN while any process has the file open for writing.
package enum WriteLease {
    /// Someone who opens the file for writing while we hold the lease, for those few microseconds, makes the kernel send
    /// us SIGIO, and its default action ends the process. The program has no other use for SIGIO.
    private static let ignoresLeaseBreaks: Bool = {
        signal(SIGIO, SIG_IGN)
        return true
    }()

    /// `false` also where leases do not exist or are not ours to take: another user's file, network file systems.
    package static func isRefused(for path: FilePath) -> Bool {
        guard ignoresLeaseBreaks,
            // Neither a FIFO nor someone else's lease may hold us up.
            let file = try? FileDescriptor.opened(path, .readOnly, [.nonBlocking, .noFollow, .closeOnExec])
        else { return false }
        defer { try? file.close() }
        let code = CSyncLinux_TakeReadLease(file.rawValue)
        if code == 0 { CSyncLinux_DropLease(file.rawValue) }
        return code == EAGAIN
    }
}

/// How many files this process may have open at once (getrlimit(2), `RLIMIT_NOFILE`).
package enum DescriptorLimit {
    /// Some systems start programs with few, and let them have more: it takes what it may have.
    /// - Parameter most: no more are taken. Programs that we run inherit them, and some of those count on few.
    /// - Returns: how many it may have open now.
    package static func raise(upTo most: UInt64 = 4_096) -> UInt64 {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return most }
        let before = UInt64(limit.rlim_cur)
        let wanted = min(UInt64(limit.rlim_max), most)
        guard wanted > before else { return before }
        limit.rlim_cur = rlim_t(wanted)
        return setrlimit(resource, &limit) == 0 ? wanted : before
    }
}

/// A file that has no name and lies in memory (memfd_create(2)), to be handed to another process. No program inherits it.
/// It closes itself.
package final class MemoryFile: Sendable {
    package let descriptor: FileDescriptor

    /// - Parameter name: what proc(5) shows.
    package init(named name: String) throws(Errno) {
        let file = CSyncLinux_MemoryFile(name)
        guard file >= 0 else { throw Errno(rawValue: -file) }
        descriptor = FileDescriptor(rawValue: file)
    }

    deinit {
        try? descriptor.close()
    }

    /// Bytes at this moment; whoever has it too may change that.
    package func size() throws(Errno) -> Int64 {
        try FileStatus(of: descriptor).stamp.size
    }

    package func write(_ bytes: [UInt8]) throws(Errno) {
        _ = try Errno.only { try descriptor.writeAll(toAbsoluteOffset: 0, bytes) }
    }

    /// Bytes of it; fewer where it ends before.
    package func bytes(from offset: Int64, _ count: Int) throws(Errno) -> [UInt8] {
        try Errno.only { try descriptor.bytes(atMost: count, from: offset) }
    }
}
