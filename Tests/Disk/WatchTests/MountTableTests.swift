import SyncCore
import SyncSystem
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct MountTableTests {
    static let table = """
        22 27 0:21 / /proc rw,relatime - proc proc rw
        27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw
        40 27 0:300 / /mnt/photos rw,relatime - nfs4 server:/photos rw,vers=4.2
        41 27 0:55 /sub /mnt/my\\040stick rw - fuse.sshfs me@host: rw
        """

    @Test(
        arguments: [
            (0x15, "proc"), (0xFE00, "ext4"), (0x10_002C, "nfs4"), (0x37, "fuse.sshfs"), (0x99, nil),
        ] as [(UInt64, String?)])
    func `a device number leads to the type of its file system`(device: UInt64, type: String?) {
        #expect(MountTable.type(ofDevice: device, in: Self.table) == type)
    }

    @Test func `the file systems of this machine are found`() throws {
        let identity = try #require(FolderIdentity(at: "/proc"))
        #expect(WatchCalls.system.fileSystem(identity.device) == "proc")
    }

    @Test(arguments: [
        ("ext4", false), ("btrfs", false), ("xfs", false), ("overlay", false), ("tmpfs", false), ("vfat", false),
        ("fuseblk", false), ("zfs", false), ("nfs", true), ("nfs4", true), ("cifs", true), ("smb3", true), ("9p", true),
        ("fuse", true), ("fuse.rclone", true), ("ceph", true), ("afs", true), ("virtiofs", true),
    ])
    func `what others change behind the kernel's back is remote`(type: String, isRemote: Bool) {
        #expect(MountTable.isRemote(type) == isRemote)
    }
}
