import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// Finds out which file system is seen at a path, from the table of mounts and what its driver tells; where that tells
/// nothing, from what udev(7) has read from the device.
struct DriveReader: Sendable {
    /// The UUID that the driver of a mounted file system tells; `nil` where it tells none.
    var ownUUID: @Sendable (_ mount: MountPoint) -> String?
    /// The UUID of the file system on a block device; `nil` where none is known. Devices are told as the table of
    /// mounts writes them: `8:17`.
    var uuid: @Sendable (_ device: String) -> String?
    /// `f_fsid` of what is mounted at a path.
    var fsid: @Sendable (_ mount: FilePath) -> String?
    /// Which device a device file is.
    var device: @Sendable (_ file: FilePath) -> String?

    /// - Parameters:
    ///   - path: absolute, without symbolic links. It need not be there.
    ///   - table: as `/proc/self/mountinfo` has it.
    func drive(at path: FilePath, in table: [UInt8]) -> DriveIdentity? {
        guard let mount = MountPoint.holding(path, of: MountPoint.all(in: table)) else { return nil }
        if Self.passing.contains(mount.type) { return DriveIdentity(.passing) }
        let folder = mount.root.appending(path.components.dropFirst(mount.path.components.count))
        let isOfDevice = mount.source.hasPrefix("/dev/")
        // Those of a cluster are on a device.
        if MountTable.isRemote(mount.type), !isOfDevice {
            return DriveIdentity(.network, source: mount.source == "none" ? nil : mount.source, folder: folder)
        }
        // A file system of several devices has a number of its own (btrfs), and the table names one of them.
        let hasOwnNumber = mount.device.hasPrefix("0:")
        let number = hasOwnNumber ? (isOfDevice ? device(FilePath(mount.source)) : nil) : mount.device
        let own = isOfDevice || !hasOwnNumber ? ownUUID(mount) : nil
        let drive = DriveIdentity(
            .disk, uuid: own ?? number.flatMap(uuid),
            fsid: Self.keepingID.contains(mount.type) ? fsid(mount.path) : nil, folder: folder)
        return drive.isLasting ? drive : nil
    }

    private static let passing: Set = ["tmpfs", "ramfs", "rootfs", "overlay", "aufs"]
    /// Others make it of the number of the device, which is another one when it is plugged in again.
    private static let keepingID: Set = ["ext2", "ext3", "ext4", "btrfs", "zfs", "bcachefs"]
}

extension DriveReader {
    static let system = DriveReader(
        ownUUID: { mount in
            let options: FileDescriptor.OpenOptions = [.closeOnExec, .directory]
            guard let root = try? FileDescriptor.open(mount.path, .readOnly, options: options) else { return nil }
            return try? root.closeAfter { () throws -> String? in
                // Not of what was mounted over it a moment ago. A subvolume has a number that the table does not tell.
                let device = try FileStatus(of: root).stamp.device
                guard mount.device.hasPrefix("0:") || MountTable.number(ofDevice: device) == mount.device else {
                    return nil
                }
                return FileSystemUUID.text(ofFile: root)
            }
        },
        uuid: { number in Self.uuidOfUdev(number) ?? Self.uuidOfLink(number) },
        fsid: { mount in
            var volume = statvfs()
            let answer = try? Errno.calling { mount.withPlatformString { statvfs($0, &volume) } }
            guard answer != nil, volume.f_fsid != 0 else { return nil }
            return String(volume.f_fsid, radix: 16)
        },
        device: { file in Self.number(ofFile: file) })

    private static func number(ofFile file: FilePath) -> String? {
        var status = stat()
        guard (try? Errno.calling { file.withPlatformString { stat($0, &status) } }) != nil else { return nil }
        return MountTable.number(ofDevice: UInt64(status.st_rdev))
    }

    /// A service without devices (`PrivateDevices=` of systemd.exec(5)) sees this one, and no links.
    private static func uuidOfUdev(_ number: String) -> String? {
        let name = "E:ID_FS_UUID="
        return ProcFile.text(FilePath("/run/udev/data/b\(number)"))?.split(separator: "\n")
            .first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    private static func uuidOfLink(_ number: String) -> String? {
        let folder: FilePath = "/dev/disk/by-uuid"
        let names = try? Folder.names(in: folder)
        return names?.first { Self.number(ofFile: folder.appending($0)) == number }?.string
    }
}
