import SyncCore
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
}
