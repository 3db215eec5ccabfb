import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What machines tell each other of themselves.
@Suite struct MachineNoteTests {
    private let bench: CatalogBench

    init() throws { bench = try CatalogBench() }

    private func writer(_ machine: CatalogMachine) -> MachineNoteWriter {
        machine.noteWriter()
    }

    /// As another machine sees them.
    private func notes() async throws -> (machines: [MachineNotes.Machine], problems: [String]) {
        try await bench.machine("onlooker").notes()
    }

    /// A note with these fields, beside those that each one has.
    static func strange(_ fields: String) -> String {
        #"{"format":1,"id":"strange","name":"x","version":"1","pending":0,"failed":0,"lost":0,\#(fields)}"#
    }

    private func puts() -> Int {
        bench.store.calls.count { $0.key.hasPrefix(bench.keys.machines) && $0.operation == .put }
    }

    @Test func `a machine with nothing stored tells nothing, and one with photos tells how it stands`() async throws {
        let machine = try bench.machine("laptop")
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(puts() == 0)
        try await machine.see(["a.jpg": "a"])
        try await writer(machine).run(passEndedAt: bench.time.now)
        let found = try await notes()
        #expect(found.problems == [] && found.machines.map(\.name) == ["laptop"])
        let note = try #require(found.machines.first?.note)
        #expect(note.lastSyncAt == bench.time.now && note.pending == 0 && note.failed == 0 && note.version == "1.0")
    }

    @Test func `a pass that was not whole is none that the others rely on`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        let whole = bench.time.now
        try machine.ledger.noteSync(at: whole)
        try await machine.service().round()
        #expect(try await notes().machines.map(\.note?.lastSyncAt) == [whole])
        await bench.time.advance(by: .seconds(7_200))
        try await machine.service().round(isWhole: false)
        #expect(try await notes().machines.map(\.note?.lastSyncAt) == [whole])
        try await machine.service().round()
        #expect(try await notes().machines.map(\.note?.lastSyncAt) == [bench.time.now])
    }

    @Test func `what was told before is told on when nothing is stored any more`() async throws {
        let machine = try bench.machine("laptop")
        try machine.ledger.noteMachineNote("of before", at: bench.time.now)
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(try await notes().machines.map(\.name) == ["laptop"])
    }

    @Test func `what has not changed is told once an hour, what has changed at once`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        for _ in 0..<7 {
            try await writer(machine).run(passEndedAt: bench.time.now)
            await bench.time.advance(by: .seconds(600))
        }
        #expect(puts() == 2)
        // Without a pass there is no news.
        await bench.time.advance(by: .seconds(7_200))
        try await writer(machine).run()
        #expect(puts() == 2)
        _ = try machine.ledger.observe(
            machine.folder.id, file: "new.jpg", stamp: CatalogMachine.stamp("new"), stillThere: { _ in true },
            at: bench.time.now)
        try await writer(machine).run()
        #expect(puts() == 3)
        #expect(try await notes().machines.first?.note?.pending == 1)
    }

    @Test(arguments: [nil, "{", "of another day"] as [String?])
    func `a note that is gone, or not the one that was stored last, is stored again by the next pass`(
        instead: String?
    ) async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        let key = try bench.keys.machine(machine.ledger.catalogStatus().machine)
        try await writer(machine).run(passEndedAt: bench.time.now)
        let before = try #require(bench.memory.content(key))
        try await machine.write()
        try await writer(machine).run(passEndedAt: bench.time.now)
        try await machine.inspect()
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(puts() == 2)
        switch instead {
        case nil: bench.memory.lose(key)
        case "{": try await bench.memory.store(Array("{".utf8), at: key)
        default: try await bench.memory.store(before, at: key)
        }
        try await machine.inspect()
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(puts() == 3)
        #expect(try await notes().machines.map { $0.note?.catalogWrite } == [1])
    }

    @Test(arguments: [StoreError.Code.accessDenied, .archived])
    func `a note that cannot be read is stored again where the catalogue is as the ledger knows it`(
        code: StoreError.Code
    ) async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        try await machine.service().round()
        let key = try bench.keys.machine(machine.ledger.catalogStatus().machine)
        bench.store.add(StoreFault(.get, key: key.rawValue, .failBefore(code)))
        try await machine.see(["a.jpg": "a", "b.jpg": "b"])
        try await machine.service().round()
        #expect(puts() == 2)
        // Of one that is archived everybody knows that nobody can read it.
        try await machine.inspect()
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(puts() == (code == .archived ? 3 : 2))
    }

    @Test func `this machine is none of the others, and what is wrong with its note or catalogue is not told`()
        async throws
    {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        try await machine.service().round()
        let note = try bench.keys.machine(machine.ledger.catalogStatus().machine)
        for key in try await bench.keysOfSegments() + [note] {
            try await bench.memory.store(Array("nothing".utf8), at: key)
        }
        let found = try await machine.notes()
        #expect(found.machines.isEmpty && found.problems == [])
        #expect(try await notes().problems.count == 2)
    }

    @Test func `a store that does not take it is asked again by the next pass`() async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        bench.store.add(StoreFault(.put, number: 1, .failBefore(.serverFailed)))
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(try machine.ledger.writtenMachineNote() == nil)
        try await writer(machine).run(passEndedAt: bench.time.now)
        #expect(try await notes().machines.count == 1)
    }

    @Test func `a machine of which only the catalogue is there is named, and one that was replaced is not`()
        async throws
    {
        let old = try bench.machine("old")
        try await old.see(["a.jpg": "a"])
        _ = try await old.write()
        #expect(try await notes().machines.map(\.name) == ["old"])
        #expect(try await notes().machines.map(\.note) == [nil])
        let new = try bench.machine("new")
        _ = try await new.rebuild()
        _ = try await new.write()
        #expect(try await notes().machines.map(\.name) == ["new"])
        try await writer(new).run(passEndedAt: bench.time.now)
        #expect(try await notes().machines.map(\.name) == ["new"])
    }

    @Test(arguments: [
        ("nothing", "no note"), (#"{"format":2}"#, "no note"),
        (
            #"{"format":1,"id":"other","name":"x","version":"1","pending":0,"failed":0,"lost":0,"replaces":[]}"#,
            "another machine"
        ),
        (
            #"{"format":9,"id":"strange","name":"x","version":"1","pending":0,"failed":0,"lost":0,"replaces":[]}"#,
            "newer version"
        ),
        (MachineNoteTests.strange(#""replaces":[],"catalogWrite":0"#), "no catalogue has"),
        (MachineNoteTests.strange(#""replaces":[],"catalogWrite":9223372036854775807"#), "no catalogue has"),
        (MachineNoteTests.strange(#""replaces":["a"],"replacedUpTo":{"a":9223372036854775807}"#), "no catalogue has"),
    ])
    func `a note that is none is told, and the others are read`(text: String, reason: String) async throws {
        let machine = try bench.machine("laptop")
        try await machine.see(["a.jpg": "a"])
        try await writer(machine).run(passEndedAt: bench.time.now)
        try await bench.memory.store(Array(text.utf8), at: bench.keys.machine("strange"))
        let found = try await notes()
        #expect(found.problems.count == 1 && found.problems[0].contains(reason), "\(found.problems)")
        #expect(found.machines.contains { $0.name == "laptop" })
    }

    @Test(arguments: [StoreError.Code.accessDenied, .notFound])
    func `a machine whose catalogue cannot be read is told, and the others are named`(
        code: StoreError.Code
    ) async throws {
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        for machine in [laptop, tower] {
            try await machine.see(["a.jpg": "a"])
            try await machine.write()
        }
        try await writer(laptop).run(passEndedAt: bench.time.now)
        let id = try tower.ledger.catalogStatus().machine
        let segment = try #require(
            try await bench.keysOfSegments().first { CatalogSegment($0, bench.keys)?.machine == id })
        bench.store.add(StoreFault(.get, key: segment.rawValue, .failBefore(code)))
        let found = try await notes()
        #expect(found.problems.count == 1, "\(found.problems)")
        #expect(found.problems.first?.hasPrefix("the catalogue of machine \(id): ") == true)
        #expect(Set(found.machines.map(\.name)) == ["laptop", nil])
    }
}
