import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Ledgers that were put back, whose machine's note tells of writes that they do not know, wherever those are.
@Suite struct OlderLedgerTests {
    private let bench: CatalogBench
    private let laptop: CatalogMachine
    private let tower: CatalogMachine
    private let many = Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0).jpg", "photo \($0)") })

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
    }

    /// The laptop's ledger of after its first write, where the store has a second and a third one in one segment.
    /// - Parameter lost: how many of its two segments are gone, the last one first.
    private func putBack(lost: Int) async throws -> CatalogMachine {
        try await laptop.see(many)
        try await laptop.service().round()
        let old = try laptop.ledger.copyInMemory()
        try await laptop.see(many.merging(["second.jpg": "second"]) { $1 })
        try await laptop.service().round()
        try await laptop.see(many.merging(["second.jpg": "second", "third.jpg": "third"]) { $1 })
        try await laptop.service().round()
        try #require(
            try await bench.segments() == ["00000001-00000001.jsonl.gz", "00000002-00000003.jsonl.gz"])
        for key in try await bench.keysOfSegments().sorted().suffix(lost) { bench.memory.lose(key) }
        return try CatalogMachine("laptop", in: bench, ledger: old, folder: "/pictures/Gallery")
    }

    private func noteKey() throws -> ObjectKey { try bench.keys.machine(laptop.ledger.catalogStatus().machine) }

    private func note() throws -> [UInt8]? { bench.memory.content(try noteKey()) }

    private func refuseNote(_ code: StoreError.Code, calls: ClosedRange<Int> = 1...Int.max) throws {
        bench.store.add(StoreFault(.get, key: try noteKey().rawValue, numbers: calls, .failBefore(code)))
    }

    private func isRefused(_ outcome: CatalogWriter.Outcome) -> Bool {
        if case .refused(let reason) = outcome { reason.contains("run sync-agent rebuild") } else { false }
    }

    @Test(arguments: [0, 1, 2], [true, false])
    func `neither the catalogue nor the note is written before a rebuild`(lost: Int, keepsCatalog: Bool) async throws {
        let back = try await putBack(lost: lost)
        let (segments, told) = (try await bench.segments(), try #require(try note()))
        for text in ["c", "d"] {
            try await back.see(many.merging(["new.jpg": text]) { $1 })
            try await back.inspect()
            #expect(try await isRefused(back.service(keepsCatalog: keepsCatalog).round()))
            #expect(try await bench.segments() == segments)
            #expect(try note() == told)
        }
    }

    @Test(arguments: [0, 1, 2])
    func `a pass in which nothing is new tells it, too`(lost: Int) async throws {
        let back = try await putBack(lost: lost)
        let told = try #require(try note())
        try await back.inspect()
        #expect(try await isRefused(back.service().round()))
        #expect(try note() == told)
    }

    @Test func `a pass in which the catalogue needs no write tells it of the note`() async throws {
        let back = try await putBack(lost: 1)
        let told = try #require(try note())
        // Until then it counts as told.
        await bench.time.advance(by: .seconds(3_600))
        #expect(try await isRefused(back.service().round()))
        #expect(try note() == told)
    }

    @Test(arguments: [false, true])
    func `a note that is gone is not stored again by an older ledger`(isDamaged: Bool) async throws {
        let back = try await putBack(lost: 0)
        if isDamaged { bench.memory.damage(try noteKey()) } else { bench.memory.lose(try noteKey()) }
        let left = try note()
        try await back.inspect()
        #expect(try await isRefused(back.service().round()))
        try await back.noteWriter().run(passEndedAt: bench.time.now)
        #expect(try note() == left)
    }

    @Test func `after the rebuild of an older ledger, its whole note is not called lost`() async throws {
        let back = try await putBack(lost: 0)
        #expect(try await back.rebuild().problems == [])
        // What the store has counts as not told, and is nothing that was told and is gone.
        #expect(try back.ledger.writtenMachineNote()?.digest == "")
    }

    @Test func `a command between passes is refused where the note alone tells of later writes`() async throws {
        let back = try await putBack(lost: 1)
        try await back.see(many.merging(["new.jpg": "new"]) { $1 })
        #expect(try await isRefused(back.write()))
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz"])
    }

    @Test(
        arguments: [
            (0, nil), (1, "the catalogue of this machine lacks its writes 2 to 3: what only they told of"),
            (2, "the catalogue of this machine is missing from the store"),
        ] as [(Int, String?)])
    func `a rebuild tells what is lacking, and the next write is above what the note tells of`(
        lost: Int, problem: String?
    ) async throws {
        let back = try await putBack(lost: lost)
        let problems = try await back.rebuild().problems
        #expect(problems.count == (problem == nil ? 0 : 1), "\(problems)")
        if let problem {
            #expect(problems.first?.hasPrefix(problem) == true, "\(problems)")
            // The ledger knows earlier shares; who keeps no catalogue writes none.
            for words in ["its writes 2 to 3", "sync-agent shares --revoke ID", "unless store.catalog is off"] {
                #expect(problems.first?.contains(words) == true, "\(problems)")
            }
        }
        #expect(try await back.rebuild().problems == [])
        // Until it is written, the others are told of what is lacking as before.
        try await back.noteWriter().run(passEndedAt: bench.time.now)
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [3])
        #expect(try await tower.notes().problems.count == problems.count)
        guard case .written(let segment) = try await back.service().round() else {
            Issue.record("it was not written")
            return
        }
        #expect(segment.from == 1 && segment.to == 4)
        #expect(try await bench.segments() == ["00000001-00000004.jsonl.gz"])
        let found = try await tower.notes()
        #expect(found.machines.map { $0.note?.catalogWrite } == [4] && found.problems == [])
        try await back.inspect()
        #expect(try await back.service().round() == .unchanged)
    }

    @Test func `after a rebuild the note is read once before it is stored`() async throws {
        let back = try await putBack(lost: 2)
        try await back.rebuild()
        let key = try noteKey().rawValue
        let before = bench.store.calls.count
        try await back.noteWriter().run(passEndedAt: bench.time.now)
        let calls = bench.store.calls.dropFirst(before).filter { $0.key == key }
        #expect(calls.count { $0.operation == .get } == 1 && calls.contains { $0.operation == .put })
    }

    @Test(arguments: [false, true])
    func `what was told stays told where a ledger of before the first write was rebuilt, and cannot write`(
        isLost: Bool
    ) async throws {
        try await laptop.see(many)
        let old = try laptop.ledger.copyInMemory()
        try await laptop.service().round()
        if isLost { try await bench.loseCatalogs() }
        let back = try CatalogMachine("laptop", in: bench, ledger: old, folder: "/pictures/Gallery")
        try await back.see(many)
        try await back.rebuild()
        let status = try back.ledger.catalogStatus()
        #expect(status.writtenAt == nil && status.next == 2)
        let key = try CatalogSegment(machine: status.machine, from: 1, to: 2).key(bench.keys)
        bench.store.add(StoreFault(.put, key: key.rawValue, number: 1, .failBefore(.serverFailed)))
        guard case .failed = try await back.service().round() else {
            Issue.record("it was written")
            return
        }
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [1])
        guard case .written(let segment) = try await back.service().round() else {
            Issue.record("it was not written")
            return
        }
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [segment.to])
    }

    // MARK: A note that cannot be read

    @Test func `where the store does not give the note now nothing is written`() async throws {
        let back = try await putBack(lost: 1)
        let told = try #require(try note())
        try await back.see(many.merging(["new.jpg": "new"]) { $1 })
        await bench.time.advance(by: .seconds(7_200))
        // By the catalogue, and by the note itself.
        try refuseNote(.serverFailed, calls: 1...2)
        guard case .failed = try await back.service().round() else {
            Issue.record("it was written")
            return
        }
        #expect(try await isRefused(back.write()))
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz"])
        #expect(try note() == told)
    }

    @Test(arguments: [StoreError.Code.accessDenied, .archived])
    func `where nobody can read the note no number is given twice`(code: StoreError.Code) async throws {
        try await laptop.see(many)
        try await laptop.service().round()
        let old = try laptop.ledger.copyInMemory()
        try await laptop.see(many.merging(["second.jpg": "second"]) { $1 })
        try await laptop.service().round()
        let last = try #require(try await bench.keysOfSegments().sorted().last)
        #expect(last.rawValue.hasSuffix("/00000002-00000002.jsonl.gz"))
        bench.memory.lose(last)
        try refuseNote(code)
        let back = try CatalogMachine("laptop", in: bench, ledger: old, folder: "/pictures/Gallery")
        try await back.see(many.merging(["new.jpg": "new"]) { $1 })
        guard case .written(let segment) = try await back.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(segment.from == 2 && segment.to == 3)
    }

    @Test func `a note that may not be read stays until the catalogue is as the ledger knows it`() async throws {
        let back = try await putBack(lost: 2)
        let told = try #require(try note())
        try refuseNote(.accessDenied)
        await bench.time.advance(by: .seconds(7_200))
        try await back.see(many.merging(["new.jpg": "new"]) { $1 })
        for _ in 0..<2 {
            try await back.noteWriter().run(passEndedAt: bench.time.now)
            #expect(try note() == told)
            #expect(try back.ledger.catalogStatus().problem?.contains("let this machine read that object") == true)
        }
        guard case .written(let segment) = try await back.service().round() else {
            Issue.record("it was not written")
            return
        }
        #expect(try back.ledger.catalogStatus().problem == nil)
        let text = try #require(try note())
        let stored = try MachineNote(parsing: text, of: back.ledger.catalogStatus().machine)
        #expect(stored.catalogWrite == segment.to)
    }

    @Test func `a write that this ledger has begun is its own where the note tells of it`() async throws {
        let (machine, begun) = try await bench.interrupted(comes: false)
        try await bench.sign(of: machine.ledger.catalogStatus().machine, catalogWrite: begun.segment.to)
        guard case .written(let segment) = try await machine.write() else {
            Issue.record("it was not written")
            return
        }
        #expect(segment.to == begun.segment.to + 1)
    }
}
