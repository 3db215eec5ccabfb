import SyncCore
import Testing

@Suite struct ContentDigestTests {
    @Test(
        arguments: [("00ff", [0, 255]), ("AbCd", [0xAB, 0xCD]), ("", [])] as [(String, [UInt8])])
    func `hexadecimal is read in either case and written in lower case`(text: String, bytes: [UInt8]) {
        #expect([UInt8](hexadecimal: text) == bytes)
        #expect(bytes.hexadecimal == text.lowercased())
    }

    @Test(arguments: ["0", "0g", "zz", "0 ", "é0"])
    func `what is not hexadecimal is no digest`(text: String) {
        #expect([UInt8](hexadecimal: text) == nil)
    }

    @Test func `a digest is read of digits in a longer text`() {
        let text = "a 0123456789abcdef0123456789ABCDEF.dat"
        let digits = text.dropFirst(2).dropLast(4)
        #expect(MD5Digest(hex: digits)?.description == "0123456789abcdef0123456789abcdef")
        #expect(MD5Digest(hex: text) == nil && MD5Digest(hex: digits.dropLast()) == nil)
        #expect(SHA256Digest(hex: digits) == nil && SHA256Digest(hex: digits + digits)?.bytes.count == 32)
    }

    @Test(arguments: [0, 15, 17, 31, 33])
    func `a digest has exactly its length`(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(MD5Digest(bytes: bytes) == nil)
        #expect(SHA256Digest(bytes: bytes) == nil)
    }
}
