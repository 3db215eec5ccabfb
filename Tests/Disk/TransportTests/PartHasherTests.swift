import SyncCore
import SyncDigest
import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncS3

@Suite struct PartHasherTests {
    /// What the transport hands out of a part.
    private func sent(_ part: HTTPBody) async throws -> [UInt8] {
        let reads = SourceReads(pool: BlockingPool(name: "bodies", threads: 1))
        let feed = try #require(try await FileFeed.open(part, by: reads, onRead: { _ in }))
        let (bytes, arrival) = AsyncStream<Void>.makeStream()
        async let reading: Void = feed.run(by: reads) { arrival.yield() }
        defer { feed.close() }
        var arrivals = bytes.makeAsyncIterator()
        var sent: [UInt8] = []
        var window = [UInt8](repeating: 0, count: 70_000)
        while sent.count < part.size {
            if let count = try window.withUnsafeMutableBytes({ try feed.take(into: $0) }) {
                sent += window.prefix(count)
            } else {
                _ = await arrivals.next()
            }
        }
        feed.close()
        await reading
        return sent
    }

    @Test func `The parts of a patched file have the new bytes, and so has the whole`() async throws {
        let tree = try TemporaryTree()
        var bytes = [UInt8].noise(2_500_000)
        let file = try tree.write(bytes, to: "film.mp4")
        let patches = FilePatches([
            FilePatches.Patch(10..<20, head: [1]), FilePatches.Patch(900_000..<2_100_000, head: [2, 3]),
        ])
        bytes.withUnsafeMutableBytes { patches.apply(to: $0, at: 0) }
        let reads = SourceReads(pool: BlockingPool(name: "parts", threads: 1))
        let hasher = try PartHasher(file, stamp: try tree.stamp("film.mp4"), patches: patches, closedBy: reads)
        for range in [0..<1_000_000, 1_000_000..<2_000_000, 2_000_000..<2_500_000] {
            let part = try hasher.body(of: Int64(range.lowerBound)..<Int64(range.upperBound))
            #expect(part.digest == ContentDigest(of: Array(bytes[range])))
            #expect(try await sent(part) == Array(bytes[range]))
        }
        #expect(hasher.finish() == SHA256Digest(of: bytes))
    }
}
