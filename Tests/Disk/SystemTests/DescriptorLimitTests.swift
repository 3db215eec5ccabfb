import SyncSystem
import Testing

@Suite struct DescriptorLimitTests {
    @Test(
        arguments: [
            // The fewest that the agent takes up its work with, and what many systems give.
            (64, 12, 1), (64, 2, 8), (256, 12, 5), (1_024, 12, 21), (1_024, 2, 128), (4_096, 12, 85),
            (8, 12, 1), (0, 2, 1),
        ] as [(UInt64, Int, Int)])
    func `what has files open takes a quarter of the limit together, and there is always one`(
        limit: UInt64, files: Int, count: Int
    ) {
        #expect(DescriptorLimit.room(forEach: files, of: limit) == count)
    }

    @Test func `where there is no limit, there is room for many`() {
        #expect(DescriptorLimit.room(forEach: 1, of: .max) > 1_000_000)
    }
}
