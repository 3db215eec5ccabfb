import SyncCore
import SystemPackage
import Testing

@Suite struct DriveIdentityTests {
    private static let uuid = DriveIdentity(.disk, uuid: "2f3a-11")
    private static let both = DriveIdentity(.disk, uuid: "2f3a-11", fsid: "a1b2")
    private static let fsid = DriveIdentity(.disk, fsid: "a1b2")
    private static let share = DriveIdentity(.network, source: "nas:/photos")
    private static let subvolume = DriveIdentity(.disk, uuid: "2f3a-11", folder: "/@photos")

    @Test(
        arguments: [
            (uuid, uuid, false), (uuid, DriveIdentity(.disk, uuid: "77"), true), (both, uuid, false),
            (fsid, both, false), (fsid, uuid, false), (DriveIdentity(.disk, fsid: "c3"), both, true),
            (DriveIdentity(.disk, uuid: "2f3a-11", fsid: "of a subvolume"), both, false),
            (DriveIdentity(.passing), uuid, true), (share, uuid, true), (share, share, false),
            (DriveIdentity(.network, source: "nas:/other"), share, true), (DriveIdentity(.network), share, false),
            (subvolume, uuid, false), (subvolume, subvolume, false),
            (DriveIdentity(.disk, uuid: "2f3a-11", folder: "/@other"), subvolume, true),
        ] as [(DriveIdentity, DriveIdentity, Bool)])
    func `a drive is another one where something that both tell differs`(
        found: DriveIdentity, noted: DriveIdentity, isOther: Bool
    ) {
        #expect(found.isOther(than: noted) == isOther)
    }

    @Test(
        arguments: [
            uuid, both, share, DriveIdentity(.network, source: "me@host:a b=c"), DriveIdentity(.passing), subvolume,
            DriveIdentity(.disk, fsid: "a1", folder: FilePath(bytes: Array("/a\n=%b/".utf8) + [0xFF])),
        ])
    func `a text brings back what is known`(drive: DriveIdentity) {
        #expect(DriveIdentity(text: drive.text) == drive)
    }

    @Test func `a text of another version is none`() {
        #expect(DriveIdentity(text: "cloud\nid=1") == nil && DriveIdentity(text: "") == nil)
    }

    @Test func `a folder below is told by its own place in the file system`() {
        #expect(Self.subvolume.below("2024/May").folder == "/@photos/2024/May" && Self.uuid.below("2024").folder == nil)
    }

    @Test func `what a look does not tell stays known`() {
        #expect(Self.fsid.completed(by: Self.both) == Self.both)
        #expect(Self.both.isLasting && Self.share.isLasting && !DriveIdentity(.passing).isLasting)
    }
}
