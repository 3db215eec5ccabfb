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
        bench = try CatalogBench()
        laptop = try bench.machine("laptop")
        tower = try bench.machine("tower")
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

    private func note() throws -> [UInt8]? {
        bench.memory.content(try bench.keys.machine(laptop.ledger.catalogStanding().machine))
    }

    private func notes() async throws -> (machines: [MachineNotes.Machine], problems: [String]) {
        try await MachineNotes(
            store: bench.store, ledger: LedgerQueue(tower.ledger), keys: bench.keys, pool: bench.pool,
            time: bench.time.source
        ).run()
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

    @Test func `a command between passes is refused where the note alone tells of later writes`() async throws {
        let back = try await putBack(lost: 1)
        try await back.see(many.merging(["new.jpg": "new"]) { $1 })
        #expect(try await isRefused(back.write()))
        #expect(try await bench.segments() == ["00000001-00000001.jsonl.gz"])
    }

    @Test(arguments: [
        (0, nil), (1, "the catalogue of this machine lacks its writes 2 to 3: what only they told of"),
        (2, "the catalogue of this machine is missing from the store"),
    ] as [(Int, String?)])
    func `a rebuild tells what is lacking, and the next write is above what the note tells of`(
        lost: Int, problem: String?
    ) async throws {
        let back = try await putBack(lost: lost)
        let problems = try await back.rebuild().problems
        #expect(problems.count == (problem == nil ? 0 : 1), "\(problems)")
        if let problem { #expect(problems.first?.hasPrefix(problem) == true, "\(problems)") }
        #expect(try await back.rebuild().problems == [])
        // Until it is written, the others are told of what is lacking as before.
        try await back.noteWriter().run(passEndedAt: bench.time.now)
        #expect(try await notes().machines.map { $0.note?.catalogWrite } == [3])
        #expect(try await notes().problems.count == problems.count)
        guard case .written(let segment) = try await back.service().round() else {
            Issue.record("it was not written")
            return
        }
        #expect(segment.from == 1 && segment.to == 4)
        #expect(try await bench.segments() == ["00000001-00000004.jsonl.gz"])
        let found = try await notes()
        #expect(found.machines.map { $0.note?.catalogWrite } == [4] && found.problems == [])
        try await back.inspect()
        #expect(try await back.service().round() == .unchanged)
    }
}
