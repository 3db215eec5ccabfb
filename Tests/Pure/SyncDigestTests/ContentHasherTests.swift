import SyncCore
import SyncDigest
import Testing

@Suite struct ContentHasherTests {
    /// RFC 1321, A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func `MD5 of the test suite of RFC 1321`(message: String, expected: String) {
        #expect(ContentDigest(of: Array(message.utf8)).md5.description == expected)
    }

    /// FIPS 180-2, B.1 to B.3, and the empty message of NIST's CAVP.
    @Test(arguments: [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func `SHA-256 of the examples of FIPS 180`(text: String, times: Int, expected: String) {
        let message = Array(String(repeating: text, count: times).utf8)
        #expect(ContentDigest(of: message).sha256.description == expected)
        #expect(SHA256Digest(of: message).description == expected)
    }

    @Test(arguments: [1, 3, 63, 64, 65, 4_095, 16_384, 16_385, 100_000])
    func `Bytes in pieces give the same digests as bytes at once`(piece: Int) {
        let message = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var hasher = ContentHasher()
        var ofOne = SHA256Hasher()
        for start in stride(from: 0, to: message.count, by: piece) {
            let bytes = Array(message[start..<min(start + piece, message.count)])
            hasher.update(bytes)
            bytes.withUnsafeBytes { ofOne.update($0) }
        }
        #expect(hasher.finalize() == ContentDigest(of: message))
        #expect(ofOne.finalize() == SHA256Digest(of: message))
        #expect(ofOne.finalize() == SHA256Digest(of: []))
    }

    @Test func `A finished hasher begins anew`() {
        var hasher = ContentHasher()
        hasher.update(Array("first".utf8))
        let first = hasher.finalize()
        hasher.update(Array("abc".utf8))
        #expect(hasher.finalize() == ContentDigest(of: Array("abc".utf8)))
        #expect(first == ContentDigest(of: Array("first".utf8)))
        #expect(hasher.finalize() == ContentDigest(of: []))
    }
}
