import Foundation
import Logging
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// A machine whose archived photos another machine of the user has given to another profile.
@Suite struct MergedElsewhereTests {
    private let bench: RetentionBench
    /// Of the machine that merges.
    private let other: Ledger
    private let pool = BlockingPool(name: "merges", threads: 1)
    private let keys = KeyLayout.ana

    init() async throws {
        bench = try RetentionBench()
        other = try Ledger.inMemory()
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        try await bench.cleanUp()
        try #require(try bench.isArchived("e1"))
    }

    private var queue: LedgerQueue { LedgerQueue(bench.ledger) }

    private var moves: MergedPhotos {
        MergedPhotos(
            store: bench.store, ledger: queue, keys: keys,
            others: OtherMerges(
                store: bench.store, ledger: queue, keys: keys, spool: bench.tree.path("merges.part"), pool: pool,
                time: bench.time.source))
    }

    private func book(_ ledger: Ledger) throws -> ProfileBook {
        ProfileBook(
            try ledger.profiles(), notes: try ledger.profileNotes(), phones: KnownPhones(), region: nil,
            pseudonyms: try Pseudonyms(ledger))
    }

    private func merge(_ from: String = "p1", into profile: String = "p2", in ledger: Ledger) async throws {
        let isHere = ledger === bench.ledger
        let merge = ProfileMerge(
            store: bench.store, ledger: LedgerQueue(ledger), keys: keys, book: try book(ledger),
            agreement: MergeAgreement(others: { [] }, publish: {}),
            moves: isHere ? moves : nil, time: bench.time.source)
        #expect(try await merge.run(from, into: profile, isDryRun: false).left == [])
    }

    /// The other machine merges, and its catalogue tells it.
    private func mergeElsewhere(_ from: String = "p1", into profile: String = "p2") async throws {
        try await merge(from, into: profile, in: other)
        let outcome = try await CatalogWriter(
            store: bench.store, ledger: LedgerQueue(other), keys: keys, name: "laptop",
            spool: bench.tree.path("laptop.part"), pool: pool, time: bench.time.source,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).run()
        guard case .written = outcome else { throw Untold() }
    }

    private struct Untold: Error {}

    private func verify(_ moves: MergedPhotos?) async throws -> Verifier.Summary {
        await bench.time.advance(by: .seconds(60))
        return try await Verifier(
            store: bench.store, ledger: queue, cost: VerificationCost(prices: nil), moves: moves,
            time: bench.time.source
        ).run(.percent(100), costingAtMost: nil)
    }

    /// Where the ledger has the photo, and whose what was signed off is.
    private func expectMoved(to profile: String = "p2", _ location: SourceLocation = #_sourceLocation) throws {
        let record = try #require(try bench.ledger.retentionRecords(limit: 9).first, sourceLocation: location)
        let key = try bench.key("e1", profile: profile)
        #expect(record.profile == profile && record.photo?.key == key, sourceLocation: location)
        #expect(try bench.ledger.object(key)?.sha256 == record.photo?.sha256, sourceLocation: location)
        #expect(try bench.ledger.object(bench.key("e1")) == nil, sourceLocation: location)
        #expect(try bench.ledger.overview().lost == 0, sourceLocation: location)
        #expect(try bench.memory.info(bench.key("e1")) == nil, sourceLocation: location)
    }

    @Test func `a verification finds it there, and what was signed off is of that profile`() async throws {
        try await mergeElsewhere()
        let result = try await verify(moves)
        #expect(result.broken == [] && result.intact == result.checked && result.checked > 0)
        try expectMoved()
        #expect(try await verify(moves).broken == [])
    }

    @Test func `a merge that another one followed leads to the last profile`() async throws {
        try await mergeElsewhere()
        try await mergeElsewhere("p2", into: "p3")
        #expect(try await verify(moves).broken == [])
        try expectMoved(to: "p3")
    }

    @Test(arguments: [StoreError.Code.accessDenied, .throttled])
    func `as long as nobody can read who has merged, it is neither found nor lost`(code: StoreError.Code) async throws {
        try await mergeElsewhere()
        let machine = try other.catalogStatus().machine
        let segment = try #require(bench.memory.keys.first { CatalogSegment($0, keys)?.machine == machine })
        bench.store.add(StoreFault(.get, key: segment.rawValue, .failBefore(code)))
        let result = try await verify(moves)
        #expect(result.broken == [] && result.undecided == 1)
        let look = try await ClassRefresh(
            store: bench.store, ledger: queue, keys: keys, moves: moves, time: bench.time.source
        ).run()
        #expect(look.findings.broken.objects == 0 && look.problemCount == 1)
        #expect(try bench.ledger.overview().lost == 0)
    }

    @Test func `a listing finds it there, too`() async throws {
        try await mergeElsewhere()
        let result = try await ClassRefresh(
            store: bench.store, ledger: queue, keys: keys, moves: moves, time: bench.time.source
        ).run()
        #expect(result.findings.broken.objects == 0)
        try expectMoved()
    }

    @Test func `what was called lost is found, and not stored a second time`() async throws {
        try await mergeElsewhere()
        #expect(try await verify(nil).broken.count == 1)
        #expect(try bench.ledger.overview().lost == 1)
        let repair = StoredCopyRepair(
            store: bench.store, ledger: queue, keys: keys, moves: moves, time: bench.time.source)
        #expect(try await repair.run() == 0)
        try expectMoved()
    }

    @Test func `other bytes there are not it`() async throws {
        try await mergeElsewhere()
        let key = try bench.key("e1", profile: "p2")
        bench.memory.lose(key)
        try await bench.memory.store([9, 9], at: key)
        #expect(try await verify(moves).broken.map(\.key) == [bench.key("e1")])
    }

    @Test func `a cleanup takes it for the event's photo, and archives nothing a second time`() async throws {
        try await mergeElsewhere()
        // The file comes back without its photo, and the pool has lost it.
        try bench.write("[\(bench.bare("e1"))]", to: "one.json")
        for key in bench.memory.keys where key.rawValue.hasPrefix(keys.photos) { bench.memory.lose(key) }
        try await bench.sync()
        let summary = try await bench.cleanUp(moves: moves)
        #expect((summary.archived, summary.errors.count, summary.skipped.count) == (1, 0, 0))
        let record = try #require(try bench.ledger.retentionRecords(limit: 9).first)
        #expect(try record.profile == "p2" && record.photo?.key == bench.key("e1", profile: "p2"))
        #expect(try bench.memory.info(bench.key("e1")) == nil)
    }

    private func held() async throws -> ProfileHoldings {
        try await .of("p1", book(bench.ledger), ledger: queue, store: bench.store, keys: keys)
    }

    @Test func `a profile of which nothing is left but that is empty`() async throws {
        #expect(try await held().records == 1)
        try await mergeElsewhere()
        var held = try await held()
        #expect(held.records == 1 && held.photos.isEmpty)
        try await held.leaveOut(movedBy: moves, isDryRun: true)
        #expect(held.records == 0)
        #expect(try bench.ledger.signedOff(under: ["p1"]) == 1)
        held = try await self.held()
        try await held.leaveOut(movedBy: moves, isDryRun: false)
        #expect(held.records == 0)
        try expectMoved()
    }

    @Test func `the same merge here brings what was signed off along`() async throws {
        try await mergeElsewhere()
        try await merge(in: bench.ledger)
        try expectMoved()
    }
}
