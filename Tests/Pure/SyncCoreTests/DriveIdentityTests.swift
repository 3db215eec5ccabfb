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
            (uuid, uuid, .same), (uuid, DriveIdentity(.disk, uuid: "77"), .other), (both, uuid, .same),
            (fsid, both, .same), (DriveIdentity(.disk, fsid: "c3"), both, .other),
            (DriveIdentity(.disk, uuid: "2f3a-11", fsid: "of a subvolume"), both, .same),
            (DriveIdentity(.passing), uuid, .other), (share, uuid, .other), (share, share, .same),
            (DriveIdentity(.network, source: "nas:/other"), share, .other),
            (subvolume, uuid, .same), (subvolume, subvolume, .same),
            (DriveIdentity(.disk, uuid: "2f3a-11", folder: "/@other"), subvolume, .other),
            (DriveIdentity(.passing), DriveIdentity(.passing), .same),
            // Nothing is told that could be compared.
            (fsid, uuid, .untold), (uuid, fsid, .untold), (DriveIdentity(.network), share, .untold),
            (DriveIdentity.untold, uuid, .untold), (uuid, DriveIdentity.untold, .untold),
        ] as [(DriveIdentity, DriveIdentity, DriveIdentity.Likeness)])
    func `a drive is the same one where both tell the same, and another one where they tell something else`(
        found: DriveIdentity, noted: DriveIdentity, likeness: DriveIdentity.Likeness
    ) {
        #expect(found.likeness(to: noted) == likeness)
    }

    @Test(
        arguments: [
            uuid, both, share, DriveIdentity(.network, source: "me@host:a b=c"), DriveIdentity(.passing), subvolume,
            DriveIdentity.untold,
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
