import SyncSystem
package import SystemPackage

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
