import Glibc
import SyncSystem
import SystemPackage

/// Wakes a thread that is blocked in poll(2). A pipe, because Swift's Glibc does not show eventfd(2).
final class WakePipe: Sendable {
    private struct Ends {
        var read: FileDescriptor
        var write: FileDescriptor
    }

    private let ends: Mutex<Ends?>
    /// To be polled for POLLIN. Valid until ``close()``.
    let descriptor: Int32

    init() throws(Errno) {
        let (read, write) = try FileDescriptor.pipe(options: [.closeOnExec, .nonBlocking])
        ends = Mutex(Ends(read: read, write: write))
        descriptor = read.rawValue
    }

    deinit { close() }

    /// A full pipe wakes as well as one more byte would.
    func wake() {
        ends.withLock { ends in _ = try? ends?.write.writeAll([1]) }
    }

    /// Called once nobody polls it any more.
    func close() {
        ends.withLock { open in
            try? open?.read.close()
            try? open?.write.close()
            open = nil
        }
    }
}
