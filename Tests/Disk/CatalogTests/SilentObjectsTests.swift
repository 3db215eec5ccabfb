import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncGzip
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Who sees to the objects of a machine that is gone.
@Suite struct SilentObjectsTests {
    private static let day = Duration.seconds(86_400)

    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    /// Of one machine, that day.
    private func jobs(
        _ machine: CatalogMachine, percent: Double = 100, budget: Double = 1, prices: PriceTable? = nil,
        mode: TierMode = .off
    ) async throws -> UserJobs.Summary {
        try await bench.jobs(machine, percent: percent, budget: budget, prices: prices, mode: mode)
    }

    private func key(_ text: String) throws -> ObjectKey { try bench.photoKey(text) }

    /// Objects that were read, by their keys.
    private var read: [ObjectKey] {
        bench.store.calls.filter { $0.operation == .get && $0.key.contains("/photos/") }
            .compactMap { try? ObjectKey($0.key) }
    }

    private func damage(of machine: CatalogMachine) throws -> [OtherDamage] {
        try machine.ledger.otherDamage(limit: 100)
    }

    /// The laptop stores some photos, and is off for three days.
    private func laptopIsGone(_ files: [String: String]) async throws {
        let laptop = try bench.machine("laptop")
        try await laptop.see(files)
        try await laptop.write()
        await bench.time.advance(by: Self.day * 3)
    }

    @Test func `each object of a silent machine is verified by one of two machines, and each once`() async throws {
        try await laptopIsGone(["a.jpg": "sunset", "b.jpg": "moon", "c.jpg": "sunset"])
        let (tower, nas) = (try bench.machine("tower"), try bench.machine("nas"))
        try await tower.see(["of tower.jpg": "moon"])
        #expect(try await jobs(tower).done == ["verified for machines that are silent: 1 object"])
        #expect(try await jobs(nas).done == [])
        #expect(try await jobs(tower).done == [])
        // The moon is the tower's own as well.
        #expect(try read == [key("sunset")])
        await bench.time.advance(by: Self.day)
        try await tower.write()
        #expect(try await jobs(nas).done == ["verified for machines that are silent: 1 object"])
        #expect(try damage(of: tower).isEmpty && damage(of: nas).isEmpty)
    }

    @Test func `a machine that gives signs is left alone, also with what a silent one names`() async throws {
        try await laptopIsGone(["a.jpg": "sunset", "b.jpg": "moon"])
        let (tower, nas) = (try bench.machine("tower"), try bench.machine("nas"))
        try await nas.see(["of nas.jpg": "moon"])
        try await nas.write()
        #expect(try await jobs(tower).done.count == 1)
        #expect(try read == [key("sunset")])
        await bench.time.advance(by: Self.day)
        for id in [try nas.ledger.catalogStatus().machine]
            + (try await bench.keysOfSegments()).compactMap({
                CatalogSegment($0, bench.keys)?.machine
            })
        { try await bench.sign(of: id) }
        let before = read.count
        #expect(try await jobs(tower, mode: .agent).done == [])
        #expect(read.count == before && bench.store.count(.copy) == 0)
    }

    @Test func `a machine with the day's claim alone does it`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        bench.memory.damage(try key("sunset"))
        try await bench.memory.store([1], at: bench.keys.jobClaim(CalendarDay(bench.time.now)))
        let tower = try bench.machine("tower")
        let summary = try await jobs(tower, mode: .agent)
        #expect(summary.done == [] && summary.problems == [] && read == [] && bench.store.count(.copy) == 0)
        #expect(try damage(of: tower).isEmpty)
    }

    @Test func `what is old enough and large enough is moved once, and never again`() async throws {
        let laptop = try bench.machine("laptop")
        try await laptop.see(["a.jpg": "sunset", "b.jpg": "moon", "c.jpg": "an elephant"])
        try await laptop.write()
        await bench.time.advance(by: Self.day * 4)
        bench.memory.setClass(.glacier, of: try key("an elephant"))
        try await bench.memory.store(Array("a young one".utf8), at: key("a young one"))
        let tower = try bench.machine("tower")
        let moved = "moved to the archive for machines that are silent: 1 object"
        #expect(try await jobs(tower, percent: 0, mode: .agent).done == [moved])
        #expect(try bench.memory.info(key("sunset"))?.storageClass == .deepArchive)
        #expect(try bench.memory.info(key("moon"))?.storageClass == .standard)
        #expect(try bench.memory.info(key("an elephant"))?.storageClass == .glacier)
        #expect(bench.store.count(.copy) == 1 && read == [])
        await bench.time.advance(by: Self.day)
        let other = try bench.machine("nas")
        #expect(try await jobs(other, percent: 0, mode: .agent).done == [])
        #expect(bench.store.count(.copy) == 1)
    }

    @Test func `what the store denied on one day comes last on the next, behind what it lets be moved`() async throws {
        let texts = (0..<30).map { "a photo with number \($0)" }
        try await laptopIsGone(Dictionary(uniqueKeysWithValues: texts.map { ("\($0).jpg", $0) }))
        await bench.time.advance(by: Self.day * 4)
        // In the order in which a listing tells them.
        for key in try texts.map({ try key($0) }).sorted().prefix(25) {
            bench.store.add(StoreFault(.copy, key: key.rawValue, .failBefore(.accessDenied)))
        }
        let tower = try bench.machine("tower")
        #expect(try await jobs(tower, percent: 0, mode: .agent).done == [])
        await bench.time.advance(by: Self.day)
        let moved = "moved to the archive for machines that are silent: 5 objects"
        #expect(try await jobs(tower, percent: 0, mode: .agent).done == [moved])
    }

    @Test func `where the bucket or nobody moves, nothing is`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        await bench.time.advance(by: Self.day * 4)
        #expect(try await jobs(bench.machine("tower"), percent: 0, mode: .off).done == [])
        #expect(bench.store.count(.copy) == 0)
    }

    @Test func `damage is told each day until it is mended`() async throws {
        try await laptopIsGone(["a.jpg": "sunset", "b.jpg": "moon", "c.jpg": "star"])
        let tower = try bench.machine("tower")
        bench.memory.damage(try key("sunset"))
        bench.memory.lose(try key("moon"))
        for _ in 0..<2 {
            // Also when no object has its turn.
            let summary = try await jobs(tower, percent: read.isEmpty ? 100 : 0)
            #expect(summary.problems.count == 2)
            #expect(summary.problems.allSatisfy { $0.contains("laptop") && $0.hasPrefix("/pictures/Gallery/") })
            let known = try damage(of: tower)
            #expect(try Set(known.map(\.key)) == [key("sunset"), key("moon")])
            #expect(known.contains { $0.problem == .missing } && known.contains { $0.problem.isDamage })
            #expect(known.allSatisfy { $0.seenAt == bench.time.now })
            await bench.time.advance(by: Self.day)
        }
        // One is stored again, the other one by this machine.
        try await bench.memory.delete(key("sunset"))
        try await bench.memory.store(Array("sunset".utf8), at: key("sunset"))
        try await tower.see(["of tower.jpg": "moon"])
        #expect(try damage(of: tower).map(\.key) == [key("sunset")])
        let summary = try await jobs(tower, percent: 0)
        #expect(summary.problems == [])
        #expect(summary.done == ["no longer damaged, or needed by nobody, of machines that are silent: 2 objects"])
        #expect(try damage(of: tower).isEmpty)
    }

    @Test
    func `what a machine has forgotten before it went is no damage, and what is forgotten later is none any more`()
        async throws
    {
        let laptop = try bench.machine("laptop")
        try await laptop.see(["a.jpg": "sunset", "b.jpg": "moon"])
        try await laptop.write()
        try await laptop.see(["a.jpg": "another sunset", "b.jpg": "moon"])
        try await laptop.write()
        bench.memory.lose(try key("sunset"))
        bench.memory.lose(try key("moon"))
        await bench.time.advance(by: Self.day * 3)
        let tower = try bench.machine("tower")
        _ = try await jobs(tower)
        #expect(try damage(of: tower).map(\.key) == [key("moon")])
        for segment in try await bench.keysOfSegments() { try await bench.memory.delete(segment) }
        await bench.time.advance(by: Self.day)
        _ = try await jobs(tower)
        #expect(try damage(of: tower).isEmpty)
    }

    @Test func `of a file that several machines wrote under one key, any version that one of them names is right`()
        async throws
    {
        let projects = try ObjectKey("users/ana/projects/projects.json")
        for (name, text) in [("laptop", "one"), ("netbook", "two")] {
            let digest = ContentDigest(of: Array(text.utf8))
            try await write(
                [
                    .folder(CatalogFolder(folder: 1, kind: "projects", path: "/p")),
                    .photo(photo("projects.json", at: projects, size: 3, sha256: digest.sha256)),
                ], of: name)
            try? await bench.memory.delete(projects)
            try await bench.memory.store(Array(text.utf8), at: projects)
        }
        await bench.time.advance(by: Self.day * 3)
        let tower = try bench.machine("tower")
        #expect(try await jobs(tower).problems == [])
        bench.memory.damage(projects)
        await bench.time.advance(by: Self.day)
        #expect(try await jobs(tower).problems.count == 1)
    }

    @Test func `what no catalogue names is seen to when no other machine may have it`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        let archived = try ObjectKey("gallery-archive/ana/p/2025/01/event.jpg")
        let digest = ContentDigest(of: Array("an event".utf8))
        _ = try await bench.memory.put(
            ObjectBody(bytes: Array("an event".utf8), digest: digest), at: archived,
            attributes: ObjectAttributes(
                contentType: "image/jpeg", metadata: [MetadataName.sha256: "\(digest.sha256)"]),
            condition: .ifAbsent)
        await bench.time.advance(by: Self.day * 4)
        let tower = try bench.machine("tower")
        try await bench.sign(of: "0123456789abcdef")
        #expect(try await jobs(tower).done == ["verified for machines that are silent: 1 object"])
        await bench.time.advance(by: Self.day * 3)
        bench.memory.damage(archived)
        let summary = try await jobs(tower, mode: .agent)
        #expect(summary.done.first == "verified for machines that are silent: 2 objects")
        #expect(summary.problems.count == 1 && summary.problems[0].hasPrefix(archived.rawValue))
        // What is damaged is not moved.
        #expect(bench.memory.info(archived)?.storageClass == .standard)
        await bench.time.advance(by: Self.day)
        #expect(try await jobs(tower, percent: 0).problems.count == 1)
        bench.memory.lose(archived)
        await bench.time.advance(by: Self.day)
        #expect(try await jobs(tower, percent: 0).problems == [])
        #expect(try damage(of: tower).isEmpty)
    }

    @Test func `the month's money is this machine's own and theirs together`() async throws {
        try await laptopIsGone(["a.jpg": "sunset", "b.jpg": "moon", "c.jpg": "star"])
        let tower = try bench.machine("tower")
        let prices = PriceTable(
            region: "test", asOf: "2026-01", source: "test",
            classes: [.standard: ClassPrices(perGBMonth: 0, putPer1000: 0, getPer1000: 1_000)], egressPerGB: 0)
        #expect(try tower.ledger.payForChecks([1], ofMonth: nil, at: bench.time.now) == 1)
        let first = try await jobs(tower, budget: 3, prices: prices)
        #expect(first.done.first == "verified for machines that are silent: 2 objects")
        #expect(first.done.last?.contains("budget") == true && read.count == 2)
        #expect(try tower.ledger.verificationStatus(at: bench.time.now).spentUSD == 3)
        await bench.time.advance(by: Self.day)
        #expect(try await jobs(tower, budget: 3, prices: prices).done.count == 1)
        #expect(read.count == 2)
    }

    @Test func `an archived object is asked for, and never read`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        bench.memory.setClass(.deepArchive, of: try key("sunset"))
        #expect(try await jobs(bench.machine("tower")).done.count == 1)
        #expect(read == [] && bench.store.count(.restore) == 0)
    }

    @Test func `hostile lines reach nothing of another user, and nothing that is no photo`() async throws {
        let other = try ObjectKey("users/eve/photos/0123456789abcdef0123456789abcdef.dat")
        let claim = try ObjectKey("users/ana/jobs/2020-01-01.json")
        let share = try ObjectKey("shares/1/a.jpg")
        for key in [other, claim, share] { try await bench.memory.store([1, 2, 3, 4, 5, 6, 7], at: key) }
        let keys = [other, claim, share]
        try await write(
            [.folder(CatalogFolder(folder: 1, kind: "gallery", path: "/p"))]
                + keys.enumerated().map { .photo(photo(FilePath("\($0.offset).jpg"), at: $0.element, size: 9)) }
                // Of a folder that is none, and of a size that is none.
                + [
                    .photo(photo("x.jpg", at: try key("x"), size: -1)), .gone(CatalogPlace(folder: 9, path: "y.jpg")),
                    .photo(photo("w.jpg", at: try key("w"), size: .max)),
                    .photo(
                        CatalogPhoto(
                            place: CatalogPlace(folder: 7, path: "z.jpg"), file: nil, md5: nil, key: try key("z"),
                            sha256: nil, size: 1, contentType: "")),
                ], of: "evil")
        try await bench.memory.store(
            Array("no catalogue".utf8), at: ObjectKey("users/ana/catalog/w/00000001-00000001.jsonl.gz"))
        await bench.time.advance(by: Self.day * 5)
        let tower = try bench.machine("tower")
        let summary = try await jobs(tower, mode: .agent)
        #expect(summary.done == [] && bench.store.count(.copy) == 0)
        // Sizes that are none are damage of the catalogue; what else it says is read.
        #expect(summary.problems.count == 2, "\(summary.problems)")
        #expect(summary.problems.contains { $0.contains("machine w") })
        #expect(summary.problems.contains { $0.contains("2 of its lines cannot be read") })
        #expect(try damage(of: tower).isEmpty)
        #expect(!bench.store.calls.contains { $0.operation == .get && keys.map(\.rawValue).contains($0.key) })
    }

    @Test(arguments: [StoreError.Code.accessDenied, .notFound, .serverFailed])
    func `a catalogue that cannot be read is told, and what another silent machine names is seen to`(
        code: StoreError.Code
    ) async throws {
        let (laptop, netbook) = (try bench.machine("laptop"), try bench.machine("netbook"))
        try await laptop.see(["a.jpg": "sunset"])
        try await laptop.write()
        try await netbook.see(["b.jpg": "moon"])
        try await netbook.write()
        await bench.time.advance(by: Self.day * 3)
        try await bench.sign(of: "0123456789abcdef")
        let id = try laptop.ledger.catalogStatus().machine
        let segment = try #require(
            try await bench.keysOfSegments().first { CatalogSegment($0, bench.keys)?.machine == id })
        bench.store.add(StoreFault(.get, key: segment.rawValue, .failBefore(code)))
        let summary = try await jobs(bench.machine("tower"))
        #expect(summary.done == ["verified for machines that are silent: 1 object"])
        #expect(summary.problems.count == 1, "\(summary.problems)")
        #expect(summary.problems.first?.hasPrefix("the catalogue of machine \(id): ") == true)
        #expect(try read == [key("moon")])
    }

    @Test func `an object that the store denies is told, and the others are verified`() async throws {
        try await laptopIsGone(["a.jpg": "sunset", "b.jpg": "moon"])
        let denied = try key("sunset")
        for operation in [StoreOperation.get, .head] {
            bench.store.add(StoreFault(operation, key: denied.rawValue, .failBefore(.accessDenied)))
        }
        let summary = try await jobs(bench.machine("tower"))
        #expect(summary.problems.count == 1 && summary.problems[0].hasPrefix("not verified: "), "\(summary.problems)")
        #expect(try read.contains(key("moon")))
    }

    @Test func `a store that is away ends it until the next day`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        let tower = try bench.machine("tower")
        bench.store.add(StoreFault(.get, key: try key("sunset").rawValue, number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await jobs(tower) }
        await bench.time.advance(by: Self.day)
        #expect(try await jobs(tower).done.count == 1)
    }

    @Test func `uploads that nobody finishes are taken back below this user's keys alone`() async throws {
        try await laptopIsGone(["a.jpg": "sunset"])
        _ = try await jobs(bench.machine("tower"))
        let asked = bench.store.calls.filter { $0.operation == .takeBackUploads }.map(\.key)
        #expect(asked == ["users/ana/", "gallery-archive/ana/"])
    }

    // MARK: Catalogues as somebody else may write them

    private func photo(_ name: FilePath, at key: ObjectKey, size: Int64, sha256: SHA256Digest? = nil) -> CatalogPhoto {
        CatalogPhoto(
            place: CatalogPlace(folder: 1, path: name), file: nil, md5: nil, key: key, sha256: sha256, size: size,
            contentType: "image/jpeg")
    }

    private func write(_ lines: [CatalogLine], of machine: String) async throws {
        let coding = CatalogCoding(keys: bench.keys)
        let header = CatalogHeader(
            user: "ana", machine: machine, name: machine, from: 1, to: 1, written: bench.time.now)
        let text = try ([.header(header)] + lines + [.end(lines.count + 1)]).reduce(into: [UInt8]()) { text, line in
            text += try coding.data(line)
        }
        let gzip = try GzipWriter()
        var bytes: [UInt8] = []
        try gzip.write(text, isLast: true) { bytes += Array($0) }
        try await bench.memory.store(bytes, at: CatalogSegment(machine: machine, from: 1, to: 1).key(bench.keys))
    }
}
