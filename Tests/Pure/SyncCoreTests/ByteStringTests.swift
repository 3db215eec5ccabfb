import SyncCore
import SyncTestSupport
import Testing

@Suite struct ByteStringTests {
    private let composed: ByteString = "caf\u{E9}"
    private let decomposed: ByteString = "cafe\u{301}"

    @Test func `names that look alike and differ in bytes are two`() {
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
        #expect((composed < decomposed) != (decomposed < composed))
        #expect("caf\u{E9}".inBytes == composed)
    }

    @Test func `names are ordered as their bytes are, wherever they differ`() {
        var dice = Dice(seed: .random(in: .min ... .max))
        for _ in 0..<5_000 {
            let beginning = String(repeating: "k", count: Int.random(in: 0...20, using: &dice))
            let names = (0..<2).map { _ in
                let end = (0..<Int.random(in: 0...3, using: &dice)).map { _ in
                    ["a", "b", "\u{7F}", "\u{E9}", "\u{10FFFF}"].randomElement(using: &dice) ?? ""
                }
                return beginning + end.joined() + String(repeating: "z", count: Int.random(in: 0...9, using: &dice))
            }
            let (left, right) = (names[0].inBytes, names[1].inBytes)
            #expect((left == right) == names[0].utf8.elementsEqual(names[1].utf8), "\(names)")
            #expect((left < right) == names[0].utf8.lexicographicallyPrecedes(names[1].utf8), "\(names)")
        }
    }
}
