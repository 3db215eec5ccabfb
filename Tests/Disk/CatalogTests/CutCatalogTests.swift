import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Machines of whose catalogues the store has lost the last writes: nothing but their notes tells it.
@Suite struct CutCatalogTests {
    private static let day = Duration.seconds(86_400)

    private let bench: CatalogBench
    private let laptop: CatalogMachine
    private let tower: CatalogMachine
    private let many = Dictionary(uniqueKeysWithValues: (0..<30).map { ("\($0).jpg", "photo \($0)") })

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
    }

    /// The laptop writes twice, into two segments.
    /// - Returns: the key of the second one.
    private func writeTwice() async throws -> ObjectKey {
        try await laptop.see(many)
        try await laptop.service().round()
        try await laptop.see(many.merging(["last.jpg": "last"]) { $1 })
        try await laptop.service().round()
        let keys = try await bench.keysOfSegments()
        try #require(keys.count == 2)
        return try #require(keys.max())
    }

    @Test func `what is lacking is told until that machine writes it anew`() async throws {
        bench.memory.lose(try await writeTwice())
        let lack = "the catalogue of the machine laptop lacks its writes 2 to 2"
        for told in [try await tower.problemsOfShares(), try await tower.notes().problems] {
            #expect(told.count == 1 && told[0].hasPrefix(lack) && told[0].contains("sync-agent sync"), "\(told)")
        }
        let rebuilt = try await bench.machine("nas").rebuild().problems
        #expect(rebuilt.count == 1 && rebuilt[0].hasPrefix("\(lack): what only they told of is under"), "\(rebuilt)")
        #expect(rebuilt[0].contains("its shares, which are not known here: sync-agent shares --revoke ID"))
        #expect(try await laptop.check() != nil)
        try await laptop.service().round()
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().problems == [])
    }

    @Test func `whose place was taken when nothing else was new is told by the catalogue, once`() async throws {
        let nas = try bench.machine("nas")
        for machine in [laptop, nas] {
            try await machine.see(["a.jpg": "a"])
            _ = try await machine.write()
        }
        _ = try await nas.rebuild(inPlaceOf: "laptop")
        guard case .written = try await nas.write() else {
            Issue.record("the catalogue does not tell it")
            return
        }
        #expect(try await nas.write() == .unchanged)
        // As it is after a second loss: what the ledger and the note had told is gone.
        let summary = try await bench.machine("nas").rebuild()
        let roles = summary.machines.map { "\($0.name) \($0.role.rawValue)" }
        #expect(Set(roles) == ["laptop replaced", "nas takenOver"])
    }

    @Test func `whose place was taken is not missed for what was gone then, until it writes again`() async throws {
        bench.memory.lose(try await writeTwice())
        let nas = try bench.machine("nas")
        _ = try await nas.rebuild()
        #expect(try nas.ledger.catalogStatus().replaces == [laptop.ledger.catalogStatus().machine: 2])
        try await nas.service().round()
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().machines.map(\.name) == ["nas"])
        #expect(try await tower.notes().problems == [])
        try await laptop.see(["another.jpg": "another"])
        try await laptop.service().round()
        #expect(try await Set(tower.notes().machines.map(\.name)) == ["laptop", "nas"])
    }

    @Test func `numbers of writes that did not come to the store are not missed`() async throws {
        _ = try await writeTwice()
        bench.memory.lose(try #require(try await bench.keysOfSegments().min()))
        #expect(try await laptop.check() != nil)
        let machine = try laptop.ledger.catalogStatus().machine
        for number in 3...5 {
            let key = try CatalogSegment(machine: machine, from: 1, to: number).key(bench.keys)
            bench.store.add(StoreFault(.put, key: key.rawValue, .failBefore(.serverFailed)))
            try await laptop.service().round()
        }
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [2])
        #expect(try await tower.notes().problems == [])
        #expect(try await tower.problemsOfShares() == [])
        try await laptop.service().round()
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [6])
    }

    @Test func `what is written while others look is not missed`() async throws {
        try await laptop.see(many)
        try await laptop.service().round()
        let machine = try laptop.ledger.catalogStatus().machine
        let gate = Gate()
        bench.store.add(
            StoreFault(.get, key: try bench.keys.machine(machine).rawValue, number: 1, .hold(gate)))
        async let told = tower.problemsOfShares()
        await gate.waitForArrivals(1)
        try await laptop.see(many.merging(["last.jpg": "last"]) { $1 })
        try await laptop.service().round()
        gate.open()
        #expect(try await told == [])
    }

    @Test(arguments: [1, 2])
    func `what one listing alone leaves out is not missed`(count: Int) async throws {
        _ = try await writeTwice()
        let (memory, whole) = (bench.memory, bench.memory.copy())
        let unlisted = try await bench.keysOfSegments().suffix(count)
        for key in unlisted { memory.lose(key) }
        let note = try bench.keys.machine(laptop.ledger.catalogStatus().machine).rawValue
        bench.store.add(
            StoreFault(
                .get, key: note, number: 2,
                .meanwhile { for key in unlisted { memory.recover(key, from: whole) } }))
        #expect(try await tower.problemsOfShares() == [])
    }

    @Test func `it is told of a silent machine, of which nothing counts as forgotten meanwhile`() async throws {
        let second = try await writeTwice()
        await bench.time.advance(by: Self.day * 3)
        bench.memory.damage(try bench.photoKey("last"))
        _ = try await bench.jobs(tower)
        #expect(try tower.ledger.otherDamage(limit: 10).count == 1)
        bench.memory.lose(second)
        await bench.time.advance(by: Self.day)
        let told = try await bench.jobs(tower, percent: 0).problems
        #expect(told.count == 2 && told[0].hasPrefix("/pictures/Gallery/last.jpg: "), "\(told)")
        #expect(told.last?.hasPrefix("the catalogue of the machine laptop lacks its writes 2 to 2") == true, "\(told)")
        #expect(try tower.ledger.otherDamage(limit: 10).map(\.machine) == ["laptop"])
    }
}
