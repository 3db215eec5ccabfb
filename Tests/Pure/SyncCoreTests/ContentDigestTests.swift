import SyncCore
import Testing

@Suite struct ContentDigestTests {
    @Test(
        "hexadecimal is read in either case and written in lower case",
        arguments: [("00ff", [0, 255]), ("AbCd", [0xAB, 0xCD]), ("", [])] as [(String, [UInt8])])
    func hexadecimal(text: String, bytes: [UInt8]) {
        #expect([UInt8](hexadecimal: text) == bytes)
        #expect(bytes.hexadecimal == text.lowercased())
    }

    @Test("what is not hexadecimal is no digest", arguments: ["0", "0g", "zz", "0 ", "é0"])
    func notHexadecimal(text: String) {
        #expect([UInt8](hexadecimal: text) == nil)
    }

    @Test("a digest has exactly its length", arguments: [0, 15, 17, 31, 33])
    func length(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(MD5Digest(bytes: bytes) == nil)
        #expect(SHA256Digest(bytes: bytes) == nil)
    }
}
