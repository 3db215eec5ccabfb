import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What a ledger that was rebuilt knows of another machine, which lives on or is silent since.
@Suite struct LeftToOthersTests {
    private static let day = Duration.seconds(86_400)

    private let bench: CatalogBench
    private let tower: CatalogMachine
    private let laptop: CatalogMachine

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
    }

    private var status: VerificationStatus {
        get throws { try tower.ledger.verificationStatus(at: bench.time.now) }
    }

    /// The laptop has written, and the tower's ledger takes it up.
    private func rebuild() async throws {
        #expect(try await tower.takeUp(laptop).lost == 0)
    }

    /// The tower looks at the whole store, and finds nothing that it would have to tell.
    private func checkFindsNothing(left: Int) async throws {
        try await tower.refresh()
        let overview = try tower.ledger.overview()
        #expect(overview.lost == 0 && overview.broken == 0 && overview.leftToOthers == left, "\(overview)")
        #expect(try status.damaged + status.missing == 0)
        #expect(try await bench.jobs(tower).problems == [])
        #expect(try tower.ledger.otherDamage(limit: 9).isEmpty)
        #expect(try tower.ledger.check() == [])
    }

    @Test func `what a machine has replaced is no loss, whether it lives or is silent, until it is damaged`()
        async throws
    {
        let image = try bench.keys.projectFile("p1.jpg")
        let place = "/machines/laptop/pictures/Gallery/p1.jpg"
        try await laptop.see(["p1.jpg": "first"], at: image)
        try await rebuild()
        try await laptop.see(["p1.jpg": "another"], at: image)
        try await laptop.write()
        try await checkFindsNothing(left: 1)
        #expect(try tower.ledger.object(image)?.problem?.isDamage == true)
        #expect(try tower.known().contains("\(place) missing"))
        await bench.time.advance(by: Self.day * 3)
        try await checkFindsNothing(left: 1)
        let whole = bench.memory.copy()
        bench.memory.damage(image)
        await bench.time.advance(by: Self.day)
        // What is known otherwise has its turn each day.
        let told = try await bench.jobs(tower, percent: 0).problems
        #expect(told.count == 1 && told[0].hasPrefix("/pictures/Gallery/p1.jpg: "), "\(told)")
        bench.memory.lose(image)
        bench.memory.recover(image, from: whole)
        await bench.time.advance(by: Self.day)
        #expect(try await bench.jobs(tower, percent: 0).problems == [])
        // A rebuild takes up what it is now.
        #expect(try await tower.rebuild().lost == 0)
        try await checkFindsNothing(left: 0)
        #expect(try tower.ledger.object(image)?.problem == nil)
        #expect(try tower.known().contains("\(place) missing"))
    }

    @Test func `what a machine has deleted is no loss, and neither is its original`() async throws {
        let image = try bench.keys.projectFile("p1.jpg")
        let photo = try bench.photoKey("sunset")
        let original = try #require(photo.original)
        try await laptop.see(["p1.jpg": "first"], in: "projects", at: image)
        try await laptop.see(["a.jpg": "sunset"])
        try await bench.memory.store(Array("the sunset itself".utf8), at: original)
        try await rebuild()
        #expect(try tower.ledger.object(original) != nil)
        for key in [image, photo, original] { bench.memory.lose(key) }
        try await laptop.see([:], in: "projects")
        try await laptop.see([:])
        try await laptop.refresh()
        let lost = try laptop.ledger.lostPhotos(limit: 9).map(\.id)
        #expect(try laptop.ledger.forget(photos: lost, objects: []) == 2)
        try await laptop.write()
        try await checkFindsNothing(left: 3)
        await bench.time.advance(by: Self.day * 3)
        try await checkFindsNothing(left: 3)
        #expect(try await tower.rebuild().lost == 0)
        try await checkFindsNothing(left: 0)
    }

    @Test(arguments: [true, false])
    func `what is gone of a project whose machine still names it is left to that, as long as it gives signs`(
        isSilent: Bool
    ) async throws {
        let image = try bench.keys.projectFile("p1.jpg")
        try await laptop.see(["p1.jpg": "first"], at: image)
        try await laptop.write()
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        bench.memory.lose(image)
        if isSilent { await bench.time.advance(by: Self.day * 3) }
        let state = isSilent ? "lost" : "missing"
        for _ in 1...2 {
            #expect(try await tower.rebuild().lost == (isSilent ? 1 : 0))
            #expect(try tower.known().contains("/machines/laptop/pictures/Gallery/p1.jpg \(state)"))
            #expect(try tower.ledger.check() == [])
        }
        if isSilent { return }
        try await checkFindsNothing(left: 1)
        // Its catalogue still names it, and it has told nothing else for days.
        await bench.time.advance(by: Self.day * 3)
        try await tower.refresh()
        #expect(try await bench.jobs(tower, percent: 0).problems.count == 1)
    }

    @Test(arguments: ["photos", "originals"])
    func `an original is left to the machine of its photo, whatever the user is called`(user: String) async throws {
        let bench = try CatalogBench(user: user)
        let (tower, laptop) = (try bench.machine("tower"), try bench.machine("laptop"))
        let original = try #require(try bench.photoKey("sunset").original)
        try await laptop.see(["a.jpg": "sunset"])
        try await bench.memory.store(Array("the sunset itself".utf8), at: original)
        try await laptop.write()
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        #expect(try await tower.rebuild().lost == 0)
        bench.memory.lose(original)
        try await tower.refresh()
        #expect(try tower.ledger.leftToOthers() == [original])
    }

    @Test func `what is gone of a machine that is silent is told until it is there again`() async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        let whole = bench.memory.copy()
        bench.memory.lose(key)
        // It lives, and tells it itself.
        try await checkFindsNothing(left: 1)
        await bench.time.advance(by: Self.day * 3)
        try await tower.refresh()
        let told = try await bench.jobs(tower, percent: 0).problems
        #expect(told.count == 1 && told[0].hasPrefix("/pictures/Gallery/a.jpg: "), "\(told)")
        let known = try tower.ledger.otherDamage(limit: 9)
        #expect(known.map(\.key) == [key] && known.map(\.machine) == ["laptop"])
        #expect(known.map(\.problem) == [.missing] && known.map(\.seenAt) == [bench.time.now])
        bench.memory.recover(key, from: whole)
        await bench.time.advance(by: Self.day)
        try await checkFindsNothing(left: 0)
    }

    @Test func `what is gone of a machine of which nothing is left is lost`() async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        let whole = bench.memory.copy()
        bench.memory.lose(key)
        try await bench.loseCatalogs()
        try await tower.refresh()
        #expect(try tower.ledger.overview().lost == 0)
        _ = try await bench.jobs(tower)
        let lost = try tower.ledger.lostPhotos(limit: 9)
        #expect(lost.map(\.path) == ["/machines/laptop/pictures/Gallery/a.jpg"])
        #expect(lost.first?.why?.hasPrefix("what was stored of it is no longer in the store") == true, "\(lost)")
        let overview = try tower.ledger.overview()
        #expect(overview.lost == 1 && overview.broken == 1 && overview.brokenOfLost == 1, "\(overview)")
        bench.memory.recover(key, from: whole)
        try await tower.refresh()
        #expect(try tower.ledger.overview().lost == 0)
    }

    @Test func `what is left to a machine of which nothing is left is lost, whichever machine has the jobs of the day`()
        async throws
    {
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        bench.memory.lose(try bench.photoKey("sunset"))
        try await bench.loseCatalogs()
        try await tower.refresh()
        let nas = try bench.machine("nas")
        try await nas.see(["nas.jpg": "of the nas"])
        try await nas.write()
        _ = try await bench.jobs(nas)
        _ = try await bench.jobs(tower)
        #expect(try tower.ledger.overview().lost == 1)
    }

    @Test func `a rebuild keeps what is gone of a machine of which nothing is left as a loss`() async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        bench.memory.lose(key)
        try await tower.refresh()
        try await bench.loseCatalogs()
        for _ in 1...2 {
            #expect(try await tower.rebuild().lost == 1)
            #expect(try tower.ledger.object(key)?.problem == .missing)
        }
        let lost = try tower.ledger.lostPhotos(limit: 9)
        #expect(lost.map { $0.path.removingLastComponent() } == ["/recovered"], "\(lost)")
        #expect(try tower.ledger.forget(photos: lost.map(\.id), objects: []) == 1)
        let overview = try tower.ledger.overview()
        #expect(overview.lost == 0 && overview.broken == 0, "\(overview)")
        #expect(try await tower.rebuild().lost == 0)
        #expect(try tower.ledger.check() == [])
    }

    @Test func `what was lost of a machine that has forgotten it since is forgotten by a rebuild`() async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset", "b.jpg": "another"])
        try await laptop.write()
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        bench.memory.lose(key)
        #expect(try await tower.rebuild().lost == 1)
        try await laptop.see(["b.jpg": "another"])
        try await laptop.refresh()
        let lost = try laptop.ledger.lostPhotos(limit: 9).map(\.id)
        #expect(try laptop.ledger.forget(photos: lost, objects: []) == 1)
        // All that its catalogue tells is what there is now.
        try await bench.loseCatalogs()
        try await laptop.refresh()
        try await laptop.write()
        #expect(try await tower.rebuild().lost == 0)
        let overview = try tower.ledger.overview()
        #expect(overview.broken == 0 && overview.leftToOthers == 0, "\(overview)")
        #expect(try tower.ledger.object(key) == nil)
        #expect(try tower.ledger.check() == [])
    }

    @Test func `a rebuild keeps what is known to be damaged of a machine that lives, until it is stored anew`()
        async throws
    {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        bench.memory.damage(key)
        let verifier = Verifier(
            store: bench.store, ledger: LedgerQueue(tower.ledger), cost: VerificationCost(prices: nil),
            time: bench.time.source)
        #expect(try await verifier.run(.keys([key]), costingAtMost: nil).broken.map(\.key) == [key])
        for _ in 1...2 {
            #expect(try await tower.rebuild().lost == 1)
            #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
        }
        try await put("sunset, stored anew", at: key)
        #expect(try await tower.rebuild().lost == 0)
        #expect(try tower.ledger.object(key)?.problem == nil)
    }

    @Test(arguments: [InMemoryStore.ListedDigests.all, .marks])
    func `what somebody has overwritten is no whole photo by another ETag, and by its bytes it is`(
        listed: InMemoryStore.ListedDigests
    ) async throws {
        let bench = try CatalogBench(listedDigests: listed)
        let (tower, laptop) = (try bench.machine("tower"), try bench.machine("laptop"))
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await laptop.write()
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        #expect(try await tower.rebuild().lost == 0)
        let whole = bench.memory.copy()
        func verify() async throws -> Bool {
            await bench.time.advance(by: Self.day)
            return try await Verifier(
                store: bench.store, ledger: LedgerQueue(tower.ledger), cost: VerificationCost(prices: nil),
                time: bench.time.source
            ).run(.keys([key]), costingAtMost: nil).broken.isEmpty
        }
        for ruin in ["tesnus", "something else, and longer"] {
            try await bench.memory.store(Array(ruin.utf8), at: key)
            #expect(try await !verify())
            for _ in 1...2 {
                #expect(try await tower.rebuild().lost == 1)
                #expect(try tower.ledger.object(key)?.problem?.isDamage == true)
            }
            #expect(try await !verify())
        }
        bench.memory.recover(key, from: whole)
        #expect(try await tower.rebuild().lost == 0)
        #expect(try tower.ledger.object(key)?.problem == nil)
        #expect(try await verify())
    }

    /// Stores another copy of the photo "sunset", as its machine does.
    private func put(_ text: String, at key: ObjectKey) async throws {
        let body = ObjectBody(Array(text.utf8))
        let attributes = ObjectAttributes(
            contentType: "image/jpeg",
            metadata: [
                MetadataName.md5: "\(ContentDigest(of: Array("sunset".utf8)).md5)",
                MetadataName.sha256: "\(body.digest.sha256)",
            ])
        _ = try await bench.memory.put(body, at: key, attributes: attributes, condition: .overwrite)
    }

    @Test func `verify counts it, and tells it of what is asked for by name alone`() async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        bench.memory.lose(key)
        // What is proved at this very moment is looked at no more.
        await bench.time.advance(by: Self.day)
        let verifier = Verifier(
            store: bench.store, ledger: LedgerQueue(tower.ledger), cost: VerificationCost(prices: nil),
            time: bench.time.source)
        let all = try await verifier.run(.percent(100), costingAtMost: nil)
        #expect(all.broken.isEmpty && all.leftToOthers == 1 && all.checked == all.intact + 1, "\(all)")
        #expect(try await verifier.run(.keys([key]), costingAtMost: nil).broken.map(\.key) == [key])
    }

    @Test(arguments: [true, false])
    func `what a rebuild over a kept ledger does not find is lost where a catalogue still names it`(
        isNamed: Bool
    ) async throws {
        let key = try bench.photoKey("sunset")
        try await laptop.see(["a.jpg": "sunset"])
        try await rebuild()
        if !isNamed {
            try await laptop.see(["a.jpg": "another"])
            try await laptop.write()
        }
        bench.memory.lose(key)
        let summary = try await tower.rebuild()
        #expect(summary.lost == (isNamed ? 1 : 0), "\(summary)")
        #expect(try tower.ledger.overview().lost == (isNamed ? 1 : 0))
        #expect(try tower.ledger.check() == [])
    }
}
