import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What a rebuild does about what is known to be damaged of another machine.
@Suite struct RebuiltDamageTests {
    private let bench: CatalogBench
    private let tower: CatalogMachine
    private let laptop: CatalogMachine

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
    }

    private var spentUSD: Double {
        get throws { try tower.ledger.verificationStatus(at: bench.time.now).spentUSD }
    }

    /// Something else is in place of the laptop's photo, and the tower knows it as damaged.
    /// - Returns: the store as it was before.
    private func ruin(_ key: ObjectKey) async throws -> InMemoryStore {
        try await laptop.see(["a.jpg": "sunset"])
        #expect(try await tower.takeUp(laptop).lost == 0)
        let whole = bench.memory.copy()
        await bench.time.advance(by: .seconds(86_400))
        try await bench.memory.store(Array("tesnus".utf8), at: key)
        let verifier = Verifier(
            store: bench.store, ledger: LedgerQueue(tower.ledger), cost: VerificationCost(prices: nil),
            time: bench.time.source)
        #expect(try await verifier.run(.keys([key]), costingAtMost: nil).broken.map(\.key) == [key])
        #expect(try await tower.rebuild().lost == 1)
        return whole
    }

    /// Of what was damaged: how often its bytes were asked for.
    private func reads(of key: ObjectKey) -> Int {
        bench.store.calls.count { $0.operation == .get && $0.key == key.rawValue }
    }

    @Test func `what a rebuild had still to read of what was damaged, when it was ended, the next one reads`()
        async throws
    {
        let key = try bench.photoKey("sunset")
        let whole = try await ruin(key)
        bench.memory.recover(key, from: whole)
        bench.store.add(StoreFault(.get, key: key.rawValue, number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await tower.rebuild() }
        #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
        #expect(try await tower.rebuild().lost == 0)
        #expect(try tower.ledger.object(key)?.problem == nil)
        // What was read is not read again.
        let count = reads(of: key)
        #expect(try await tower.rebuild().lost == 0)
        #expect(reads(of: key) == count)
        #expect(try tower.ledger.check() == [])
    }

    @Test func `a rebuild that is ended before it has listed the store forgets no damage`() async throws {
        let key = try bench.photoKey("sunset")
        _ = try await ruin(key)
        let count = reads(of: key)
        bench.store.add(StoreFault(.list, key: bench.keys.ownPrefixes[0], number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await tower.rebuild() }
        #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
        #expect(try await tower.rebuild().lost == 1)
        #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
        #expect(reads(of: key) == count, "it is as it was when it was read")
        // What goes meanwhile is no damage any more.
        bench.memory.lose(key)
        bench.store.add(StoreFault(.list, key: bench.keys.ownPrefixes[0], number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await tower.rebuild() }
        try await tower.rebuild()
        #expect(try tower.ledger.object(key)?.problem == .missing, "the laptop names it")
        #expect(try tower.ledger.check() == [])
    }

    @Test func `what a rebuild reads is paid for as what is verified, and left where the month's money is over`()
        async throws
    {
        let key = try bench.photoKey("sunset")
        let whole = try await ruin(key)
        bench.memory.recover(key, from: whole)
        let prices = PriceTable(region: "r", asOf: "2026-07", source: "s", classes: [:], egressPerGB: 1)
        func rule(_ usd: Double) -> VerificationRule {
            VerificationRule(percentPerDay: 1, maximumUSDPerMonth: usd, cost: VerificationCost(prices: prices))
        }
        let poor = try await tower.rebuild(paying: rule(0))
        #expect(poor.lost == 1 && poor.problems.contains { $0.contains("verify.max_usd_per_month") })
        #expect(try spentUSD == 0)
        #expect(try await tower.rebuild(paying: rule(1)).lost == 0)
        #expect(try spentUSD == VerificationCost(prices: prices).usd(bytes: 6, in: .standard))
        #expect(try tower.ledger.object(key)?.problem == nil)
    }
}
