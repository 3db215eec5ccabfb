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

    @Test(arguments: ["IMG_1.jpg", "tmp", "part", "a.tmp.jpg", "Zürich ~ 1.heic", "x.json"])
    func `names of photos are not`(name: String) {
        #expect(!IgnoredNames.contains(name))
    }
}
