import SyncCore
import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct DriveReaderTests {
    private static let table = Array(
        """
        27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw
        30 27 0:40 / /tmp rw - tmpfs tmpfs rw
        31 27 8:17 / /media/card rw,relatime shared:3 - vfat /dev/sdb1 rw
        37 31 8:49 / /media/card rw - exfat /dev/sde1 rw
        32 27 0:50 /@photos /srv/photos rw - btrfs /dev/sdc1 rw,subvol=/@photos
        33 27 0:60 / /mnt/nas\\040two rw - nfs4 nas:/my\\040photos rw
        34 27 0:61 / /mnt/auto rw - autofs systemd-1 rw
        35 34 8:33 / /media/card/deep rw - xfs /dev/sdd1 rw
        36 27 0:62 / /pool rw - zfs tank/photos rw
        """.utf8)

    private let reader = DriveReader(
        ownUUID: { ["/media/card/deep": "own", "/pool": "of no device"][$0.path.string] },
        uuid: { ["254:0": "root", "8:49": "CAFE-0001", "8:33": "disk", "8:5": "pool"][$0] },
        fsid: { ["/": "f1", "/srv/photos": "f2", "/pool": "f3"][$0.string] },
        device: { $0 == "/dev/sdc1" ? "8:5" : nil })

    @Test(
        arguments: [
            ("/home/ana/Pictures", DriveIdentity(.disk, uuid: "root", fsid: "f1", folder: "/home/ana/Pictures")),
            ("/tmp/photos", DriveIdentity(.passing)),
            // The later mount covers the earlier one.
            ("/media/card/DCIM", DriveIdentity(.disk, uuid: "CAFE-0001", folder: "/DCIM")),
            ("/media/card/deep/a", DriveIdentity(.disk, uuid: "own", folder: "/a")),
            ("/srv/photos", DriveIdentity(.disk, uuid: "pool", fsid: "f2", folder: "/@photos")),
            ("/mnt/nas two/2024", DriveIdentity(.network, source: "nas:/my photos", folder: "/2024")),
            ("/mnt/auto/x", nil),
            ("/pool/a", DriveIdentity(.disk, fsid: "f3", folder: "/a")),
        ] as [(FilePath, DriveIdentity?)])
    func `the drive at a path is told by what the system knows of it`(path: FilePath, drive: DriveIdentity?) {
        #expect(reader.drive(at: path, in: Self.table) == drive)
    }

    @Test func `what no drive tells of itself is nothing`() {
        let silent = DriveReader(
            ownUUID: { _ in nil }, uuid: { _ in nil }, fsid: { _ in nil }, device: { _ in nil })
        #expect(silent.drive(at: "/media/card", in: Self.table) == nil)
        #expect(silent.drive(at: "/home", in: []) == nil)
    }

    @Test func `a path that is not there is told by what is above it`() {
        let scanner = FileTreeScanner()
        #expect(scanner.drive(at: "/proc/self/nowhere") == nil)
        #expect(scanner.drive(at: "/nowhere") == scanner.drive(at: "/")?.below("nowhere"))
    }
}
