package import FoundationEssentials
import Glibc
import SyncSystem
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
            guard try descriptor.tryLockBytes(from: 0, 0) else { throw Held(holder: Self.holder(in: descriptor)) }
            let text = try JSONEncoder().encode(Holder(pid: pid, since: now))
            try descriptor.cut()
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
        return try descriptor.areBytesLocked(from: 0, 0) ? holder(in: descriptor) : nil
    }

    /// Whoever may open the file may hold the lock, and keep the agent from its work.
    private static func tighten(_ descriptor: FileDescriptor) throws(Errno) {
        let status = try FileStatus(of: descriptor)
        if status.permissions.rawValue & 0o077 != 0, status.user == geteuid() { fchmod(descriptor.rawValue, 0o600) }
    }

    private static func holder(in descriptor: FileDescriptor) -> Holder? {
        try? JSONDecoder().decode(Holder.self, from: Data(descriptor.bytes(atMost: 512)))
    }
}
