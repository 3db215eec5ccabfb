import Glibc
package import SystemPackage

/// What file system a path is on, and how full it is. Blocks, on a network file system for as long as its server does.
package struct FileSystemFacts: Hashable, Sendable {
    /// As `mount` shows it; `nil` where the system does not tell.
    package let type: String?
    /// Whether others can change it without this machine noticing.
    package let isRemote: Bool
    /// Bytes that this user may still write (statvfs(3), `f_bavail`).
    package let freeBytes: Int64
    package let totalBytes: Int64
    /// The same for two paths on one file system.
    package let device: UInt64

    package init(at path: FilePath) throws(Errno) {
        var status = stat()
        var volume = statvfs()
        guard path.withPlatformString({ stat($0, &status) }) == 0,
            path.withPlatformString({ statvfs($0, &volume) }) == 0
        else { throw Errno(rawValue: errno) }
        device = UInt64(status.st_dev)
        type = ProcFile.text("/proc/self/mountinfo").flatMap { [device] in MountTable.type(ofDevice: device, in: $0) }
        isRemote = type.map(MountTable.isRemote) ?? false
        freeBytes = Int64(clamping: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
        totalBytes = Int64(clamping: UInt64(volume.f_blocks) * UInt64(volume.f_frsize))
    }
}
