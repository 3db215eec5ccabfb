import Logging
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncEngine

/// Segments that others stand for, of which a process that was killed has left some in the store.
struct CatalogLeftoverTests {
    private func sync(_ machine: CatalogMachine, hold: @escaping CatalogHold = { nil }) async throws {
        let bench = machine.bench
        let policy = TierPolicy(
            user: "ana", mode: .off, archiveAfterDays: 0, originalsAfterDays: 0,
            floor: ArchiveFloor(configured: 0, prices: nil), shareExpireDays: 30)
        try await StoreUpkeep(
            store: bench.store, ledger: LedgerQueue(machine.ledger), keys: bench.keys, policy: policy,
            holdCatalog: hold, time: bench.time.source, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).inspect()
    }

    /// A machine whose first segment is in the store beside the one that stands for it.
    private func withLeftover(
        _ name: String = "laptop", in bench: CatalogBench, as code: StoreError.Code?
    ) async throws -> (CatalogMachine, leftover: ObjectKey) {
        let machine = try bench.machine(name)
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let id = try machine.ledger.catalogStatus().machine
        let old = try CatalogSegment(machine: id, from: 1, to: 1).key(bench.keys)
        let bytes = try #require(bench.memory.content(old))
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        _ = try await machine.write()
        try #require(bench.memory.content(old) == nil)
        try await bench.memory.store(bytes, at: old)
        if let code { bench.memory.makeUnreadable(old, as: code) }
        return (machine, old)
    }

    @Test(arguments: [nil, .badDigest, .invalidResponse] as [StoreError.Code?])
    func `the next pass deletes it, and it is no reason for a warning`(code: StoreError.Code?) async throws {
        let bench = try CatalogBench()
        let (machine, leftover) = try await withLeftover(in: bench, as: code)
        let status = try machine.ledger.catalogStatus()
        let result = try await machine.refresh()
        #expect(result.problems.isEmpty && result.problemCount == 0 && result.catalogProblem == nil)
        #expect(try machine.ledger.unclearObjects() == 0)
        #expect(bench.memory.content(leftover) != nil, "who only looks deletes nothing")
        try await sync(machine)
        #expect(bench.memory.content(leftover) == nil)
        #expect(try machine.ledger.catalogStatus().next == status.next, "nothing was written")
        #expect(try await bench.keysOfSegments().count == 1)
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 2)
    }

    @Test func `it stays as long as somebody else writes the catalogue`() async throws {
        let bench = try CatalogBench()
        let (machine, leftover) = try await withLeftover(in: bench, as: .invalidResponse)
        try await sync(machine) { throw AgentLock.Held(holder: nil) }
        #expect(bench.memory.content(leftover) != nil)
        #expect(try machine.ledger.unclearObjects() == 0)
    }

    @Test func `it stays, and is told, where what stands for it is not as it was written`() async throws {
        for isGone in [true, false] {
            let bench = try CatalogBench()
            let (machine, leftover) = try await withLeftover(in: bench, as: .invalidResponse)
            let id = try machine.ledger.catalogStatus().machine
            let last = try CatalogSegment(machine: id, from: 1, to: 2).key(bench.keys)
            if isGone {
                try await bench.memory.delete(last)
            } else {
                bench.memory.makeUnreadable(last, as: .invalidResponse)
            }
            try await sync(machine)
            #expect(bench.memory.content(leftover) != nil)
            #expect(try machine.ledger.unclearObjects() == (isGone ? 1 : 2))
        }
    }

    @Test(arguments: [false, true])
    func `that of another machine is no reason for a warning, and goes where its place was taken`(
        isTaken: Bool
    ) async throws {
        let bench = try CatalogBench()
        let (_, leftover) = try await withLeftover("old", in: bench, as: .invalidResponse)
        let machine = try bench.machine("laptop")
        if isTaken {
            _ = try await machine.rebuild(inPlaceOf: "old")
        } else {
            try await machine.see(["c.jpg": "c"])
        }
        _ = try await machine.write()
        try await sync(machine)
        #expect(try machine.ledger.unclearObjects() == 0)
        #expect((bench.memory.content(leftover) == nil) == isTaken)
    }
}
