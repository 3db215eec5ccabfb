import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// The archive of memories in a ledger that knows nothing but the store.
@Suite struct RebuiltArchiveTests {
    private let old: RetentionBench

    init() throws { old = try RetentionBench() }

    @discardableResult private func rebuild(_ ledger: Ledger) async throws -> LedgerRebuild.Summary {
        try await LedgerRebuild(
            store: old.store, ledger: LedgerQueue(ledger), keys: try KeyLayout(user: "ana"), folders: [],
            machineName: "new", spool: old.tree.path("spool"), scanner: FakeDisk(),
            pool: BlockingPool(name: "test", threads: 1), time: old.time.source
        ).run()
    }

    private func memories(_ ledger: Ledger) throws -> [EventPicture] {
        try ledger.timeline(TimelineFilter(kind: .memories), after: nil, limit: 20).compactMap {
            if case .event(let picture) = $0.source { picture } else { nil }
        }
    }

    @Test func `they have their profile, type, day and page, once, and a second time nothing is new`() async throws {
        try old.write(old.event("e1", profile: "p1", photo: try RetentionBench.photo(1)), to: "one.json")
        try old.write(old.event("e2", age: 100, profile: "p2", photo: try RetentionBench.photo(2)), to: "two.json")
        try await old.sync()
        #expect(try await old.cleanUp().archived == 2)
        let known = try memories(old.ledger)
        let ledger = try Ledger.inMemory()
        try await rebuild(ledger)
        let found = try memories(ledger)
        #expect(found.map(\.eventID) == ["e1", "e2"] && found.map(\.profile) == ["p1", "p2"])
        #expect(found.map(\.object.md5) == known.map(\.object.md5))
        #expect(found.map(\.createdAt) == known.map(\.createdAt) && found.allSatisfy { $0.type == "taskResponse" })
        try await rebuild(ledger)
        #expect(try memories(ledger) == found)
        // Where they are known, nothing is taken up.
        try await rebuild(old.ledger)
        #expect(try memories(old.ledger) == known)
    }

    @Test(arguments: [StoreFault.Effect.sayAbsent, .failBefore(.accessDenied)])
    func `one that is listed and not given is told, and taken up by the next rebuild`(
        effect: StoreFault.Effect
    ) async throws {
        try old.write(old.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await old.sync()
        #expect(try await old.cleanUp().archived == 1)
        let key = try #require(old.memory.keys.first { $0.rawValue.hasPrefix("gallery-archive/") })
        old.store.add(StoreFault(.head, key: key.rawValue, number: 1, effect))
        let ledger = try Ledger.inMemory()
        let problems = try await rebuild(ledger).problems
        #expect(problems.contains { $0.contains(key.rawValue) }, "\(problems)")
        #expect(try memories(ledger).isEmpty)
        #expect(try await !rebuild(ledger).problems.contains { $0.contains(key.rawValue) })
        #expect(try memories(ledger).map(\.eventID) == ["e1"])
    }

    @Test func `an event whose file is back is shown once, and signed off as the memory that it is`() async throws {
        let text = old.event("e1", photo: try RetentionBench.photo(1))
        try old.write(text, to: "one.json")
        try await old.sync()
        #expect(try await old.cleanUp().archived == 1)
        let new = try RetentionBench(start: old.start, sharing: old.memory)
        try await rebuild(new.ledger)
        #expect(try memories(new.ledger).count == 1)
        try new.write(text, to: "one.json")
        try await new.sync()
        #expect(try new.ledger.timeline(TimelineFilter(kind: .events), after: nil, limit: 20).count == 1)
        #expect(try await new.cleanUp().deleted == 1)
        #expect(try memories(new.ledger).map(\.eventID) == ["e1"])
        #expect(try new.ledger.retentionRecords(limit: 10).count == 1)
    }
}
