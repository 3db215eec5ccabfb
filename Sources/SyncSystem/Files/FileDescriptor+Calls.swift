import CSyncLinux
import Glibc
import SyncCore
package import SystemPackage

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
