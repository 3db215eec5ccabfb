import SyncCore
import Testing

@Suite struct IgnoredNamesTests {
    @Test(
        arguments: [
            ".hidden", "a.tmp", "a.PART", "IMG_1.jpg.crdownload", "photo.jpg~", "~lock", ".", "x.partial", "Thumbs.db",
        ])
    func `names of unfinished and private files are left out`(name: String) {
        #expect(IgnoredNames.contains(name))
    }

    @Test(
        arguments: [
            "#recycle", "#snapshot", "@Recycle", "@Recently-Snapshot", "@tmp", "@eaDir", "lost+found", "$RECYCLE.BIN",
            "System Volume Information", ".stfolder", ".stversions", ".sync", ".AppleDouble", ".Trash-1000",
            ".snapshots",
        ])
    func `folders of devices and sync programs are not looked into, and not missed`(name: String) {
        #expect(IgnoredNames.containsFolder(name) && IgnoredNames.areByproducts(name))
    }

    @Test(arguments: ["recycle", "snapshot", "tmp", "sync", "2026", "@home", "#1"])
    func `other folders are`(name: String) {
        #expect(!IgnoredNames.containsFolder(name))
    }

    @Test(arguments: ["IMG_1.jpg", "tmp", "part", "a.tmp.jpg", "Zürich ~ 1.heic", "x.json"])
    func `names of photos are not`(name: String) {
        #expect(!IgnoredNames.contains(name))
    }
}
