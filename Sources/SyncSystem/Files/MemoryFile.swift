import CSyncLinux
import Glibc
import SyncCore
package import SystemPackage

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
