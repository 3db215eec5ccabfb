import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

/// What a process puts into the store that it has opened while all is moved to another one.
@Suite struct ShareMovedTests {
    private let bench: ShareBench

    init() async throws {
        bench = try ShareBench()
        for name in ["a.jpg", "b.jpg", "c.jpg"] { try await bench.add(name) }
        try bench.ledger.adopt(store: "old", id: "old-id", isCopy: false)
        try await bench.memory.store(
            try StoreMarker(id: "old-id", about: "A test.").encoded(), at: try ObjectKey(StoreMarker.name))
    }

    private static let isOld: @Sendable (Ledger) throws -> Bool = { try $0.boundStore() == "old" }

    private var publisher: SharePublisher { bench.publisher(isCurrent: Self.isOld) }

    /// Publishes, and has something else done while an object is put.
    private func publish(_ id: ShareID, holding key: ObjectKey, while work: () throws -> Void) async throws
        -> Result<SharePublisher.Publication, any Error>
    {
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: key.rawValue, .hold(gate)))
        let publisher = publisher
        let attempt = Task { try await publisher.run(id) }
        await gate.waitForArrivals(1)
        try work()
        gate.open()
        return await attempt.result
    }

    @Test(arguments: ["photo", "page", "manifest"])
    func `what is put after a move has looked last is removed from the store that it has left`(last: String)
        async throws
    {
        let id = try await bench.accept()
        let keys = ShareKeys(id)
        let key = ["photo": keys.photo(2), "page": keys.page, "manifest": keys.manifest][last] ?? keys.page
        let result = try await publish(id, holding: key) {
            try bench.ledger.adopt(store: "new", id: "new-id", isCopy: true)
        }
        #expect(throws: ShareError.storeMoved) { try result.get() }
        #expect(bench.objects(id) == [])
        #expect(try bench.record(id).publishedAt == nil && bench.record(id).state.isOpen)
    }

    @Test(arguments: ["old-id", nil])
    func `in the same store under another name, or one of which no id tells, what was put stays`(id known: String?)
        async throws
    {
        let id = try await bench.accept()
        let result = try await publish(id, holding: ShareKeys(id).manifest) {
            try bench.ledger.adopt(store: "new", id: known, isCopy: known == nil)
        }
        #expect(throws: ShareError.storeMoved) { try result.get() }
        #expect(bench.objects(id).contains("vacation.json"))
    }

    @Test func `what was not in hand is left alone in the store of before`() async throws {
        let id = try await bench.share().id
        let whole = bench.objects(id)
        try bench.ledger.adopt(store: "new", id: "new-id", isCopy: true)
        await #expect(throws: ShareError.storeMoved) { try await publisher.run(id) }
        #expect(bench.objects(id) == whole)
    }

    @Test func `that a share was taken back is not noted as told where it was told in the store of before`()
        async throws
    {
        let notes = ShareNotes(
            store: bench.store, ledger: bench.queue, keys: .ana, name: "here", time: bench.time.source,
            isCurrent: Self.isOld)
        let remover = OtherShareRemover(
            store: bench.store, ledger: bench.queue, notes: notes, time: bench.time.source)
        var generator = SystemRandomNumberGenerator()
        let id = ShareID(using: &generator)
        try bench.ledger.beginShareRemoval(
            id, location: "Paris", machine: "tower", expiresAt: bench.time.now + 86_400, at: bench.time.now)
        try bench.ledger.adopt(store: "new", id: "new-id", isCopy: true)
        await #expect(throws: ShareError.storeMoved) { try await remover.goOn(with: id) }
        let removal = try #require(try bench.ledger.shareRemoval(id))
        #expect(removal.toldAt == nil && removal.goneAt == nil)
    }
}
