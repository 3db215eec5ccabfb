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
        do {
            let descriptor = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            defer { try? descriptor.close() }
            return try descriptor.areBytesLocked(from: 0, 0) ? holder(in: descriptor) : nil
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
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

/// Who takes work from the ledger, and what is known of others who have.
package struct ClaimOwner: Sendable {
    /// Of this process, and of no other.
    package let name: String
    /// Whether a process of this name is known to be no more: what it had in hand is free.
    package let hasEnded: @Sendable (String) -> Bool

    package init(name: String, hasEnded: @escaping @Sendable (String) -> Bool = { _ in false }) {
        self.name = name
        self.hasEnded = hasEnded
    }

    package init(_ lock: OwnerLock) {
        self.init(name: lock.name, hasEnded: lock.hasEnded)
    }
}

/// Tells which processes are still there: each locks one byte of a file, the one that its name tells, for as long as it
/// lives (an open file description lock, fcntl(2)). The kernel drops the lock with the process, however it ends, so that
/// nobody has to wait for one that was killed.
package final class OwnerLock: Sendable {
    /// Bytes of a file are numbered with 63 bits.
    package static let largestNumber: Int64 = 1 << 62

    /// Of this process, and of no other: process ids are used again, the number is not.
    package let name: String
    private let descriptor: FileDescriptor?

    /// - Parameters:
    ///   - path: the file, the same for all processes of a ledger. Where it cannot be locked, nobody is known to have
    ///     ended.
    ///   - number: random, 1 to ``largestNumber``.
    package init(at path: FilePath, pid: Int32, number: Int64 = .random(in: 1...largestNumber)) {
        descriptor = Self.lock(number, of: path)
        // Whoever holds no lock must not be taken for one that has lost it.
        name = "\(pid)\(descriptor == nil ? "?" : "-")\(String(number, radix: 16))"
    }

    deinit {
        try? descriptor?.close()
    }

    /// Whether a process of this name is known to be no more.
    package func hasEnded(_ name: String) -> Bool {
        guard let descriptor, name != self.name, let dash = name.firstIndex(of: "-"),
            let number = Int64(name[name.index(after: dash)...], radix: 16), (1...Self.largestNumber).contains(number)
        else { return false }
        return (try? descriptor.areBytesLocked(from: number, 1)) == false
    }

    private static func lock(_ number: Int64, of path: FilePath) -> FileDescriptor? {
        guard
            let descriptor = try? FileDescriptor.open(
                path, .readWrite, options: [.create, .noFollow, .closeOnExec], permissions: [.ownerReadWrite])
        else { return nil }
        if (try? descriptor.tryLockBytes(from: number, 1)) == true { return descriptor }
        try? descriptor.close()
        return nil
    }
}
