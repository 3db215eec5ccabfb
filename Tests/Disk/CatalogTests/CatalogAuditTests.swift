import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

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
        #expect(try await machine.check() == nil)
        try await bench.memory.delete(segments[index])
        let problem = try await machine.check()
        #expect(problem?.contains("gone from the store") == true)
        #expect(problem?.hasSuffix("; sync-agent sync writes it anew at once, a running agent within a day") == true)
        #expect(try machine.ledger.catalogStatus().problem == problem)
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(try machine.ledger.catalogStatus().problem == nil)
        #expect(try await machine.check() == nil)
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
        let digest = try ledger.catalogStatus().stateDigest ?? ""
        let begun = CatalogStatus.Begun(
            segment: .init(from: 1, to: 2, lines: 5, size: 1), sha256: "", stateDigest: digest)
        bench.store.add(
            StoreFault(
                .list, number: 1,
                .meanwhile {
                    try? ledger.noteCatalogWrite(begun)
                    _ = try? ledger.commitCatalogWrite(begun, at: time)
                }))
        #expect(try await machine.check() == nil)
        #expect(try machine.ledger.catalogStatus().problem == nil)
    }

    @Test func `a write that is in the hands of another process is neither noted by a look nor called lost`()
        async throws
    {
        let bench = try CatalogBench()
        // It is in the store, and not proved.
        let (machine, begun) = try await bench.interrupted()
        for _ in 0..<2 {
            let result = try await machine.refresh { throw AgentLock.Held(holder: nil) }
            #expect(result.catalogProblem == nil && result.problems.isEmpty)
            #expect(try machine.ledger.catalogStatus().begun == begun)
        }
        let others = OtherReferences(
            store: bench.store, ledger: LedgerQueue(machine.ledger), keys: bench.keys,
            spool: bench.tree.path("others.part"), pool: bench.pool,
            holdCatalog: { throw AgentLock.Held(holder: nil) }, time: bench.time.source)
        let doubt = try await others.references(to: [try ObjectKey("users/ana/photos/0.dat")]).doubt
        #expect(doubt?.description.contains("another sync-agent is at work") == true)
        #expect(try machine.ledger.catalogStatus().begun == begun)
        // It was interrupted after all.
        try await machine.refresh()
        #expect(try machine.ledger.catalogStatus().begun == nil)
        #expect(try machine.ledger.catalogStatus().unwritten == 0)
    }

    @Test(arguments: [StoreError.Code.serverFailed, .accessDenied])
    func `a segment that cannot be asked for is told, and the look at the store counts`(
        code: StoreError.Code
    ) async throws {
        let bench = try CatalogBench()
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let segments = try await bench.keysOfSegments()
        for key in segments {
            try await bench.memory.delete(key)
            bench.store.add(StoreFault(.head, key: key.rawValue, number: 1, .failBefore(code)))
        }
        let result = try await machine.refresh()
        #expect(result.problems.map(\.key) == segments && result.problemCount == segments.count)
        #expect(result.catalogProblem == nil)
        #expect(try machine.ledger.classesRefreshedAt() == bench.time.now)
        #expect(try await machine.check()?.contains("gone from the store") == true)
    }

    @Test func `a segment of this machine that a listing cannot look at is one of its objects`() async throws {
        let bench = try CatalogBench()
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let other = try bench.machine("desktop")
        try await other.see(["b.jpg": "b"])
        _ = try await other.write()
        for key in try await bench.keysOfSegments() { bench.memory.makeUnreadable(key, as: .invalidResponse) }
        try await machine.refresh()
        #expect(try machine.ledger.unclearObjects() == 2)
        #expect(try machine.ledger.unclearOwnObjects(bench.keys) == 1, "the other one is another machine's")
    }

    @Test(arguments: [StoreError.Code.unreachable, .serverFailed])
    func `what was read of a catalogue is paid for, also where the read fails then`(
        code: StoreError.Code
    ) async throws {
        let bench = try CatalogBench()
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let segments = try await bench.keysOfSegments()
        #expect(segments.count == 1)
        for key in segments { bench.store.add(StoreFault(.get, key: key.rawValue, number: 1, .failAfter(code))) }
        // A dollar for each read.
        let prices = PriceTable(
            region: "r", asOf: "2026-07", source: "test",
            classes: [.standard: ClassPrices(perGBMonth: 0, putPer1000: 0, getPer1000: 1_000)], egressPerGB: 0)
        let finding = try? await CatalogAudit.readBack(
            store: bench.store, ledger: LedgerQueue(machine.ledger), keys: bench.keys,
            cost: VerificationCost(prices: prices), costingAtMost: 9, time: bench.time.source)
        #expect(finding?.unclear.map(\.key) == (code == .serverFailed ? segments : nil))
        #expect(try machine.ledger.verificationStatus(at: bench.time.now).spentUSD == 1)
        #expect(try machine.ledger.unclearObjects() == (code == .serverFailed ? 1 : 0))
        #expect(try await machine.readBack() == nil)
        #expect(try machine.ledger.unclearObjects() == 0)
    }

    /// Changes of the next write that were numbered with the one before would be in no segment.
    @Test(arguments: [true, false])
    func `an interrupted write that comes to the store when the next one is begun is not noted in its place`(
        isWhileLooking: Bool
    ) async throws {
        let bench = try CatalogBench()
        let (machine, begun) = try await bench.interrupted()
        let ledger = machine.ledger
        try await machine.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
        if isWhileLooking {
            let machineID = try ledger.catalogStatus().machine
            let segment = CatalogSegment(machine: machineID, from: begun.segment.from, to: begun.segment.to)
            let key = try segment.key(bench.keys)
            bench.store.add(
                StoreFault(.head, key: key.rawValue, number: 1, .meanwhile { _ = try? ledger.beginCatalogWrite() }))
        } else {
            _ = try ledger.beginCatalogWrite()
        }
        _ = try await machine.check()
        let status = try ledger.catalogStatus()
        #expect(status.unwritten == 2 && status.begun == nil && status.next == begun.segment.to + 1)
        #expect(try !ledger.commitCatalogWrite(begun, at: bench.time.now))
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 3)
    }

    @Test func `a ledger that is older than its own catalogue is told by a look at the store, though nothing is new`()
        async throws
    {
        let back = try await CatalogBench().putBack()
        let problem = try await back.check()
        #expect(problem?.contains("older than its own catalogue") == true)
        #expect(try back.ledger.catalogStatus().problem == problem)
        _ = try await back.rebuild()
        #expect(try await back.check() == nil)
    }
}
