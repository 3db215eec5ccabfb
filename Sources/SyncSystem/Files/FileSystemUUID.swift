import CSyncLinux
import Glibc
package import SystemPackage

/// What the driver of a file system tells of it: no udev(7) is asked, and no device is read.
package enum FileSystemUUID {
    /// The UUID of the file system that an open file is on, as blkid(8) shows it; `nil` where kernel or file system
    /// tells none.
    package static func text(ofFile file: FileDescriptor) -> String? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let length = Errno.repeating(while: -EINTR) { CSyncLinux_FileSystemUUID(file.rawValue, &bytes) }
        return length > 0 ? text(of: Array(bytes.prefix(Int(length)))) : nil
    }

    /// - Returns: `nil` for zeros, which one has that was made without a UUID, and for what blkid(8) may write in
    ///   another way.
    static func text(of bytes: [UInt8]) -> String? {
        if bytes.allSatisfy({ $0 == 0 }) { return nil }
        switch bytes.count {
        case 16:
            let digits = hex(bytes)
            var (parts, rest): ([Substring], Substring) = ([], digits[...])
            for length in [8, 4, 4, 4, 12] {
                parts.append(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            return parts.joined(separator: "-")
        case 4:
            // The serial number of FAT, a number of the machine.
            let serial = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            let digits = hex([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: serial >> $0) }).uppercased()
            return "\(digits.prefix(4))-\(digits.suffix(4))"
        default: return nil
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
