import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Machines of which the store should have a catalogue, and has none.
@Suite struct MissingCatalogTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    private func noteKey(_ machine: CatalogMachine) throws -> ObjectKey {
        try bench.keys.machine(machine.ledger.catalogStatus().machine)
    }

    /// Also where what it has told cannot be read any more.
    @Test(arguments: [(false, true), (true, true), (true, false)])
    func `a machine that has told of itself, and has no catalogue, does not take the place of the only other one`(
        isLedgerLost: Bool, isNoteWhole: Bool
    ) async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "of the laptop"])
        try await laptop.write()
        let others = try await bench.keysOfSegments()
        try await tower.see(["b.jpg": "of the tower"])
        try await tower.service().round()
        for key in try await bench.keysOfSegments() where !others.contains(key) { bench.memory.lose(key) }
        if !isNoteWhole {
            bench.memory.lose(try noteKey(tower))
            try await bench.memory.store(Array("no note".utf8), at: noteKey(tower))
        }
        let back = isLedgerLost ? try bench.machine("tower") : tower
        let summary = try await back.rebuild()
        #expect(summary.machines.map(\.role) == [.other], "\(summary)")
        // Whoever means it says so.
        #expect(try await back.rebuild(inPlaceOf: "laptop").machines.map(\.role) == [.takenOver])
    }

    @Test func `a machine whose catalogue is gone is told, and one that has written none yet is not`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        for isWritten in [false, true] {
            if isWritten { try await laptop.write() }
            try await laptop.noteWriter().run(passEndedAt: bench.time.now)
            let found = try await tower.notes()
            let last: [Int?] = [isWritten ? 1 : nil]
            #expect(found.machines.map { $0.note?.catalogWrite } == last)
            #expect(found.problems == [])
            #expect(try await tower.problemsOfShares() == [])
        }
        try await bench.loseCatalogs()
        let told = try await tower.problemsOfShares()
        #expect(told.count == 1 && told[0].hasPrefix("the catalogue of the machine laptop is missing"), "\(told)")
        #expect(told[0].contains("sync-agent sync") && told[0].contains("shares of it may be unknown"))
        #expect(try await tower.notes().problems.count == 1)
        let rebuilt = try await bench.machine("nas").rebuild().problems
        #expect(rebuilt.count == 1 && rebuilt[0].contains("what it shares is not known here"), "\(rebuilt)")
        // It needs no advice about itself: its next pass finds it out.
        #expect(try await laptop.notes().problems == [])
        #expect(try await laptop.check() != nil)
        try await laptop.write()
        #expect(try await tower.notes().problems == [])
        #expect(try await tower.problemsOfShares() == [])
    }

    @Test func `nobody misses the catalogue of a machine that keeps none any more, or that was replaced`()
        async throws
    {
        let (laptop, tower, nas) = (try bench.machine("laptop"), try bench.machine("tower"), try bench.machine("nas"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let left = try laptop.ledger.catalogStatus().machine
        _ = try await tower.rebuild(inPlaceOf: left)
        try await tower.write()
        for key in try await bench.keysOfSegments() where CatalogSegment(key, bench.keys)?.machine == left {
            try await bench.memory.delete(key)
        }
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await nas.problemsOfShares() == [])
        try await tower.noteWriter().run(passEndedAt: bench.time.now)
        #expect(try await nas.notes().machines.map { $0.note?.catalogWrite } == [1])
        #expect(try await nas.notes().problems == [])
        try await tower.service(keepsCatalog: false).round()
        #expect(try await nas.problemsOfShares() == [])
        #expect(try await nas.notes().problems == [])
        #expect(try await bench.keysOfSegments().isEmpty)
    }

    @Test func `of a machine without a catalogue, shares tell also that its note cannot be read`() async throws {
        try await bench.memory.store(Array("nothing".utf8), at: bench.keys.machine("strange"))
        let told = try await bench.machine("tower").problemsOfShares()
        #expect(told == ["users/ana/machines/strange.json: it is no note of a machine"])
    }

    @Test func `a machine that wrote after it was replaced is missed like any other`() async throws {
        let (laptop, tower, nas) = (try bench.machine("laptop"), try bench.machine("tower"), try bench.machine("nas"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let left = try laptop.ledger.catalogStatus().machine
        _ = try await tower.rebuild(inPlaceOf: left)
        try await tower.service().round()
        #expect(try await nas.notes().machines.map(\.name) == ["tower"])
        try await laptop.see(["a.jpg": "a", "b.jpg": "b"])
        try await laptop.service().round()
        #expect(try await Set(nas.notes().machines.map(\.name)) == ["laptop", "tower"])
        for key in try await bench.keysOfSegments() where CatalogSegment(key, bench.keys)?.machine == left {
            bench.memory.lose(key)
        }
        for other in [tower, nas] {
            for told in [try await other.problemsOfShares(), try await other.notes().problems] {
                #expect(told.count == 1 && told[0].hasPrefix("the catalogue of the machine laptop is"), "\(told)")
            }
        }
    }

    @Test func `what a note of version 1.0 replaces counts, whatever was written`() async throws {
        try await bench.sign(of: "0123456789abcdef", catalogWrite: 7)
        let tower = try bench.machine("tower")
        #expect(try await tower.problemsOfShares().count == 1)
        let text = """
            {"format": 1, "id": "fedcba9876543210", "name": "nas", "version": "1.0.0", "pending": 0, "failed": 0, "lost": 0,
             "replaces": ["0123456789abcdef"]}
            """
        try await bench.memory.store(Array(text.utf8), at: bench.keys.machine("fedcba9876543210"))
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().problems == [])
    }

    @Test func `of a successor whose note is of version 1.0, its catalogue tells up to which write`() async throws {
        let (laptop, tower, nas) = (try bench.machine("laptop"), try bench.machine("tower"), try bench.machine("nas"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let left = try laptop.ledger.catalogStatus().machine
        _ = try await tower.rebuild(inPlaceOf: left)
        try await tower.write()
        let id = try tower.ledger.catalogStatus().machine
        let text = """
            {"format": 1, "id": "\(id)", "name": "tower", "version": "1.0.0", "pending": 0, "failed": 0, "lost": 0,
             "replaces": ["\(left)"]}
            """
        try await bench.memory.store(Array(text.utf8), at: bench.keys.machine(id))
        #expect(try await nas.notes().machines.map(\.name) == ["tower"])
        try await laptop.see(["a.jpg": "a", "b.jpg": "b"])
        try await laptop.service().round()
        #expect(try await Set(nas.notes().machines.map(\.name)) == ["laptop", "tower"])
        for key in try await bench.keysOfSegments() where CatalogSegment(key, bench.keys)?.machine == left {
            bench.memory.lose(key)
        }
        for told in [try await nas.problemsOfShares(), try await nas.notes().problems] {
            #expect(told.count == 1 && told[0].hasPrefix("the catalogue of the machine laptop is missing"), "\(told)")
        }
    }

    @Test(arguments: [false, true])
    func `a machine that was replaced is not missed where its successor's catalogue cannot be read`(
        isFirstLineRead: Bool
    ) async throws {
        let (laptop, tower, nas) = (try bench.machine("laptop"), try bench.machine("tower"), try bench.machine("nas"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let left = try laptop.ledger.catalogStatus().machine
        _ = try await tower.rebuild(inPlaceOf: left)
        try await tower.write()
        // Without its first line, its note tells.
        if !isFirstLineRead { try await tower.noteWriter().run(passEndedAt: bench.time.now) }
        var last: ObjectKey?
        for key in try await bench.keysOfSegments() {
            if CatalogSegment(key, bench.keys)?.machine == left { bench.memory.lose(key) } else { last = key }
        }
        let segment = try #require(last).rawValue
        let numbers = isFirstLineRead ? 2...2 : 1...2
        bench.store.add(StoreFault(.get, key: segment, numbers: numbers, .failBefore(.accessDenied)))
        let told = try await nas.problemsOfShares()
        #expect(told.count == 1 && told[0].hasPrefix("the catalogue of the machine tower: "), "\(told)")
    }

    @Test(arguments: ["", "no catalogue"])
    func `a catalogue that is damaged as a whole is told by the name of its machine, with what helps`(
        content: String
    ) async throws {
        let (laptop, tower, nas) = (try bench.machine("laptop"), try bench.machine("tower"), try bench.machine("nas"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let id = try laptop.ledger.catalogStatus().machine
        try await bench.memory.store(Array(content.utf8), at: try #require(try await bench.keysOfSegments().first))
        for told in [try await tower.problemsOfShares(), try await tower.notes().problems] {
            #expect(told.count == 1 && told[0].hasPrefix("the catalogue of the machine laptop: it is "), "\(told)")
            #expect(told[0].contains("sync-agent sync on that machine") && told[0].contains("rebuild --machine \(id) "))
        }
        _ = try await nas.rebuild(inPlaceOf: id)
        try await nas.service().round()
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().problems == [])
    }

    @Test func `a missing machine of another one's name may be that one before it lost its state, and is told so`()
        async throws
    {
        let (before, after) = (try bench.machine("laptop"), try bench.machine("laptop"))
        try await before.see(["a.jpg": "a"])
        try await before.service().round()
        try await bench.loseCatalogs()
        try await after.see(["b.jpg": "b"])
        try await after.service().round()
        let note = try noteKey(before)
        for machine in [after, try bench.machine("tower")] {
            for told in [try await machine.problemsOfShares(), try await machine.notes().problems] {
                #expect(told.count == 1 && told[0].contains("which has lost its state and begun anew"), "\(told)")
                #expect(told.first?.contains("sync-agent rebuild there: \(note).") == true)
            }
        }
    }

    // MARK: What the store does not tell

    /// A note that cannot be read, or not for a second time, and a listing of a machine's segments.
    enum Refused: CaseIterable {
        case note, secondReading, listing
    }

    @Test(arguments: Refused.allCases, [StoreError.Code.accessDenied, .serverFailed])
    func `what the store does not tell of a machine is no reason to call its catalogue missing`(
        refused: Refused, code: StoreError.Code
    ) async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        try await bench.loseCatalogs()
        let (id, note) = (try laptop.ledger.catalogStatus().machine, try noteKey(laptop).rawValue)
        for isShares in [true, false] {
            let fault =
                switch refused {
                case .note: StoreFault(.get, key: note, number: 1, .failBefore(code))
                case .secondReading: StoreFault(.get, key: note, number: 2, .failBefore(code))
                case .listing: StoreFault(.list, key: "\(bench.keys.catalog)\(id)/", number: 1, .failBefore(code))
                }
            bench.store.add(fault)
            let told = try await isShares ? tower.problemsOfShares() : tower.notes().problems
            #expect(told.count == 1 && !told[0].contains("is missing"), "\(told)")
        }
        #expect(try await tower.problemsOfShares().count { $0.contains("is missing") } == 1)
    }

    // MARK: A catalogue that is kept no more

    @Test func `a catalogue that is kept no more stays until the others were told`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let service = laptop.service(keepsCatalog: false)
        bench.store.add(StoreFault(.put, key: try noteKey(laptop).rawValue, numbers: 1...2, .failBefore(.serverFailed)))
        let first = try await service.round()
        guard case .failed = first else {
            Issue.record("\(first)")
            return
        }
        #expect(try await bench.keysOfSegments().count == 1)
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().problems == [])
        #expect(try await service.round() == .unchanged)
        #expect(try await bench.keysOfSegments().isEmpty)
        #expect(try await tower.problemsOfShares() == [])
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [nil])
    }

    @Test func `the others are told once that a catalogue goes, and before it does`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        let before = bench.store.calls.count
        try await laptop.service(keepsCatalog: false).round()
        let key = try noteKey(laptop).rawValue
        let calls = bench.store.calls.dropFirst(before).filter {
            $0.operation == .deleteMany || ($0.key == key && $0.operation != .get)
        }
        // A process that is killed in between leaves nothing to miss.
        #expect(calls.map(\.operation) == [.put, .deleteMany])
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [nil])
    }

    @Test func `that a catalogue goes is told also where the answer to an earlier note was lost`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.noteWriter().run(passEndedAt: bench.time.now)
        try await laptop.write()
        bench.store.add(StoreFault(.put, key: try noteKey(laptop).rawValue, number: 1, .failAfter(.unreachable)))
        try await laptop.noteWriter().run(passEndedAt: bench.time.now)
        #expect(try await tower.notes().machines.map { $0.note?.catalogWrite } == [1])
        try await laptop.service(keepsCatalog: false).round()
        #expect(try await bench.keysOfSegments().isEmpty)
        #expect(try await tower.notes().problems == [])
        #expect(try await tower.problemsOfShares() == [])
    }

    @Test func `a catalogue that goes while others look is not missed`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        try await bench.loseCatalogs()
        #expect(try await tower.problemsOfShares().count == 1)
        let (memory, note) = (bench.memory, try noteKey(laptop))
        let machine = try laptop.ledger.catalogStatus().machine
        bench.store.add(
            StoreFault(.list, key: "\(bench.keys.catalog)\(machine)/", number: 1, .meanwhile { memory.lose(note) }))
        #expect(try await tower.problemsOfShares() == [])
    }

    // MARK: What it takes, and how it ends

    @Test func `the next pass of a machine that has no photo any more writes its catalogue anew, too`() async throws {
        let laptop = try bench.machine("laptop")
        try laptop.ledger.noteTakenOver(["0123456789abcdef": 1])
        try await laptop.write()
        #expect(try await bench.keysOfSegments().count == 1)
        try await bench.loseCatalogs()
        try await laptop.inspect()
        try await laptop.write()
        #expect(try await bench.keysOfSegments().count == 1)
    }

    @Test func `without its note, nobody misses a machine that is gone for good`() async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["a.jpg": "a"])
        try await laptop.service().round()
        try await bench.loseCatalogs()
        let note = try noteKey(laptop)
        for told in [try await tower.problemsOfShares(), try await tower.notes().problems] {
            #expect(told.count == 1 && told[0].hasSuffix("delete its note from the store: \(note)"), "\(told)")
        }
        bench.memory.lose(note)
        #expect(try await tower.problemsOfShares() == [])
        let found = try await tower.notes()
        #expect(found.machines.isEmpty && found.problems == [])
    }

    @Test func `shares ask for one listing more, and for the note of each machine`() async throws {
        let (laptop, nas) = (try bench.machine("laptop"), try bench.machine("nas"))
        for (machine, keepsCatalog) in [(laptop, true), (nas, false)] {
            try await machine.see(["a.jpg": "a"])
            try await machine.service(keepsCatalog: keepsCatalog).round()
        }
        let before = bench.store.calls.count
        #expect(try await bench.machine("tower").problemsOfShares() == [])
        let calls = bench.store.calls.dropFirst(before)
        let machines = calls.filter { $0.key.hasPrefix(bench.keys.machines) }
        #expect(machines.map(\.operation) == [.list, .get, .get])
        #expect(try Set(machines.dropFirst().map(\.key)) == Set([laptop, nas].map { try noteKey($0).rawValue }))
        #expect(calls.filter { $0.operation == .list && $0.key.hasPrefix(bench.keys.catalog) }.count == 1)
    }
}
