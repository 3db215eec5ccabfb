import Glibc
package import SystemPackage

/// The system calls that fail on some disks only. Tests script them.
package struct DownloadCalls: Sendable {
    /// pwrite(2): writes some of the bytes at an offset, and tells how many.
    package var write: @Sendable (FileDescriptor, Int64, UnsafeRawBufferPointer) throws -> Int = {
        try $0.write(toAbsoluteOffset: $1, $2)
    }
    /// link(2): gives a file a second name, if nothing has it.
    package var link: @Sendable (FilePath, FilePath) throws(Errno) -> Void = { (old, new) throws(Errno) in
        guard Glibc.link(old.string, new.string) == 0 else { throw Errno(rawValue: errno) }
    }

    package init() {}
}
