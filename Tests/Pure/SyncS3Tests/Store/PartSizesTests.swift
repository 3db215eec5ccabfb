import SyncS3
import Testing

@Suite struct PartSizesTests {
    private static let mebi: Int64 = 1 << 20

    @Test(arguments: [
        (64 * mebi, 4, 16 * mebi, 16 * mebi), (64 * mebi + 1, 5, 16 * mebi, 1),
        (160_000 * mebi, 10_000, 16 * mebi, 16 * mebi), (160_000 * mebi + 1, 10_000, 16 * mebi + 1, 16 * mebi - 9_998),
        (5 << 40, 10_000, 549_755_814, 549_754_694),
    ])
    func `A file is cut into at most 10,000 parts`(size: Int64, count: Int, first: Int64, last: Int64) throws {
        let parts = PartSizes().parts(of: size)
        #expect(parts.count == count)
        #expect(parts.first.map { $0.upperBound - $0.lowerBound } == first)
        #expect(parts.last.map { $0.upperBound - $0.lowerBound } == last)
        #expect(parts.last?.upperBound == size)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    @Test(
        arguments: [
            (5 << 20, 64 << 20, 5 << 20), (100 << 20, 100 << 20, 100 << 20), (5 << 30, 5 << 30, 5 << 30),
        ] as [(Int64, Int64, Int64)])
    func `A configured part is the smallest, and no file below it is cut`(
        part: Int64, threshold: Int64, smallest: Int64
    ) {
        #expect(PartSizes(part: part) == PartSizes(threshold: threshold, smallestPart: smallest))
        // 5 TiB, the largest object there is.
        let parts = PartSizes(part: part).parts(of: 5 << 40)
        #expect(parts.count <= 10_000 && parts.allSatisfy { $0.count <= 5 << 30 })
    }
}
