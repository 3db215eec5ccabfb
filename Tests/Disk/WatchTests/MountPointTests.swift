import SystemPackage
import Testing

@testable import SyncWatch

@Suite struct MountPointTests {
    private static let table = Array(
        """
        22 27 0:21 / /proc rw,relatime - proc proc rw
        27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw
        40 27 0:300 / /home/ana/Pictures/SD rw,relatime - vfat /dev/sdb1 rw
        41 27 0:55 /sub /home/ana/Pictures/my\\040stick\\134a rw - exfat /dev/sdc1 rw
        42 27 0:56 / /home/ana/Pictures/.thumbs rw - tmpfs tmpfs rw
        43 27 0:57 / /home/ana/PicturesToo rw - tmpfs tmpfs rw
        44 27 0:58 / /home rw - ext4 /dev/vdb rw
        damaged
        """.utf8)

    @Test func `mounts below a folder are named relative to it, and blanks are blanks`() {
        #expect(MountPoint.below("/home/ana/Pictures", in: Self.table) == ["SD", "my stick\\a"])
        #expect(MountPoint.below("/srv", in: Self.table) == [])
    }

    @Test func `what is mounted at, below and above a folder decides what is seen of it`() {
        #expect(MountPoint.around("/home/ana/Pictures", in: Self.table).map(\.id) == [27, 40, 41, 42, 44])
        #expect(MountPoint.around("/srv/photos", in: Self.table).map(\.id) == [27])
    }

    @Test(
        arguments: [
            ("/srv/store/objects", ["/mnt/bound/objects", "/mnt/objects"]), ("/srv/store", ["/mnt/bound"]),
            ("/mnt/objects/a", ["/srv/store/objects/a", "/mnt/bound/objects/a"]), ("/srv", []), ("/data/store", []),
        ] as [(FilePath, [FilePath])])
    func `a folder has a name by each mount that shows it`(folder: FilePath, names: [FilePath]) {
        let table = """
            27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
            44 27 254:1 / /data rw - ext4 /dev/vdb rw
            50 27 254:0 /srv/store /mnt/bound rw - ext4 /dev/vda rw
            51 27 254:0 /srv/store/objects /mnt/objects rw - ext4 /dev/vda rw
            """
        #expect(MountPoint.otherNames(of: folder, in: Array(table.utf8)) == names)
    }

    @Test func `the mounts of this machine are found`() {
        #expect(MountPoint.all(in: WatchCalls.system.mountTable()).contains { $0.path == "/proc" })
    }
}
