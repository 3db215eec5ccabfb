import Glibc
package import SystemPackage

/// What keeps everybody from changing a file, or from removing what is in a folder (chattr(1)).
package enum FileFlag: CInt, Sendable, CaseIterable {
    case immutable = 0x10
    case appendOnly = 0x20

    // FS_IOC_GETFLAGS and FS_IOC_SETFLAGS (ioctl_iflags(2)), where a long has 64 bits.
    private static let getFlags: UInt = 0x8008_6601
    private static let setFlags: UInt = 0x4008_6602

    /// Gives it to a file or folder, or takes it from there.
    /// - Returns: whether that was done. Only root may, and not every file system has it.
    @discardableResult
    package func set(_ isSet: Bool, on path: FilePath) -> Bool {
        guard let descriptor = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec]) else {
            return false
        }
        defer { try? descriptor.close() }
        var flags: CInt = 0
        guard ioctl(descriptor.rawValue, Self.getFlags, &flags) == 0 else { return false }
        if isSet { flags |= rawValue } else { flags &= ~rawValue }
        return ioctl(descriptor.rawValue, Self.setFlags, &flags) == 0
    }
}
