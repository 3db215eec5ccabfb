import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncGzip
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

/// What looks at the store find of segments that are there, and are not what was written.
struct CatalogDamageTests {
    /// What is done to a segment behind the back of its machine.
    enum Deed: CaseIterable {
        case cut, emptied, overwritten, unreadable

        func apply(to key: ObjectKey, in memory: InMemoryStore) async throws {
            let bytes = memory.content(key) ?? []
            switch self {
            case .cut: try await memory.store(Array(bytes.prefix(bytes.count / 2)), at: key)
            case .emptied: try await memory.store([], at: key)
            case .overwritten: try await memory.store(bytes.map { $0 ^ 1 }, at: key)
            case .unreadable: memory.makeUnreadable(key)
            }
        }
    }

    /// A machine whose catalogue is two segments with 101 photos.
    private func twoSegments(in bench: CatalogBench) async throws -> (CatalogMachine, segments: [ObjectKey]) {
        let machine = try bench.machine("laptop")
        var files = Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0).jpg", "\($0)") })
        try await machine.see(files)
        _ = try await machine.write()
        files["100.jpg"] = "100"
        try await machine.see(files)
        _ = try await machine.write()
        let segments = try await bench.keysOfSegments()
        try #require(segments.count == 2)
        return (machine, segments)
    }

    private func requireWritten(_ machine: CatalogMachine) async throws {
        guard case .written = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
    }

    @Test(arguments: Deed.allCases, [0, 1])
    func `a segment that is not as it was written counts as gone, is told and written again, once`(
        deed: Deed, index: Int
    ) async throws {
        for listed in [InMemoryStore.ListedDigests.all, .marks] {
            let bench = try CatalogBench(hasDigests: listed == .all, listedDigests: listed)
            let (machine, segments) = try await twoSegments(in: bench)
            #expect(try await machine.check() == nil)
            try await deed.apply(to: segments[index], in: bench.memory)
            let problem = try await machine.check()
            #expect(problem?.contains("damaged in the store") == true)
            // It is told until it is mended.
            #expect(try await machine.check() == problem)
            #expect(try machine.ledger.catalogStatus().problem == problem)
            try await requireWritten(machine)
            #expect(try machine.ledger.catalogStatus().problem == nil)
            let keys = try await bench.keysOfSegments()
            #expect(keys.count == 1 && !segments.contains(keys[0]))
            for _ in 0..<2 {
                #expect(try await machine.check() == nil)
                guard case .unchanged = try await machine.write() else {
                    Issue.record("it was written again")
                    return
                }
            }
            #expect(try await bench.keysOfSegments() == keys)
            #expect(try await bench.machine("laptop").rebuild().fromCatalog == 101)
        }
    }

    @Test func `another mark alone is no damage, and is asked for once`() async throws {
        let bench = try CatalogBench(hasDigests: false, listedDigests: .marks)
        let (machine, segments) = try await twoSegments(in: bench)
        for key in segments { bench.memory.remark(key, as: "9b2cf535f27731c974343645a3985328-2") }
        #expect(try await machine.check() == nil)
        for key in segments {
            bench.store.add(StoreFault(.get, key: key.rawValue, number: 1, .failBefore(.serverFailed)))
        }
        let result = try await machine.refresh()
        #expect(result.catalogProblem == nil && result.problems.isEmpty)
        guard case .unchanged = try await machine.write() else {
            Issue.record("it was written again")
            return
        }
    }

    @Test(arguments: [false, true])
    func `an archived segment with another mark is no damage, and one of another size is`(
        isInTier: Bool
    ) async throws {
        let bench = try CatalogBench(hasDigests: false, listedDigests: .marks)
        let (machine, segments) = try await twoSegments(in: bench)
        let archive = { (key: ObjectKey) in
            if isInTier { bench.memory.moveToArchiveTier(key) } else { bench.memory.setClass(.glacier, of: key) }
        }
        let marks = try machine.ledger.catalogStatus().segments.map(\.etag)
        for key in segments {
            archive(key)
            bench.memory.remark(key, as: "9b2cf535f27731c974343645a3985328-2")
        }
        for _ in 0..<2 { #expect(try await machine.check() == nil) }
        for key in segments { bench.memory.remark(key, as: "0b4e5b2e9c7f4a0f8e6d2c1b3a495867-3") }
        #expect(try await machine.readBack() == nil)
        #expect(try machine.ledger.catalogStatus().segments.map(\.etag) == marks, "nobody has read those bytes")
        let key = segments[1]
        try await bench.memory.delete(key)
        try await bench.memory.store([1], at: key)
        archive(key)
        #expect(try await machine.check()?.contains("it has 1 bytes") == true)
    }

    @Test func `bytes that the store does not know to be others are found when the catalogue is read`() async throws {
        let bench = try CatalogBench()
        let (machine, segments) = try await twoSegments(in: bench)
        #expect(try await machine.readBack() == nil)
        bench.memory.damage(segments[0])
        #expect(try await machine.check() == nil)
        let problem = try await machine.readBack()
        #expect(problem?.contains("damaged in the store") == true)
        #expect(try machine.ledger.catalogStatus().problem == problem)
        try await requireWritten(machine)
        #expect(try await machine.readBack() == nil)
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 101)
    }

    @Test func `what an earlier version wrote is read once, and known from then on`() async throws {
        let bench = try CatalogBench(hasDigests: false, listedDigests: .marks)
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        _ = try await machine.write()
        let ledger = machine.ledger
        var status = try ledger.catalogStatus()
        var segment = try #require(status.segments.first)
        let (sha256, etag) = (segment.sha256, segment.etag)
        #expect(sha256 != nil && etag != nil)
        (segment.sha256, segment.etag) = (nil, nil)
        let before = CatalogStatus.Begun(segment: segment, sha256: "", stateDigest: status.stateDigest ?? "")
        try ledger.noteCatalogWrite(before)
        try ledger.commitCatalogWrite(before, at: bench.time.now)
        status = try ledger.catalogStatus()
        #expect(status.segments.first?.sha256 == nil && status.segments.first?.etag == nil)
        #expect(try await machine.check() == nil)
        status = try ledger.catalogStatus()
        #expect(status.segments.first?.sha256 == sha256 && status.segments.first?.etag == etag)
        let key = try #require(try await bench.keysOfSegments().first)
        try await Deed.overwritten.apply(to: key, in: bench.memory)
        #expect(try await machine.check()?.contains("damaged in the store") == true)
    }

    @Test(arguments: [true, false])
    func `what is wrong stays known until another write is noted`(isDamaged: Bool) async throws {
        let bench = try CatalogBench()
        let (machine, segments) = try await twoSegments(in: bench)
        let ledger = machine.ledger
        if isDamaged {
            try await Deed.cut.apply(to: segments[0], in: bench.memory)
            _ = try await machine.check()
        } else {
            // The write itself finds it.
            try await bench.memory.delete(segments[0])
            try ledger.noteOthersProfiles([CatalogProfile(profile: "u-17", name: "Grandma")])
        }
        let told = Lock<[String?]>([])
        bench.store.add(
            StoreFault(
                .put, number: 1,
                .meanwhile {
                    let problem = (try? ledger.catalogStatus())?.problem
                    told.withLock { $0.append(problem) }
                }))
        try await requireWritten(machine)
        let first = told.withLock { $0.first } ?? nil
        let problem = try #require(first)
        #expect(problem.contains(isDamaged ? "damaged in the store" : "gone from the store"))
        #expect(try ledger.catalogStatus().problem == nil)
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 101)
    }

    @Test func `damage that is found while something is written stays known after it`() async throws {
        let bench = try CatalogBench()
        let (machine, segments) = try await twoSegments(in: bench)
        let ledger = machine.ledger
        let status = try ledger.catalogStatus()
        let last = try #require(status.segments.last)
        let begun = CatalogStatus.Begun(
            segment: .init(from: last.from, to: status.next, lines: 5, size: 1), sha256: "",
            stateDigest: status.stateDigest ?? "")
        try ledger.noteCatalogWrite(begun)
        try await Deed.cut.apply(to: segments[0], in: bench.memory)
        let first = try #require(CatalogSegment(segments[0], bench.keys))
        #expect(try ledger.noteCatalogLoss("half of it is there", of: first))
        #expect(try ledger.commitCatalogWrite(begun, at: bench.time.now))
        #expect(try ledger.catalogStatus().problem == "half of it is there")
        try await requireWritten(machine)
        #expect(try ledger.catalogStatus().problem == nil)
        #expect(try await bench.machine("laptop").rebuild().fromCatalog == 101)
    }

    @Test(arguments: [(false, 1), (true, 100)])
    func `a segment that the store does not give is told, and the others are read by a rebuild`(
        isLast: Bool, names: Int
    ) async throws {
        let bench = try CatalogBench()
        let (machine, segments) = try await twoSegments(in: bench)
        let key = segments[isLast ? 1 : 0]
        for number in 1...9 {
            bench.store.add(StoreFault(.get, key: key.rawValue, number: number, .failBefore(.serverFailed)))
        }
        let result = try await bench.machine("laptop").rebuild()
        #expect(result.fromCatalog == names && result.recovered == 101 - names)
        #expect(result.problems.contains { $0.contains("get \(key)") }, "\(result.problems)")
        #expect(try await machine.readBack() == nil)
    }

    @Test func `a segment that cannot be looked at is no whole one when the catalogue is read back`() async throws {
        let bench = try CatalogBench()
        let (machine, segments) = try await twoSegments(in: bench)
        bench.memory.makeUnreadable(segments[0], as: .invalidResponse)
        let finding = try await machine.findingOfReadBack()
        #expect(finding.unclear.map(\.key) == [segments[0]] && finding.broken == nil && finding.problem == nil)
    }

    @Test func `what is damaged of another machine's catalogue is not this one's to write anew`() async throws {
        let bench = try CatalogBench()
        let (machine, other) = (try bench.machine("laptop"), try bench.machine("tower"))
        for each in [machine, other] {
            try await each.see(["a.jpg": "a"])
            _ = try await each.write()
        }
        let id = try other.ledger.catalogStatus().machine
        let key = try #require(try await bench.keysOfSegments().first { $0.rawValue.contains(id) })
        try await Deed.cut.apply(to: key, in: bench.memory)
        #expect(try await machine.check() == nil)
        #expect(try await machine.readBack() == nil)
        #expect(try await other.check() != nil)
    }

    @Test(arguments: [true, false])
    func `of a damaged segment counts what the store confirms, and nothing is called lost for it`(
        isOfThis: Bool
    ) async throws {
        let bench = try CatalogBench(hasDigests: false, listedDigests: .marks)
        let old = try bench.machine("laptop")
        try await old.see(["a.jpg": "a", "b.jpg": "b", "c.jpg": "c"])
        try await requireWritten(old)
        let key = try #require(try await bench.keysOfSegments().first)
        var text: [UInt8] = []
        try (bench.memory.content(key) ?? []).withUnsafeBytes { try GzipReader().read($0) { text += $0 } }
        let (a, b) = (ContentDigest(of: Array("a".utf8)), ContentDigest(of: Array("b".utf8)))
        var lines = String(decoding: text, as: UTF8.self)
        for digest in ["\(a.md5)", "\(b.sha256)"] {
            let other = (digest.hasPrefix("f") ? "e" : "f") + String(digest.dropFirst())
            try #require(lines.contains(digest))
            lines = lines.replacing(digest, with: other)
        }
        var packed: [UInt8] = []
        try GzipWriter().write(Array(lines.utf8), isLast: true) { packed += $0 }
        // The checksum, which stands in front of the length.
        packed[packed.count - 8] ^= 0x10
        try await bench.memory.store(packed, at: key)

        let machine = try bench.machine("new")
        if !isOfThis {
            try await machine.see(["own.jpg": "own"])
            try await requireWritten(machine)
        }
        let summary = try await machine.rebuild(inPlaceOf: isOfThis ? "laptop" : nil)
        #expect(summary.problems.count == 1 && summary.problems[0].contains("damaged"), "\(summary.problems)")
        #expect(summary.lost == 0 && summary.recovered == 1)
        let names = try machine.known().filter { $0.hasSuffix("b.jpg missing") || $0.hasSuffix("c.jpg missing") }
        #expect(names.count == 2)
        #expect(try !machine.known().contains { $0.contains("a.jpg") })
        let status = try machine.ledger.verificationStatus(at: bench.time.now)
        #expect(status.missing == 0 && status.damaged == 0)
        let stored = try machine.ledger.object(bench.keys.photo(PhotoID(b.md5)))
        #expect(stored != nil && (stored?.sha256 == nil || stored?.sha256 == b.sha256))
    }
}
