package import SyncSystem
package import SystemPackage

/// The system calls that fail on some disks only. Tests script them.
package struct DownloadCalls: Sendable {
    /// pwrite(2): writes some of the bytes at an offset, and tells how many.
    package var write: @Sendable (FileDescriptor, Int64, UnsafeRawBufferPointer) throws -> Int = {
        try $0.write(toAbsoluteOffset: $1, $2)
    }
    /// link(2): gives a file a second name, if nothing has it.
    package var link: NewFile.Link = NewFile.link
    /// fsync(2) of the folder that a file gets its name in.
    package var syncFolder: NewFile.SyncFolder = NewFile.syncFolder

    package init() {}

    /// - Returns: where the bytes end.
    func writeAll(_ bytes: UnsafeRawBufferPointer, to file: FileDescriptor, at offset: Int64) throws -> Int64 {
        var offset = offset
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try write(file, offset, UnsafeRawBufferPointer(rebasing: rest))
            offset += Int64(count)
            rest = rest.dropFirst(count)
        }
        return offset
    }
}
