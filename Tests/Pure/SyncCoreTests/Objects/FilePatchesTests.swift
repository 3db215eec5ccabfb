import SyncCore
import Testing

@Suite struct FilePatchesTests {
    private static let bytes = [UInt8](1...20)
    private static let patches = FilePatches([
        FilePatches.Patch(10..<14, head: [0xAA, 0xBB]), FilePatches.Patch(2..<4),
        FilePatches.Patch(14..<15, head: [0xCC]),
        FilePatches.Patch(7..<7),
    ])
    private static let patched: [UInt8] = [1, 2, 0, 0, 5, 6, 7, 8, 9, 10, 0xAA, 0xBB, 0, 0, 0xCC, 16, 17, 18, 19, 20]

    @Test func `whatever is read at once, the same bytes arrive`() {
        for length in 1...20 {
            var arrived: [UInt8] = []
            for start in stride(from: 0, to: 20, by: length) {
                var window = Array(Self.bytes[start..<min(start + length, 20)])
                window.withUnsafeMutableBytes { Self.patches.apply(to: $0, at: Int64(start)) }
                arrived += window
            }
            #expect(arrived == Self.patched, "\(length) at once")
        }
    }

    @Test func `patches of nothing are none`() {
        #expect(FilePatches([FilePatches.Patch(7..<7, head: [1])]) == .none)
        #expect(FilePatches.none.isEmpty)
    }
}
