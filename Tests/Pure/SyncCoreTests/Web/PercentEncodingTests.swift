import SyncCore
import Testing

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("AZaz09-_.~", "AZaz09-_.~"),
        ("a b+c%d/e", "a%20b%2Bc%25d%2Fe"),
        ("ü😀", "%C3%BC%F0%9F%98%80"),
        ("!*'()&=:@$,;?#[]", "%21%2A%27%28%29%26%3D%3A%40%24%2C%3B%3F%23%5B%5D"),
        ("", ""),
    ])
    func `Everything but unreserved bytes is encoded, in upper case`(text: String, encoded: String) {
        #expect(text.uriEncoded() == encoded)
        #expect(encoded.percentDecoded() == text)
    }

    @Test func `Slashes stay in a path`() {
        #expect("a/b c//d".uriEncoded(keepingSlashes: true) == "a/b%20c//d")
    }

    @Test(arguments: [
        ("a+b%2Bc", true, "a b+c"), ("a+b%2bc", false, "a+b+c"), ("100%", false, nil), ("%4", false, nil),
        ("%zz", false, nil), ("%FF", false, nil), ("%+5", true, nil), ("%-0", false, nil),
    ])
    func `Decoding refuses what is no encoding`(text: String, plusIsSpace: Bool, expected: String?) {
        #expect(text.percentDecoded(plusIsSpace: plusIsSpace) == expected)
    }
}
