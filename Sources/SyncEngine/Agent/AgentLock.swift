package import FoundationEssentials
import Glibc
package import SystemPackage

/// One agent per ledger: an open file description lock (fcntl(2)) on `agent.lock`, which the kernel drops with the
/// process, however it ends. The file's text tells who holds it. Unlike flock(2), such a lock can be looked at without
/// taking it, so that `status` never gets in the way of an agent that starts.
package final class AgentLock: Sendable {
    /// Who holds the lock.
    package struct Holder: Codable, Hashable, Sendable {
        package var pid: Int32
        package var since: Date
    }

    /// The lock is another's.
    package struct Held: Error, CustomStringConvertible {
        package var holder: Holder?

        package init(holder: Holder?) {
            self.holder = holder
        }

        package var description: String {
            let who = holder.map { "process \($0.pid), since \($0.since.formatted(.iso8601))" } ?? "another process"
            return "another sync-agent is at work on this ledger (\(who)); wait for it, or stop it first"
        }
    }

    private let descriptor: FileDescriptor

    /// Takes the lock without waiting.
    /// - Throws: ``Held``; `Errno` when the file cannot be made or locked.
    package init(at path: FilePath, pid: Int32, now: Date) throws {
        // A link in its place would have another file of the user's emptied.
        let descriptor = try FileDescriptor.open(
            path, .readWrite, options: [.create, .noFollow, .closeOnExec], permissions: [.ownerReadWrite])
        do {
            try Self.tighten(descriptor)
            var lock = Self.wholeFile(F_WRLCK)
            guard fcntl(descriptor.rawValue, Command.setLock, &lock) == 0 else {
                let error = Errno(rawValue: errno)
                let isHeld = error == .wouldBlock || error == .permissionDenied
                throw isHeld ? Held(holder: Self.holder(in: descriptor)) : error
            }
            let text = try JSONEncoder().encode(Holder(pid: pid, since: now))
            guard ftruncate(descriptor.rawValue, 0) == 0 else { throw Errno(rawValue: errno) }
            try descriptor.writeAll(toAbsoluteOffset: 0, text)
        } catch {
            try? descriptor.close()
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Who holds the lock at this moment; `nil` when nobody does.
    /// - Throws: `Errno`; a lock file that was never made is no error.
    package static func currentHolder(at path: FilePath) throws -> Holder? {
        let descriptor: FileDescriptor
        do {
            descriptor = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
        defer { try? descriptor.close() }
        var lock = wholeFile(F_WRLCK)
        guard fcntl(descriptor.rawValue, Command.getLock, &lock) == 0 else { throw Errno(rawValue: errno) }
        return lock.l_type == Int16(F_UNLCK) ? nil : holder(in: descriptor)
    }

    /// Whoever may open the file may hold the lock, and keep the agent from its work.
    private static func tighten(_ descriptor: FileDescriptor) throws(Errno) {
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        if status.st_mode & 0o077 != 0, status.st_uid == geteuid() { fchmod(descriptor.rawValue, 0o600) }
    }

    /// Commands of fcntl(2) that glibc declares under `_GNU_SOURCE` only (linux/fcntl.h).
    private enum Command {
        static let getLock: Int32 = 36
        static let setLock: Int32 = 37
    }

    private static func wholeFile(_ type: Int32) -> flock {
        flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    }

    private static func holder(in descriptor: FileDescriptor) -> Holder? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = bytes.withUnsafeMutableBytes { try? descriptor.read(fromAbsoluteOffset: 0, into: $0) } ?? 0
        return try? JSONDecoder().decode(Holder.self, from: Data(bytes[..<count]))
    }
}

extension FileDescriptor {
    fileprivate func writeAll(toAbsoluteOffset offset: Int64, _ data: Data) throws {
        var offset = offset
        var rest = data[...]
        while !rest.isEmpty {
            let written = try rest.withUnsafeBytes { try write(toAbsoluteOffset: offset, $0) }
            offset += Int64(written)
            rest = rest.dropFirst(written)
        }
    }
}
