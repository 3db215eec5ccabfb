import CSyncLinux
import Glibc
package import SystemPackage

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
        let code = Errno.code { CSyncLinux_TakeReadLease(file.rawValue) }
        if code.rawValue == 0 { CSyncLinux_DropLease(file.rawValue) }
        return code == .wouldBlock
    }
}
