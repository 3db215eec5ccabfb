import SyncCore
import Testing

@Suite struct IgnoredNamesTests {
    @Test(
        "names of unfinished and private files are left out",
        arguments: [
            ".hidden", "a.tmp", "a.PART", "IMG_1.jpg.crdownload", "photo.jpg~", "~lock", ".", "x.partial", "Thumbs.db",
        ])
    func ignored(name: String) {
        #expect(IgnoredNames.contains(name))
    }

    @Test("names of photos are not", arguments: ["IMG_1.jpg", "tmp", "part", "a.tmp.jpg", "Zürich ~ 1.heic", "x.json"])
    func kept(name: String) {
        #expect(!IgnoredNames.contains(name))
    }
}
