import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What is known to be damaged of machines that are silent, while the store lacks the catalogue of one.
@Suite struct HeldDamageTests {
    private static let day = Duration.seconds(86_400)
    private static let mended = "no longer damaged, or needed by nobody, of machines that are silent: 1 object"

    private let bench: CatalogBench
    private let tower: CatalogMachine
    private let laptop: CatalogMachine
    private let key: ObjectKey

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
        key = try bench.photoKey("sunset")
    }

    private func known() throws -> [OtherDamage] { try tower.ledger.otherDamage(limit: 100) }

    /// The laptop stores a photo, and is off for three days.
    /// - Returns: its id.
    private func laptopIsGone() async throws -> String {
        try await laptop.see(["a.jpg": "sunset"])
        try await laptop.write()
        let id = try laptop.ledger.catalogStatus().machine
        try await bench.sign(of: id, catalogWrite: 1)
        await bench.time.advance(by: Self.day * 3)
        return id
    }

    /// The tower has found what became of the photo, and a day later the laptop's catalogue is not there.
    @discardableResult
    private func found(_ harm: (ObjectKey) -> Void) async throws -> String {
        let id = try await laptopIsGone()
        harm(key)
        _ = try await bench.jobs(tower)
        #expect(try known().map(\.key) == [key])
        try await bench.loseCatalogs()
        await bench.time.advance(by: Self.day)
        return id
    }

    @Test(arguments: [true, false])
    func `it is looked at each day, and stays whose it was called`(isDamaged: Bool) async throws {
        let id = try await found(isDamaged ? bench.memory.damage : bench.memory.lose)
        for _ in 0..<2 {
            let told = try await bench.jobs(tower, percent: 0).problems
            #expect(told.count == 2 && told[0].hasPrefix("/pictures/Gallery/a.jpg: "), "\(told)")
            #expect(told.last?.hasPrefix("the catalogue of the machine \(id) is missing") == true, "\(told)")
            let damage = try #require(try known().first)
            #expect(damage.seenAt == bench.time.now && damage.machine == "laptop")
            #expect(damage.problem.isDamage == isDamaged)
            await bench.time.advance(by: Self.day)
        }
    }

    @Test(arguments: [true, false])
    func `it ends when the object is right again, whoever brought it back`(isDamaged: Bool) async throws {
        try await found(isDamaged ? bench.memory.damage : bench.memory.lose)
        bench.memory.lose(key)
        let digest = ContentDigest(of: Array("sunset".utf8))
        _ = try await bench.memory.put(
            ObjectBody(bytes: Array("sunset".utf8), digest: digest), at: key,
            attributes: ObjectAttributes(
                contentType: "image/jpeg", metadata: [MetadataName.sha256: "\(digest.sha256)"]),
            condition: .ifAbsent)
        let summary = try await bench.jobs(tower, percent: 0)
        #expect(summary.done == [Self.mended] && summary.problems.count == 1, "\(summary)")
        #expect(try known().isEmpty)
    }

    @Test(arguments: [true, false])
    func `it stays known of what a rebuild takes up`(hasCatalog: Bool) async throws {
        _ = try await laptopIsGone()
        bench.memory.damage(key)
        _ = try await bench.jobs(tower)
        #expect(try known().count == 1)
        if !hasCatalog { try await bench.loseCatalogs() }
        _ = try await tower.rebuild()
        #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
        try await tower.refresh()
        #expect(try tower.ledger.overview().brokenTiers.map(\.objects) == [1])
        #expect(try tower.ledger.overview().lost == (hasCatalog ? 1 : 0))
        await bench.time.advance(by: Self.day)
        #expect(try await bench.jobs(tower, percent: 0).done == [])
        #expect(try known().isEmpty)
    }

    @Test func `what a rebuild does not find of a machine that stays another one is lost, until it is there again`()
        async throws
    {
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        _ = try await laptopIsGone()
        let whole = bench.memory.copy()
        bench.memory.lose(key)
        _ = try await bench.jobs(tower)
        #expect(try known().map(\.path) == ["/pictures/Gallery/a.jpg"])
        for _ in 0..<2 {
            let summary = try await tower.rebuild()
            #expect(summary.lost == 1 && summary.photos == 1, "\(summary)")
            let lost = try tower.ledger.lostPhotos(limit: 9)
            #expect(lost.map(\.path) == ["/machines/laptop/pictures/Gallery/a.jpg"])
            #expect(lost.first?.why?.hasPrefix("what was stored of it is no longer in the store") == true, "\(lost)")
        }
        #expect(try tower.ledger.overview().lostHere == 0)
        #expect(try tower.ledger.overview().storedTiers.map(\.objects) == [1])
        try await tower.refresh()
        #expect(try tower.ledger.overview().lost == 1)
        bench.memory.recover(key, from: whole)
        try await tower.refresh()
        #expect(try tower.ledger.overview().lost == 0)
        #expect(try tower.ledger.check() == [])
    }

    @Test(arguments: ["first", "last"])
    func `a photo that was changed is lost by what is stored of it last`(gone: String) async throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<30).map { ("\($0).jpg", "photo \($0)") })
        for text in ["first", "last"] {
            try await laptop.see(many.merging(["a.jpg": text]) { $1 })
            try await laptop.write()
        }
        try #require(try await bench.keysOfSegments().count == 2)
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        bench.memory.lose(try bench.photoKey(gone))
        _ = try await tower.rebuild()
        let state = gone == "last" ? "lost" : "missing"
        #expect(try tower.known().contains("/machines/laptop/pictures/Gallery/a.jpg \(state)"))
    }

    @Test func `what was gone and is listed again is taken up whole`() async throws {
        _ = try await laptopIsGone()
        let content = bench.memory.content(key)
        bench.memory.lose(key)
        _ = try await bench.jobs(tower)
        #expect(try known().map(\.problem) == [.missing])
        try await bench.memory.store(try #require(content), at: key)
        _ = try await tower.rebuild()
        let object = try #require(try tower.ledger.object(key))
        #expect(object.problem == nil)
    }

    @Test func `a look at it is paid for, and it stays known unread when the month's money is spent`() async throws {
        try await found(bench.memory.damage)
        let prices = PriceTable(
            region: "test", asOf: "2026-01", source: "test",
            classes: [.standard: ClassPrices(perGBMonth: 0, putPer1000: 0, getPer1000: 1_000)], egressPerGB: 0)
        func reads() -> Int { bench.store.calls.count { $0.operation == .get && $0.key == key.rawValue } }
        var before = reads()
        _ = try await bench.jobs(tower, percent: 0, budget: 1, prices: prices)
        #expect(reads() > before)
        #expect(try tower.ledger.verificationStatus(at: bench.time.now).spentUSD == 1)
        before = reads()
        await bench.time.advance(by: Self.day)
        let summary = try await bench.jobs(tower, percent: 0, budget: 1, prices: prices)
        #expect(reads() == before && summary.problems.count == 2)
        #expect(summary.done.last?.contains("budget") == true, "\(summary.done)")
        #expect(try known().map(\.problem.isDamage) == [true])
    }

    @Test func `bytes that prove nothing do not end it`() async throws {
        try await found(bench.memory.damage)
        try await bench.memory.store(Array("another".utf8), at: key)
        #expect(try await bench.jobs(tower, percent: 0).problems.count == 2)
        #expect(try known().count == 1)
    }

    @Test func `of one that is in the archive meanwhile, what its metadata says proves nothing`() async throws {
        try await found(bench.memory.damage)
        bench.memory.lose(key)
        let digest = ContentDigest(of: Array("sunset".utf8))
        _ = try await bench.memory.put(
            ObjectBody(bytes: Array("sunset".utf8), digest: digest), at: key,
            attributes: ObjectAttributes(
                contentType: "image/jpeg", metadata: [MetadataName.sha256: "\(digest.sha256)"],
                storageClass: .deepArchive),
            condition: .ifAbsent)
        #expect(try await bench.jobs(tower, percent: 0).problems.count == 2)
        #expect(try known().count == 1)
    }

    /// As notes of version 1.0 are, and those of machines that keep none any more.
    @Test func `it stays known of a machine whose note tells of no catalogue, and none is missed`() async throws {
        let id = try await found(bench.memory.damage)
        try await bench.sign(of: id, name: "laptop")
        await bench.time.advance(by: Self.day * 3)
        let told = try await bench.jobs(tower, percent: 0).problems
        #expect(told.count == 1 && told[0].hasPrefix("/pictures/Gallery/a.jpg: "), "\(told)")
        #expect(try known().map(\.machine) == ["laptop"])
    }

    @Test func `what was found meanwhile is not forgotten when the object goes`() async throws {
        _ = try await laptopIsGone()
        try await bench.loseCatalogs()
        bench.memory.damage(key)
        #expect(try await bench.jobs(tower).problems.count == 2)
        #expect(try known().map(\.machine) == [nil])
        bench.memory.lose(key)
        await bench.time.advance(by: Self.day)
        #expect(try await bench.jobs(tower, percent: 0).problems.count == 2)
        #expect(try known().map(\.problem) == [.missing])
    }

    @Test(arguments: [true, false])
    func `it ends with the note of the machine, and not with one that cannot be read`(isReadable: Bool) async throws {
        let id = try await found(bench.memory.damage)
        let note = try bench.keys.machine(id)
        if !isReadable {
            try await bench.memory.store([1], at: note)
            await bench.time.advance(by: Self.day * 3)
            let told = try await bench.jobs(tower).problems
            #expect(told.count == 2 && told.last == "\(note): it is no note of a machine", "\(told)")
            #expect(try known().count == 1)
        }
        bench.memory.lose(note)
        await bench.time.advance(by: Self.day)
        #expect(try await bench.jobs(tower).problems == [])
        #expect(try known().isEmpty)
    }

    /// A second machine that has left a note and nothing else: it holds what nobody names when it says that it has a
    /// catalogue, and is told then.
    @Test(arguments: [nil, 1] as [Int?])
    func `it is held by who is told alone`(catalogWrite: Int?) async throws {
        try await laptop.see(["a.jpg": "sunset"])
        try await laptop.write()
        try await bench.sign(of: "0123456789abcdef", catalogWrite: catalogWrite)
        await bench.time.advance(by: Self.day * 3)
        bench.memory.damage(key)
        _ = try await bench.jobs(tower)
        #expect(try known().map(\.machine) == ["laptop"])
        // It comes back, and has another photo in that place.
        try await laptop.see(["a.jpg": "another sunset"])
        try await laptop.write()
        await bench.time.advance(by: Self.day)
        let told = try await bench.jobs(tower).problems
        let isHeld = catalogWrite != nil
        #expect(try known().count == (isHeld ? 1 : 0))
        #expect(told.contains { $0.contains("the machine 0123456789abcdef is missing") } == isHeld, "\(told)")
    }

    @Test func `what its machine has forgotten, and deleted, is not called gone`() async throws {
        try await laptop.see(["a.jpg": "sunset"])
        try await laptop.write()
        try await bench.sign(of: "0123456789abcdef", catalogWrite: 1)
        await bench.time.advance(by: Self.day * 3)
        bench.memory.damage(key)
        _ = try await bench.jobs(tower)
        try await laptop.see(["a.jpg": "another sunset"])
        try await laptop.write()
        bench.memory.lose(key)
        await bench.time.advance(by: Self.day)
        let told = try await bench.jobs(tower).problems
        #expect(told.first?.contains("found while the machine laptop was silent: ") == true, "\(told)")
        #expect(try known().map(\.problem.isDamage) == [true])
    }

    @Test(arguments: [(1, 0), (2, 1)])
    func `a silent machine that another one replaces by its note alone is not missed, unless it wrote later`(
        catalogWrite: Int, told: Int
    ) async throws {
        try await bench.sign(of: "0123456789abcdef", catalogWrite: catalogWrite)
        await bench.time.advance(by: Self.day * 3)
        #expect(try await bench.jobs(tower).problems.count == 1)
        await bench.time.advance(by: Self.day)
        try await bench.sign(of: "fedcba9876543210", replaces: ["0123456789abcdef": 1])
        #expect(try await bench.jobs(bench.machine("nas")).problems.count == told)
    }
}
