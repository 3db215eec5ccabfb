import SyncDigest
import Testing

@Suite struct SHA1Tests {
    /// FIPS 180-2, appendix A, and the digest of nothing.
    @Test(arguments: [
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"), ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func `published digests come out`(text: String, digest: String) {
        #expect(SHA1.hexadecimal(of: text) == digest)
    }
}
