import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// What a look at the store finds of this machine's catalogue.
struct CatalogAuditTests {
    @Test(arguments: [0, 1])
    func `a segment that is gone is told by the next look at the store, and written again though nothing is new`(
        index: Int
    ) async throws {
        let bench = try CatalogBench()
        let machine = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0).jpg", "\($0)") })
        try await machine.see(files)
        _ = try await machine.write()
        files["100.jpg"] = "100"
        try await machine.see(files)
        _ = try await machine.write()
        let segments = try await bench.keysOfSegments()
        #expect(segments.count == 2)
        #expect(try await machine.look() == nil)
        try await bench.memory.delete(segments[index])
        let problem = try await machine.look()
        #expect(problem?.contains("gone from the store") == true)
        #expect(try machine.ledger.catalogStanding().problem == problem)
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(try machine.ledger.catalogStanding().problem == nil)
        #expect(try await machine.look() == nil)
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 101)
    }

    @Test func `a segment that goes while the store is listed, since another stands for it, is none that is gone`()
        async throws
    {
        let bench = try CatalogBench()
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        for key in try await bench.keysOfSegments() { try await bench.memory.delete(key) }
        let (ledger, time) = (machine.ledger, bench.time.now)
        let digest = try ledger.catalogStanding().stateDigest ?? ""
        bench.store.add(
            StoreFault(
                .list, number: 1,
                .meanwhile {
                    try? ledger.commitCatalogWrite(
                        .init(from: 1, to: 2, lines: 5, size: 1), stateDigest: digest, at: time)
                }))
        #expect(try await machine.look() == nil)
        #expect(try machine.ledger.catalogStanding().problem == nil)
    }

    @Test func `a ledger that is older than its own catalogue is told by a look at the store, though nothing is new`()
        async throws
    {
        let back = try await CatalogBench().putBack()
        let problem = try await back.look()
        #expect(problem?.contains("older than its own catalogue") == true)
        #expect(try back.ledger.catalogStanding().problem == problem)
        _ = try await back.rebuild()
        #expect(try await back.look() == nil)
    }
}
