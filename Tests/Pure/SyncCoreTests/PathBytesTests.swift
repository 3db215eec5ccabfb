import SyncCore
import SystemPackage
import Testing

@Suite struct PathBytesTests {
    @Test(arguments: [
        Array("plain".utf8), Array("Zürich ✨".utf8), [0xFF], [0x80, 0x81], [0xC3], [0xC3, 0x28], [0xE2, 0x82],
        [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], Array("\u{10FE80}".utf8), Array("\u{10FEFF}".utf8), [],
        Array("a".utf8) + [0xF4, 0x8F] + Array("\u{10FE80}z".utf8),
    ])
    func `bytes become text and come back as they were`(bytes: [UInt8]) {
        #expect(RawText.bytes(of: RawText.text(of: bytes)) == bytes)
    }

    @Test func `no two words of other bytes are one text`() {
        let words: [[UInt8]] = [[0x80], [0x81], Array("\u{10FE80}".utf8), Array("\u{FFFD}".utf8), Array("\\x80".utf8)]
        #expect(Set(words.map { RawText.text(of: $0) }).count == words.count)
    }

    @Test func `what is text is itself, and needs no telling`() {
        #expect(RawText.text(of: Array("Zürich".utf8)) == "Zürich")
        #expect(FilePath("/a/Zürich").isText)
        #expect(FilePath("/a/Zürich").text == "/a/Zürich")
    }

    @Test func `a path is told with the bytes that are no text`() throws {
        let path = FilePath("/a").appending(try #require(FilePath.Component(bytes: [0x64, 0xFF])))
        #expect(path.text == "/a/d\\xff")
        #expect(path.lastComponent?.text == "d\\xff")
        #expect(!path.isText)
        #expect(FilePath(bytes: path.bytes) == path)
    }

    @Test(arguments: [
        "", "/", "a", "/a", "a/b", "/a/b", "/a//b/", "//", ".", "..", "/..", "a/..", "./a", "/a/.",
        "/Zu\u{308}rich/\u{301}a",
    ])
    func `the folder that a path is in is what is left without its last name`(text: String) {
        for path in [FilePath(text), FilePath(bytes: Array(text.utf8) + Array("/d".utf8) + [0xFF])] {
            #expect(path.containingFolder == path.removingLastComponent())
            #expect(path.containingFolder.bytes == path.removingLastComponent().bytes)
        }
    }

    @Test func `several names are not one`() {
        #expect(FilePath.Component(bytes: Array("a/b".utf8)) == nil)
    }
}
