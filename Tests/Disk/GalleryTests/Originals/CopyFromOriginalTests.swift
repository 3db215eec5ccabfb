import Foundation
import SyncCore
import SyncLedger
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Copies that the store has lost or damaged, of photos whose file is gone and whose original is whole.
@Suite struct CopyFromOriginalTests {
    private let bench: OriginalBench

    init() throws { bench = try OriginalBench() }

    /// A dollar for each object that is read.
    private static let prices = PriceTable(
        region: "r", asOf: "2026-07", source: "test",
        classes: [.standard: ClassPrices(perGBMonth: 1, putPer1000: 1, getPer1000: 1_000)], egressPerGB: 0)

    private func makeCopies(_ verification: VerificationRule = .none) async throws -> StoredCopyRepair.Copies {
        let (clock, source) = (bench.time, bench.time.source)
        // What is damaged is read again after a pause.
        let time = TimeSource(
            now: source.now, monotonic: source.monotonic, sleep: { await clock.advance(by: $0) },
            random: source.random)
        return try await StoredCopyRepair(
            store: bench.store, ledger: LedgerQueue(bench.ledger), keys: try KeyLayout(user: "ana"),
            copies: CopyFromOriginal(
                reducer: PhotoFileReducer(), recompressor: nil, policy: ReducePolicy(maximumDimension: 100),
                pool: BlockingPool(name: "copies", threads: 1)),
            verification: verification, time: time
        ).makeCopies()
    }

    private func verify() async throws {
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.verify()
    }

    /// A photo whose file is gone, with its original.
    /// - Returns: the key of its copy.
    private func stored() async throws -> ObjectKey {
        let original = try bench.write(1)
        // An empty folder of vacations would pass for a drive that is not mounted.
        try bench.write(2)
        try await bench.sync()
        _ = try await bench.keeper().run()
        try FileManager.default.removeItem(atPath: bench.tree.path("photos/Rome/1.jpg").string)
        try bench.scan()
        return try #require(original.copyOfOriginal)
    }

    @Test(arguments: [true, false])
    func `a copy that is damaged or gone is made anew from its original, as it was`(isDamaged: Bool) async throws {
        let copy = try await stored()
        let before = try #require(bench.memory.content(copy))
        if isDamaged { bench.memory.damage(copy) } else { bench.memory.lose(copy) }
        try await verify()
        #expect(try bench.ledger.overview().copiesToMakeAnew == 1)
        let result = try await makeCopies()
        #expect(result.made == 1 && result.failures.isEmpty, "\(result.failures)")
        #expect(bench.memory.content(copy) == before)
        #expect(bench.memory.info(copy)?.photoMD5 == bench.memory.info(try #require(copy.original))?.photoMD5)
        #expect(try bench.ledger.overview().broken == 0)
        try await verify()
        #expect(try bench.ledger.overview().broken == 0)
        #expect(try await makeCopies().made == 0)
    }

    @Test func `an earlier version is its original until its copy is made anew`() async throws {
        let original = try bench.write(1)
        try await bench.sync()
        _ = try await bench.keeper().run()
        try bench.write(2, to: "1.jpg")
        try await bench.sync()
        let copy = try #require(original.copyOfOriginal)
        bench.memory.damage(copy)
        try await verify()
        func versions() throws -> [ObjectKey] {
            var keys: [ObjectKey] = []
            try bench.ledger.photos(at: bench.tree.path("photos")) { photo in
                keys += try bench.ledger.versions(of: photo).map(\.object.key)
            }
            return keys
        }
        #expect(try versions() == [original])
        #expect(try await makeCopies().made == 1)
        #expect(try versions() == [copy])
        #expect(try bench.ledger.overview().broken == 0)
    }

    @Test func `where its file is here, the copy is the pipeline's`() async throws {
        let original = try bench.write(1)
        try await bench.sync()
        _ = try await bench.keeper().run()
        bench.memory.damage(try #require(original.copyOfOriginal))
        try await verify()
        #expect(try await makeCopies().made == 0)
        #expect(try bench.ledger.overview().totals.waiting == 1)
    }

    @Test func `an original that is archived is not restored for it, and is told with the next step`() async throws {
        let copy = try await stored()
        let original = try #require(copy.original)
        bench.memory.damage(copy)
        try await verify()
        bench.memory.setClass(.deepArchive, of: original)
        let result = try await makeCopies()
        #expect(result.made == 0 && result.archived.map(\.original.key) == [original])
        #expect(result.archived.first?.advice.contains("restore --original") == true)
        #expect(bench.memory.info(original)?.restore == RestoreState.none)
        let broken = try #require(try bench.ledger.brokenCopy(copy, at: bench.time.now))
        let path = bench.tree.path("photos/Rome/1.jpg")
        #expect(broken.path == path && broken.advice.contains("sync-agent sync"))
        // As a look at the classes tells it.
        var record = broken.original
        record.storageClass = .deepArchive
        try bench.ledger.noteStoredAgain(record)
        func advice() throws -> String {
            try #require(try bench.ledger.brokenCopy(copy, at: bench.time.now)?.advice)
        }
        #expect(try advice().contains("sync-agent restore --original \(path)"))
        // A restored one is readable until its end, whenever a listing tells that next.
        record.restore = .restored(until: bench.time.now.addingTimeInterval(60))
        try bench.ledger.noteStoredAgain(record)
        #expect(try advice().contains("sync-agent sync"))
        await bench.time.advance(by: .seconds(61))
        #expect(try advice().contains("sync-agent restore --original \(path)"))
        #expect(try await makeCopies().archived.map(\.copy.key) == [copy])
    }

    @Test func `what it costs is within the month's money for verification`() async throws {
        let copy = try await stored()
        bench.memory.damage(copy)
        try await verify()
        func rule(_ usd: Double) -> VerificationRule {
            VerificationRule(
                percentPerDay: 1, maximumUSDPerMonth: usd, cost: VerificationCost(prices: Self.prices))
        }
        for limit in [0, 0.5] {
            let poor = try await makeCopies(rule(limit))
            #expect(poor.made == 0 && !poor.isOverBudget && poor.unaffordable.map(\.usd) == [2])
        }
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 0)
        #expect(try await makeCopies(rule(10)).made == 1)
        // The original, and the look at what is replaced.
        #expect(try bench.ledger.verificationStatus(at: bench.time.now).spentUSD == 2)
        bench.memory.damage(copy)
        try await verify()
        let spent = try await makeCopies(rule(3))
        #expect(spent.made == 0 && spent.isOverBudget && spent.unaffordable.isEmpty)
    }

    @Test func `an original of which no copy comes is read once a day, whichever process tries it`() async throws {
        let copy = try await stored()
        bench.memory.damage(copy)
        try await verify()
        bench.store.add(StoreFault(.put, key: copy.rawValue, numbers: 1...2, .failBefore(.accessDenied)))
        #expect(try await makeCopies().failures.map { $0.key } == [copy])
        let reads = bench.store.count(.get)
        #expect(try await makeCopies().failures.isEmpty)
        #expect(bench.store.count(.get) == reads)
        await bench.time.advance(by: .seconds(86_400))
        #expect(try await makeCopies().failures.map { $0.key } == [copy])
        await bench.time.advance(by: .seconds(86_400))
        #expect(try await makeCopies().made == 1)
        #expect(try bench.ledger.denials(of: .copies).isEmpty)
    }

    @Test func `an original that turns out to be damaged is known as such, and the photo is lost`() async throws {
        let copy = try await stored()
        bench.memory.damage(copy)
        try await verify()
        bench.memory.damage(try #require(copy.original))
        let result = try await makeCopies()
        #expect(result.made == 0 && result.failures.map { $0.key } == [copy])
        #expect(try bench.ledger.overview().lost == 1)
    }
}
