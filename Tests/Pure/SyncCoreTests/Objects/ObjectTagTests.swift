import SyncCore
import Testing

@Suite struct ObjectTagTests {
    private func tag(utf8 bytes: [UInt8]) -> ObjectTag { bytes.withUnsafeBufferPointer { ObjectTag(utf8: $0) } }

    @Test(arguments: 0...45)
    func `a tag is its text, however long that is`(length: Int) {
        for ending in ["", "-12", "\u{FC}", "\u{0}"] {
            let text = String(repeating: "a", count: length) + ending
            let found = tag(utf8: Array(text.utf8))
            #expect(found == ObjectTag(text))
            #expect(found.description == text)
            #expect(found.withUTF8 { Array($0) } == Array(text.utf8))
            #expect(Set([found, ObjectTag(text)]).count == 1)
            for other in [text + "b", text + "\u{0}", "b" + text] { #expect(found != ObjectTag(other)) }
        }
    }

    @Test func `two spellings of a letter are one tag, as they are one text`() {
        #expect(ObjectTag("\u{E9}") == ObjectTag("e\u{301}"))
        #expect(tag(utf8: [0x61, 0xFF]).description == "a\u{FFFD}")
    }

    @Test func `an object has its tag as a text, too`() throws {
        let key = try ObjectKey("a")
        var info = ObjectInfo(key: key, size: 1, etag: "one")
        #expect(info.tag == ObjectTag("one") && info.etag == "one")
        info.etag = nil
        #expect(info.tag == nil && info == ObjectInfo(key: key, size: 1))
    }

    @Test(arguments: [
        "5d41402abc4b2a76b9719d911017c592", "5D41402ABC4B2A76B9719D911017C592", "5d41402abc4b2a76b9719d911017c592-2",
        "5d41402abc4b2a76b9719d911017c59g", "", nil,
    ])
    func `a listed object's MD5 is its tag, where that is one`(etag: String?) throws {
        let key = try ObjectKey("a")
        let md5 = etag.flatMap { MD5Digest(hex: $0) }
        let tag = etag.map { ObjectTag($0) }
        let listed = ObjectInfo(
            listed: key, size: 1, tag: tag, storageClass: .standard, restore: .none, modified: nil)
        #expect(listed.md5 == md5)
        #expect(listed == ObjectInfo(key: key, size: 1, md5: md5, etag: etag))
        #expect((listed == ObjectInfo(key: key, size: 1, etag: etag)) == (md5 == nil))
    }

    @Test func `MD5 and tag of an object are set each by itself`() throws {
        let (key, digits) = (try ObjectKey("a"), "5d41402abc4b2a76b9719d911017c592")
        let (own, other) = (MD5Digest(hex: digits), MD5Digest(hex: "00000000000000000000000000000000"))
        var info = ObjectInfo(key: key, size: 1, md5: other, etag: digits)
        #expect(info.md5 == other)
        info.md5 = own
        #expect(info.md5 == own && info == ObjectInfo(key: key, size: 1, md5: own, etag: digits))
        info.etag = "another"
        #expect(info.md5 == own && info == ObjectInfo(key: key, size: 1, md5: own, etag: "another"))
        info.etag = digits
        #expect(info.md5 == own && info == ObjectInfo(key: key, size: 1, md5: own, etag: digits))
        info.md5 = nil
        #expect(info.md5 == nil && info == ObjectInfo(key: key, size: 1, etag: digits))
    }
}
