import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

@Suite struct ShareObjectCheckTests {
    private func bench(digests: InMemoryStore.ListedDigests) async throws -> ShareBench {
        let bench = try ShareBench(listedDigests: digests)
        for name in ["a.jpg", "b.jpg"] { try await bench.add(name) }
        return bench
    }

    @Test(arguments: [InMemoryStore.ListedDigests.all, .marks, .none], ["photo", "thumbnail", "page", "manifest"])
    func `what has other bytes of the same length is stored again`(digests: InMemoryStore.ListedDigests, what: String)
        async throws
    {
        let bench = try await bench(digests: digests)
        let share = try await bench.share()
        let (keys, seen) = (share.keys, try bench.seen(share.id))
        let key = [
            "photo": keys.photo(0), "thumbnail": keys.thumbnail(1), "page": keys.page, "manifest": keys.manifest,
        ][what]
        let wrong = try #require(key)
        let bytes = try #require(bench.memory.content(wrong))
        try await bench.memory.delete(wrong)
        try await bench.memory.store(bytes.map { $0 == UInt8(ascii: "e") ? $0 - 1 : $0 ^ 1 }, at: wrong)
        #expect(try await bench.publisher().examine(share.id))
        _ = try await bench.publisher().run(share.id)
        #expect(what == "manifest" || what == "page" || bench.memory.content(wrong) == bytes)
        #expect(try bench.seen(share.id) == seen)
        #expect(try await bench.publisher().examine(share.id) == false)
    }

    @Test func `what has another mark in another store is read once, and not sent`() async throws {
        let bench = try await bench(digests: .marks)
        let share = try await bench.share()
        bench.memory.remark(share.keys.photo(0), as: "in-parts-2")
        for reads in [2, 1] {
            let before = bench.store.count(.get)
            #expect(try await bench.publisher().examine(share.id) == false)
            #expect(bench.store.count(.get) - before == reads)
        }
    }
}
