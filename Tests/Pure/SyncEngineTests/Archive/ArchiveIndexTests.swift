import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct ArchiveIndexTests {
    private let ledger: Ledger
    private let bench: ArchiveBench

    init() throws {
        try self.init(restoresInLists: true)
    }

    private init(restoresInLists: Bool) throws {
        ledger = try Ledger.inMemory()
        var bench = try ArchiveBench(restoresInLists: restoresInLists)
        bench.index = ArchiveIndex(ledger: LedgerQueue(ledger), time: bench.time.source)
        self.bench = bench
    }

    private func photos(_ filter: ArchiveFilter = ArchiveFilter()) async throws -> [ArchivedGalleryPhoto] {
        try await bench.list.page(filter, limit: nil).photos
    }

    /// Requests for one photo that a listing takes.
    private func heads() async throws -> Int {
        let before = bench.store.count(.head)
        _ = try await photos()
        return bench.store.count(.head) - before
    }

    private func settle() async { await bench.time.advance(by: .seconds(20 * 60 + 1)) }

    /// How many of the stored photos the ledger knows.
    private func known() throws -> Int {
        try ledger.archiveNotes(of: bench.memory.keys.compactMap(bench.memory.info)).count
    }

    @Test func `a photo is asked once, and told in the same way from then on`() async throws {
        try await bench.put("a", "2025-03-31T23:59:59Z", profile: "p2", contentType: "image/webp")
        try await bench.put("b", "2025-03-10T08:00:00Z", type: nil)
        try await bench.put("c", "2025-03-10T08:00:00Z", noting: false)
        try await bench.put("d", "2024-02-29T12:00:00Z", class: .deepArchive)
        try await bench.put("e", "2024-01-01T00:00:00Z", class: .glacier, restore: .inProgress)
        await settle()
        let first = try await photos()
        #expect(first.map(\.place.eventID) == ["a", "b", "c", "d", "e"])
        #expect(bench.store.count(.head) == 5)
        #expect(try await photos() == first)
        #expect(bench.store.count(.head) == 5)
    }

    @Test func `photos that are denied end no listing that asks for nothing else`() async throws {
        try await bench.put("a", "2025-04-30T23:59:59Z")
        for index in 0..<30 {
            let key = try await bench.put("denied-\(index)", "2025-03-10T08:00:00Z", profile: "p9")
            bench.store.add(StoreFault(.head, key: key.rawValue, .failBefore(.accessDenied)))
        }
        await settle()
        for _ in 0..<2 {
            let page = try await bench.list.page(ArchiveFilter(), limit: nil)
            #expect(page.photos.map(\.place.eventID) == ["a"] && page.problems.count == 30)
        }
    }

    @Test func `class and restore are those of now`() async throws {
        let key = try await bench.put("a", "2025-03-31T23:59:59Z")
        await settle()
        #expect(try await photos().map(\.status) == [.readable])
        bench.memory.setClass(.deepArchive, of: key)
        #expect(try await photos().map(\.status) == [.archived])
        bench.memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        #expect(try await photos().map(\.status) == [.restored])
        #expect(bench.store.count(.head) == 1)
    }

    @Test func `what is another object by now is asked again`() async throws {
        let key = try await bench.put("a", "2025-03-31T23:59:59Z")
        try await bench.put("b", "2025-03-30T23:59:59Z")
        await settle()
        #expect(try await heads() == 2)
        bench.memory.remark(key, as: "another")
        #expect(try await photos().map(\.type) == [.taskResponse, .taskResponse])
        #expect(bench.store.count(.head) == 3)
        // The same bytes with other metadata: only the time differs.
        bench.memory.lose(key)
        try await bench.put("a", "2025-03-31T23:59:59Z", type: "profileCreated")
        await settle()
        #expect(try await photos().map(\.type) == [.profileCreated, .taskResponse])
        #expect(try await heads() == 0)
    }

    @Test func `what may change once more under the same mark and time is asked until it cannot`() async throws {
        try await bench.put("a", "2025-03-31T23:59:59Z")
        #expect(try await heads() == 1)
        // By a clock that is as far ahead as S3 allows, and some minutes later.
        await bench.time.advance(by: .seconds(19 * 60))
        #expect(try await heads() == 1)
        await settle()
        #expect(try await heads() == 1)
        #expect(try await heads() == 0)
    }

    @Test func `a title is kept nowhere`() async throws {
        try await bench.put("a", "2025-03-31T23:59:59Z", title: "Pills")
        await settle()
        #expect(try await photos().map(\.title) == ["Pills"])
        #expect(try known() == 0)
        #expect(try await photos().map(\.title) == ["Pills"])
    }

    @Test(arguments: [
        (StorageClass.standard, true, 0), (.intelligentTiering, true, 1), (.deepArchive, true, 0),
        (.standard, false, 0), (.deepArchive, false, 1), (.glacierInstantRetrieval, false, 0),
    ])
    func `what a listing does not tell is asked`(
        storageClass: StorageClass, restoresInLists: Bool, heads: Int
    ) async throws {
        let tests = try ArchiveIndexTests(restoresInLists: restoresInLists)
        try await tests.bench.put("a", "2025-03-31T23:59:59Z", class: storageClass)
        await tests.settle()
        #expect(try await tests.heads() == 1)
        #expect(try await tests.heads() == heads)
    }

    @Test func `what is gone leaves the ledger, and only where it was looked for`() async throws {
        let keys = [
            try await bench.put("a", "2025-03-31T23:59:59Z", profile: "p1"),
            try await bench.put("b", "2025-03-31T23:59:59Z", profile: "p2"),
            try await bench.put("c", "2024-03-31T23:59:59Z", profile: "p2"),
        ]
        await settle()
        let infos = keys.compactMap(bench.memory.info)
        _ = try await photos()
        #expect(try ledger.archiveNotes(of: infos).map(\.key) == keys)
        for key in keys { bench.memory.lose(key) }
        _ = try await photos(ArchiveFilter(profiles: ["p1"]))
        #expect(try ledger.archiveNotes(of: infos).map(\.key) == Array(keys[1...]))
        _ = try await photos()
        #expect(try ledger.archiveNotes(of: infos).isEmpty)
    }

    @Test func `what is gone leaves the ledger wherever it stood in a listing of several pages`() async throws {
        var keys: [ObjectKey] = []
        for index in 0..<2_100 {
            keys.append(try await bench.put("many-\(10_000 + index)", "2025-03-\(10 + index % 20)T08:00:00Z"))
        }
        await settle()
        #expect(try await heads() == 2_100)
        let infos = keys.compactMap(bench.memory.info)
        // The first and the last one of pages, and some within.
        let gone = [0, 1, 500, 999, 1_000, 1_001, 1_999, 2_000, 2_098, 2_099].map { keys[$0] }
        for key in gone { bench.memory.lose(key) }
        #expect(try await heads() == 0)
        #expect(try ledger.archiveNotes(of: infos).map(\.key) == keys.filter { !gone.contains($0) })
    }

    @Test func `without its ledger it costs requests, and nothing else`() async throws {
        try await bench.put("a", "2025-03-31T23:59:59Z")
        await settle()
        try ledger.close()
        #expect(try await heads() == 1)
        #expect(try await photos().map(\.place.eventID) == ["a"])
    }
}
