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
        let digits = "5d41402abc4b2a76b9719d911017c592"
        var info = ObjectInfo(key: try ObjectKey("a"), size: 1, etag: digits)
        #expect(info.tag == ObjectTag(digits) && info.etag == digits)
        #expect(
            info
                == ObjectInfo(
                    listed: try ObjectKey("a"), size: 1, md5: nil, tag: ObjectTag(digits), storageClass: .standard,
                    restore: .none, modified: nil))
        info.etag = nil
        #expect(info.tag == nil && info == ObjectInfo(key: try ObjectKey("a"), size: 1))
    }
}
