import Glibc
import SystemPackage

/// Finds out whether a file is open for writing, with a read lease that is given back at once (fcntl(2), "Leases"):
/// the kernel refuses one with EAGAIN while any process has the file open for writing.
enum WriteLease {
    /// `F_SETLEASE` of `<linux/fcntl.h>`; the C library shows it only to _GNU_SOURCE, and Swift's Glibc is built without.
    private static let setLease: Int32 = 1_024

    /// Someone who opens the file for writing while we hold the lease, for those few microseconds, makes the kernel send
    /// us SIGIO, and its default action ends the process. The program has no other use for SIGIO.
    private static let ignoresLeaseBreaks: Bool = {
        signal(SIGIO, SIG_IGN)
        return true
    }()

    /// `false` also where leases do not exist or are not ours to take: another user's file, network file systems.
    static func isRefused(for file: FilePath) -> Bool {
        guard ignoresLeaseBreaks else { return false }
        // O_NONBLOCK: neither a FIFO nor someone else's lease may hold us up.
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC
        let descriptor = file.withPlatformString { open($0, flags) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 else {
            _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
            return false
        }
        return errno == EAGAIN
    }
}
