import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Projects folders of two machines that store in the same place.
@Suite struct ProjectsOfOthersTests {
    /// Two machines with one image of the project `a`, which the catalogue of the first one names.
    private func besideOther() async throws -> ProjectBench {
        let other = try ProjectBench(listing: "a")
        try other.write("image a.", to: "a.jpg")
        try await other.pass()
        try await other.writeCatalog()
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try bench.write("image a.", to: "a.jpg")
        try bench.write("{}", to: "a-metadata.json")
        try await bench.pass()
        return bench
    }

    private func asked(_ bench: ProjectBench) async throws -> [ProjectRemover.Target] {
        try await bench.makeRemover().weighed(try await bench.makeRemover().find("a", in: [bench.folder]))
    }

    private func unasked(_ bench: ProjectBench) async throws -> [ProjectRemover.Outcome] {
        let remover = bench.makeRemover()
        return try await remover.remove(try await remover.find("a", in: [bench.folder]))
    }

    private func projectObjects(_ bench: ProjectBench) throws -> [String] {
        try ["a-metadata.json", "a.jpg"].filter { try bench.content($0) != nil }
    }

    @Test func `what the catalogue of another machine names stays in the store, and is told`() async throws {
        let bench = try await besideOther()
        #expect(try projectObjects(bench) == ["a-metadata.json", "a.jpg"])
        let targets = try await asked(bench)
        let image = try bench.key("a.jpg")
        #expect(targets.map(\.needed) == [[image]] && targets.map(\.keys.count) == [1])
        let outcomes = try await bench.makeRemover().remove(targets)
        #expect(outcomes.map(\.failures) == [[]])
        #expect(outcomes.map(\.target.needed) == [[image]])
        #expect(try projectObjects(bench) == ["a.jpg"])
        #expect(try bench.tree.files(below: "projects") == ["projects.json"])
        // It is no longer this machine's, or its own catalogue would name it.
        #expect(try bench.status("a.jpg") == nil)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where a catalogue of another machine cannot be read, nothing of a project is deleted`() async throws {
        let bench = try await besideOther()
        let segments = bench.memory.keys.filter { $0.rawValue.hasPrefix("users/ana/catalog/") }
        #expect(!segments.isEmpty)
        for segment in segments { bench.memory.damage(segment) }
        let targets = try await asked(bench)
        let outcomes = try await bench.makeRemover().remove(targets)
        let failure = try #require(outcomes.first?.failures.first)
        #expect(failure.hasPrefix("whether another machine needs what is stored of it is not known"))
        #expect(try bench.states()["a"] == "uploaded")
        // Also where that shows only when somebody has said yes.
        #expect(try await unasked(bench).map(\.failures.count) == [1])
        #expect(try projectObjects(bench) == ["a-metadata.json", "a.jpg"])
        #expect(try bench.tree.files(below: "projects").contains("a.jpg"))
    }

    @Test func `a catalogue is nothing that is stored of projects`() async throws {
        let bench = try await ProjectBench.storing(["a.jpg": "image a."])
        let stored = bench.stored
        #expect(stored == ["a.jpg", "projects.json"])
        let keys = bench.memory.keys.count
        try await bench.writeCatalog()
        #expect(bench.memory.keys.count > keys)
        #expect(bench.stored == stored)
    }

    private static let names = ["a.jpg", "a-metadata.json", "sub/x.jpg", "extra.json"]

    private func text(_ number: Int, _ name: String) -> String {
        name.hasSuffix(".json") ? #"{"n": \#(number)}"# : "image \(number)."
    }

    /// Writes a file, and stores it.
    private func store(_ number: Int, _ name: String, in bench: ProjectBench) async throws {
        try await bench.storeInTurn([text(number, name)], as: name)
        #expect(try bench.content(name) == text(number, name))
    }

    private func remove(_ name: String, of bench: ProjectBench) async throws {
        try FileManager.default.removeItem(atPath: bench.tree.path("projects/\(name)").string)
        try await bench.pass()
        #expect(try bench.status(name)?.state == .missing)
    }

    /// It has no file of this name, which is stored, and can be had back.
    private func expectKept(_ number: Int, _ name: String, by bench: ProjectBench) throws {
        let status = try #require(try bench.status(name))
        let key = try #require(status.key)
        #expect(status.state == .missing && key.isProjectVersion)
        #expect(bench.text(key) == text(number, name))
        #expect(try bench.ledger.overview().lost == 0)
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: names)
    func `what another machine has stored under the name of a file is kept, and is still its own`(name: String)
        async throws
    {
        let other = try ProjectBench(listing: "a")
        for number in 1...2 { try await store(number, name, in: other) }
        #expect(try Set(other.versions(of: name).values) == [text(1, name)])
        try await remove(name, of: other)
        // That one has no catalogue.
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await store(3, name, in: bench)
        #expect(try Set(bench.versions(of: name).values) == [text(1, name), text(2, name)])
        try await other.refresh()
        try expectKept(2, name, by: other)
        // What comes under that name there replaces nothing of the other one either.
        try await store(4, name, in: other)
        #expect(try Set(other.versions(of: name).values) == [text(1, name), text(2, name), text(3, name)])
        try await bench.refresh()
        #expect(try bench.status(name)?.state == .uploaded)
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: names)
    func `what two machines have stored alike stays that of the one that has not changed it`(name: String) async throws
    {
        let other = try ProjectBench(listing: "a")
        try await store(1, name, in: other)
        try await other.writeCatalog()
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await store(1, name, in: bench)
        try await remove(name, of: bench)
        try await store(2, name, in: other)
        #expect(try Set(other.versions(of: name).values) == [text(1, name)])
        try await bench.refresh()
        try expectKept(1, name, by: bench)
    }

    @Test(arguments: names)
    func `what was called lost is stored when a version of it is found`(name: String) async throws {
        let other = try ProjectBench(listing: "a")
        try await store(1, name, in: other)
        try await remove(name, of: other)
        let known = try #require(try other.ledger.object(try other.key(name)))
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await store(2, name, in: bench)
        other.clock.jump(.seconds(60))
        try other.ledger.markBroken([BrokenObject(known, .damaged("its bytes are others"))], at: other.clock.now)
        #expect(try other.status(name)?.state == .lost)
        try await other.refresh()
        try expectKept(1, name, by: other)
    }

    @Test(arguments: ["sub/x.jpg", "extra.json"])
    func `a put of which the ledger does not know, and whose file is another by now, holds nothing up`(name: String)
        async throws
    {
        let other = try ProjectBench(listing: "a")
        try await store(1, "own.json", in: other)
        try await other.writeCatalog()
        let killed = try ProjectBench(listing: "a", in: other.memory)
        try await store(1, name, in: killed)
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await store(2, name, in: bench)
        #expect(try bench.status(name)?.state == .uploaded)
        #expect(try Set(bench.versions(of: name).values) == [text(1, name)])
    }

    @Test func `versions that have gone with a project that another machine has deleted are no loss`() async throws {
        let bench = try ProjectBench(listing: "a")
        for number in 1...3 { try await store(number, "a.jpg", in: bench) }
        try await store(1, "a-metadata.json", in: bench)
        try await store(2, "a-metadata.json", in: bench)
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try await store(3, "a.jpg", in: other)
        try await other.writeCatalog()
        #expect(try await unasked(other).map(\.failures) == [[]])
        #expect(bench.stored.filter { $0.hasPrefix("a") } == [])
        try await bench.refresh()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try bench.ledger.projectVersions(of: "a").isEmpty)
        // Its own files are not: they are stored again.
        #expect(try bench.status("a.jpg")?.state == .pending)
        #expect(try bench.ledger.check() == [])
    }

    /// A machine whose catalogue is in the store. This one may have taken its place, and that one have written since. What
    /// the catalogue of this one names nobody deletes.
    enum Neighbour: CaseIterable, Sendable {
        case absent, replaced, back, another
    }

    @Test(arguments: Neighbour.allCases, [true, false])
    func `versions that have gone with their image are lost where no other machine can have deleted them`(
        neighbour: Neighbour, isNamed: Bool
    ) async throws {
        let bench = try ProjectBench(listing: "a")
        for number in 1...3 { try await store(number, "a.jpg", in: bench) }
        if isNamed { try await bench.writeCatalog() }
        if neighbour != .absent {
            let other = try ProjectBench(listing: "a", in: bench.memory)
            try await store(3, "a.jpg", in: other)
            try await other.writeCatalog()
            let status = try other.ledger.catalogStatus()
            let last = try #require(status.segments.map(\.to).max())
            switch neighbour {
            case .replaced: try bench.ledger.noteTakenOver([status.machine: last])
            case .back: try bench.ledger.noteTakenOver([status.machine: last - 1])
            case .absent, .another: break
            }
        }
        let isLost = isNamed || neighbour == .absent || neighbour == .replaced
        let versions = try bench.ledger.projectVersions(of: "a").map(\.key)
        #expect(versions.count == 2)
        for key in versions + [try bench.key("a.jpg")] { bench.memory.lose(key) }
        let machines = try KeyLayout(user: "ana").machines
        func asked() -> Int { bench.store.calls.count { $0.operation == .list && $0.key == machines } }
        let before = asked()
        try await bench.refresh()
        // However many are gone.
        #expect(asked() == before + (isNamed ? 0 : 1))
        // Also by the next look.
        try await bench.refresh()
        #expect(try Set(bench.ledger.lostBesidePhotos(limit: 9).map(\.key)) == (isLost ? Set(versions) : []))
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a file that waits to be stored is told to no other machine`() async throws {
        let bench = try ProjectBench()
        try bench.list([ProjectBench.record("a", "Processing", age: 60), ProjectBench.record("b")])
        try bench.write("image half", to: "a.jpg")
        try bench.write("image b.", to: "b.jpg")
        try await bench.pass()
        try await bench.writeCatalog()
        let waiting = try #require(try bench.status("a.jpg"))
        #expect(waiting.key == nil)
        #expect(try bench.ledger.hasToldOfProject("b"))
        #expect(try !bench.ledger.hasToldOfProject("a"))
    }

    @Test func `earlier images of a machine that still has the project stay when another deletes it`() async throws {
        let bench = try ProjectBench(listing: "a")
        for number in 1...3 { try await store(number, "a.jpg", in: bench) }
        try await bench.writeCatalog()
        let other = try ProjectBench(listing: "a", in: bench.memory)
        for number in 3...5 { try await store(number, "a.jpg", in: other) }
        #expect(try Set(other.versions(of: "a.jpg").values) == Set((1...4).map { text($0, "a.jpg") }))
        let outcomes = try await unasked(other)
        #expect(outcomes.map(\.failures) == [[]])
        #expect(outcomes.first?.target.needed.filter(\.isProjectVersion).count == 3)
        // What was made of the other one's own is deleted with it.
        #expect(try Set(bench.versions(of: "a.jpg").values) == Set((1...3).map { text($0, "a.jpg") }))
        try await bench.refresh()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try bench.ledger.overview().lost == 0)
        #expect(try bench.status("a.jpg")?.state == .uploaded)
        #expect(try bench.ledger.check() == [] && other.ledger.check() == [])
    }

    @Test func `a rebuild counts what it asks for an earlier image that is gone`() async throws {
        let bench = try ProjectBench(listing: "a")
        for number in 1...2 { try await store(number, "a.jpg", in: bench) }
        try await bench.writeCatalog(as: "laptop")
        let version = try #require(try bench.ledger.projectVersions(of: "a").first)
        bench.memory.lose(version.key)
        func asked() -> Int { bench.store.count(.head) + bench.store.count(.get) + bench.store.count(.list) }
        let before = asked()
        let summary = try await bench.rebuild(as: "laptop")
        #expect(summary.requests == asked() - before)
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == [version.key])
    }

    @Test func `an earlier image that is gone is a loss where the one that is here is stored as another version`()
        async throws
    {
        let bench = try ProjectBench(listing: "a")
        for number in 1...2 { try await store(number, "a.jpg", in: bench) }
        let version = try #require(try bench.ledger.projectVersions(of: "a").first)
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try await store(3, "a.jpg", in: other)
        try await bench.refresh()
        #expect(try bench.status("a.jpg")?.key?.isProjectVersion == true)
        bench.memory.lose(version.key)
        try await bench.refresh()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == [version.key])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `another machine's image that was set aside, and has gone with its project there, is no loss here`()
        async throws
    {
        let other = try ProjectBench(listing: "a")
        try await store(1, "a.jpg", in: other)
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await store(2, "a.jpg", in: bench)
        try await bench.writeCatalog()
        #expect(try Set(bench.versions(of: "a.jpg").values) == [text(1, "a.jpg")])
        #expect(try await unasked(other).map(\.failures) == [[]])
        #expect(bench.stored.filter { $0.hasPrefix("a") } == ["a.jpg"])
        try await bench.refresh()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try bench.status("a.jpg")?.state == .uploaded)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `earlier states of a file that is no project's are forgotten with it`() async throws {
        let bench = try ProjectBench(listing: "a")
        for number in 1...3 { try await store(number, "sub/x.jpg", in: bench) }
        let photo = try #require(try bench.status("sub/x.jpg")?.id)
        let found = try bench.ledger.objectsToForget([photo])
        #expect(found.count == 3 && found.allSatisfy(\.references.isEmpty))
        let image = try ProjectBench(listing: "a")
        for number in 1...3 { try await store(number, "a.jpg", in: image) }
        let kept = try #require(try image.status("a.jpg")?.id)
        #expect(try !image.ledger.objectsToForget([kept]).allSatisfy(\.references.isEmpty))
    }
}
