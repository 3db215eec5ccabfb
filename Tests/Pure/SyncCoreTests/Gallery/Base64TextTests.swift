import FoundationEssentials
import SyncCore
import Testing

@Suite struct Base64TextTests {
    @Test(
        arguments: [
            ("TWFu", "Man"), ("TWE=", "Ma"), ("TQ==", "M"), ("TWE", "Ma"), ("TQ", "M"), ("TW\\r\\nFu\\n", "Man"),
            ("TW\\u000aFu", "Man"), ("Pz8/", "???"), ("Pz8\\/", "???"), ("Pz8_", "???"),
            ("Pj4+", ">>>"), ("Pj4-", ">>>"), ("Pz8\\u002F", "???"),
        ])
    func `every usual form of base64 is read`(text: String, expected: String) {
        let base64 = Base64Text(Array(text.utf8)[...])
        #expect(base64.isValid)
        #expect(base64.decoded() == Array(expected.utf8))
    }

    @Test(
        arguments: [
            "T", "TWFuT", "TW=u", "TWFu=", "TQ=", "TQ===", "hello mum", "TW Fu", "IMG_1.jpg", "TWFu\\x", "TWFu\\", "é",
            "T\\u00e9",
        ])
    func `what is no base64 is refused`(text: String) {
        #expect(!Base64Text(Array(text.utf8)[...]).isValid)
    }

    @Test func `nothing is no photo`() {
        #expect(!Base64Text([][...]).isValid)
        #expect(!Base64Text(Array(" \\n".utf8)[...]).isValid)
    }

    @Test func `bytes of every length come back`() {
        var noise = Noise(seed: 3)
        for length in 1...300 {
            let bytes = (0..<length).map { _ in UInt8(noise.next(below: 256)) }
            let text = Array(Data(bytes).base64EncodedString().utf8)
            #expect(Base64Text(text[...]).decoded() == bytes)
        }
    }
}
