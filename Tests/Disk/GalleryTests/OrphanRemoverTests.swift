import Foundation
import SyncCore
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SyncWatch
import Testing

@testable import SyncEngine

@Suite struct OrphanRemoverTests {
    private static let number = "+49 1512 3456789"
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    /// - Parameter isOrphan: whether nobody has the number by then.
    private func remove(
        _ profiles: [String] = [number], isOrphan: Bool = true
    ) async throws -> OrphanRemover.Summary {
        try await OrphanRemover(
            ledger: LedgerQueue(bench.ledger), store: bench.store,
            scanner: FileTreeScanner(),
            reducer: PhotoFileReducer(), settle: .zero, pool: BlockingPool(name: "test", threads: 1),
            time: bench.time.source
        ) { _ in isOrphan }.run(profiles)
    }

    @Test func `events of a number go from all files, and the rest stays as it was`() async throws {
        let kept = bench.event("kept", profile: "p1")
        let withPhoto = try bench.event("photo", profile: Self.number, photo: RetentionBench.photo(1))
        let plain = bench.event("plain", profile: Self.number)
        try bench.write("[\(withPhoto), \(kept),\n\(plain)]\n", to: "a.json")
        try bench.write(plain, to: "copy.json")
        try bench.write("[\(withPhoto)]", to: "replay.json")
        try await bench.sync()
        let stored = bench.memory.keys
        #expect(stored.count == 1)

        let result = try await remove()
        #expect(result == OrphanRemover.Summary(deleted: 2))
        #expect(try bench.read("a.json").filter { !$0.isWhitespace } == "[\(kept)]".filter { !$0.isWhitespace })
        #expect(!bench.exists("copy.json"))
        #expect(!bench.exists("replay.json"))
        #expect(bench.memory.keys == stored)
        #expect(try bench.ledger.event("photo") == nil)
        #expect(try bench.ledger.event("kept") != nil)
        #expect(try bench.ledger.eventCounts().retention == [.kept: 1])
        try await bench.sync()
        #expect(try bench.ledger.eventCounts().retention == [.kept: 1])
    }

    @Test func `the events of a number that somebody has given a profile meanwhile stay, and are told`() async throws {
        let event = try bench.event("e", profile: Self.number, photo: RetentionBench.photo(1))
        try bench.write(event, to: "a.json")
        try await bench.sync()
        let result = try await remove(isOrphan: false)
        #expect(result.deleted == 0 && result.left.map(\.event) == ["e"])
        #expect(result.left.first?.reason.contains("has a profile now") == true)
        #expect(try bench.read("a.json") == event)
        #expect(try bench.ledger.event("e") != nil)
    }

    @Test func `an event whose photo is stored nowhere stays`() async throws {
        let event = try bench.event("e", profile: Self.number, photo: RetentionBench.photo(1))
        try bench.write(event, to: "a.json")
        bench.store.add(StoreFault(.put, .failBefore(.invalidRequest)))
        try await bench.sync()
        let result = try await remove()
        #expect(result.deleted == 0)
        #expect(result.left.map(\.event) == ["e"])
        #expect(try bench.read("a.json") == event)
    }

    @Test(arguments: [true, false])
    func `an event whose photo the store has lost or damaged keeps the last one, and an outage deletes nothing`(
        isLost: Bool
    ) async throws {
        let event = try bench.event("e", profile: Self.number, photo: RetentionBench.photo(1))
        try bench.write(event, to: "a.json")
        try await bench.sync()
        bench.store.add(StoreFault(.get, number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await remove() }
        let key = try #require(bench.memory.keys.first)
        // As many bytes as before.
        if isLost { try await bench.memory.delete(key) } else { bench.memory.damage(key) }
        let result = try await remove()
        #expect(result.deleted == 0)
        let reason = "the store does not hold its photo as it was stored (\(key)); store it again with: "
        #expect(result.left.map(\.reason) == [reason + "sync-agent verify --all"])
        #expect(try bench.read("a.json") == event)
    }

    @Test func `an element whose photo was not seen yet stays`() async throws {
        try bench.write(try bench.event("e", profile: Self.number, photo: RetentionBench.photo(1)), to: "a.json")
        try await bench.sync()
        let other = try bench.event("e", profile: Self.number, photo: RetentionBench.photo(2))
        try bench.write(other, to: "a.json")
        _ = try await remove()
        #expect(try bench.read("a.json") == other)
        try await bench.sync()
        #expect(try bench.ledger.events(withID: "e").last?.photoState == .stored)
    }

    @Test func `a file that is damaged where the event stands is left as it is`() async throws {
        try bench.write("[\(bench.event("e", profile: Self.number))]", to: "a.json")
        try await bench.sync()
        let damaged = "[{\"id\": \"e\", \"text\": \"\(RetentionBench.text)\", \"createdAt\": 1]"
        try bench.write(damaged, to: "a.json")
        try await bench.sync()
        _ = try await remove()
        #expect(try bench.read("a.json") == damaged)
    }

    @Test func `a profile that no event has is nothing to do`() async throws {
        #expect(try await remove(["+1"]) == OrphanRemover.Summary())
    }
}
