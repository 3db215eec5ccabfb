import SyncCore
import SyncTestSupport
import Testing

@Suite struct TextBytesTests {
    @Test(
        arguments: [
            ("", "", 0..<0), ("", "a", nil), ("a", "", 0..<0), ("a", "a", 0..<1), ("ab", "b", 1..<2),
            ("ab", "abc", nil),
            ("aab", "ab", 1..<3), ("ababac", "abac", 2..<6), ("fffty", "ftyp", nil), ("ffftypftyp", "ftyp", 2..<6),
        ] as [(String, String, Range<Int>?)])
    func `bytes are found where they stand for the first time`(text: String, sought: String, place: Range<Int>?) {
        let (text, sought) = (Array(text.utf8), Array(sought.utf8))
        #expect(text.firstRange(ofBytes: sought) == place)
        // A slice counts as the whole does.
        let slice = ([0, 0, 0] + text + [0])[3..<3 + text.count]
        #expect(slice.firstRange(ofBytes: sought) == place.map { $0.lowerBound + 3..<$0.upperBound + 3 })
    }

    @Test func `of bytes at random, it finds what the standard library finds`() {
        var dice = Dice(seed: .random(in: .min ... .max))
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...40, using: &dice)).map { _ in UInt8.random(in: 0...2, using: &dice) }
            let sought = (0..<Int.random(in: 1...5, using: &dice)).map { _ in UInt8.random(in: 0...2, using: &dice) }
            #expect(text.firstRange(ofBytes: sought) == text.firstRange(of: sought), "\(text) \(sought)")
        }
    }
}
