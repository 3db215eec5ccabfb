import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What the filter of a folder leaves out.
@Suite struct FilterTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
    }

    private func configure(_ rules: [String]) throws {
        _ = try bench.ledger.register([
            WatchedFolder(kind: .gallery, path: Bench.gallery, filter: try PathFilter(rules)),
            WatchedFolder(kind: .vacations, path: Bench.vacations),
            WatchedFolder(kind: .projects, path: Bench.projects),
        ])
    }

    private func path(_ name: String) -> FilePath { Bench.gallery.pushing(FilePath(name)) }

    @Test func `a file that is left out is not read or sent, and is counted by itself`() async throws {
        try configure(["- raw/"])
        bench.disk.write("sunset", to: path("a.jpg"))
        bench.disk.write("raw", to: path("raw/a.jpg"))
        bench.disk.write("sunset", to: Bench.vacations.pushing("rome/raw/a.jpg"))
        try await bench.pass()
        let photo = try #require(try bench.status(path("raw/a.jpg")))
        #expect(photo.state == .skipped)
        #expect(photo.why == "left out by the filter of its folder (- raw/)")
        #expect(try bench.status(path("a.jpg"))?.state == .uploaded)
        #expect(try bench.status(Bench.vacations.pushing("rome/raw/a.jpg"))?.state == .uploaded)
        #expect(try bench.ledger.leftOut(naming: 9) == LeftOutSummary(filtered: 1))
    }

    @Test func `what is stored and left out by now stays stored, and says so`() async throws {
        bench.disk.write("sunset", to: path("raw/a.jpg"))
        try await bench.pass()
        try configure(["- raw/"])
        try await bench.pass()
        let photo = try #require(try bench.status(path("raw/a.jpg")))
        #expect(photo.state == .uploaded)
        #expect(photo.why == "the filter of its folder leaves it out by now (- raw/); what is stored stays stored")
        let key = try #require(photo.key)
        #expect(bench.memory.content(key) != nil)
        #expect(try bench.ledger.leftOut(naming: 9).filtered == 0)
    }

    @Test func `what was left out is stored once its folder has another name`() async throws {
        try configure(["- Drafts/"])
        bench.disk.write("sunset", to: path("Drafts/a.jpg"))
        try await bench.pass()
        #expect(try bench.status(path("Drafts/a.jpg"))?.state == .skipped)
        bench.disk.move(path("Drafts/a.jpg"), to: path("Summer/a.jpg"))
        try await bench.pass()
        #expect(try bench.status(path("Summer/a.jpg"))?.state == .uploaded)
        #expect(try bench.ledger.leftOut(naming: 9).filtered == 0)
        // Back again it is stored, and stays so.
        bench.disk.move(path("Summer/a.jpg"), to: path("Drafts/a.jpg"))
        try await bench.pass()
        #expect(try bench.status(path("Drafts/a.jpg"))?.state == .uploaded)
    }

    @Test func `what is stored, left out by now and lost by the store is stored again`() async throws {
        bench.disk.write("sunset", to: path("raw/a.jpg"))
        try await bench.pass()
        try configure(["- raw/"])
        let key = try #require(try bench.status(path("raw/a.jpg"))?.key)
        let record = try #require(try bench.ledger.object(key))
        try await bench.memory.delete(key)
        _ = try bench.ledger.markBroken([BrokenObject(record, .missing)], at: bench.time.now)
        try await bench.pass()
        #expect(try bench.status(path("raw/a.jpg"))?.state == .uploaded)
        #expect(bench.memory.content(key) != nil)
    }

    @Test func `another filter is held against what the one before has left out`() async throws {
        try configure(["- *.jpg"])
        bench.disk.write("sunset", to: path("a.jpg"))
        bench.disk.write("sunrise", to: path("b.jpg"))
        try await bench.pass()
        #expect(try bench.ledger.leftOut(naming: 9).filtered == 2)
        try configure(["- b.jpg"])
        try await bench.pass()
        #expect(try bench.status(path("a.jpg"))?.state == .uploaded)
        #expect(try bench.status(path("b.jpg"))?.state == .skipped)
        #expect(try bench.ledger.leftOut(naming: 9).filtered == 1)
        // The same filter once more is no news.
        try configure(["- b.jpg"])
        #expect(try bench.status(path("b.jpg"))?.state == .skipped)
        try configure([])
        try await bench.pass()
        #expect(try bench.status(path("b.jpg"))?.state == .uploaded)
        #expect(try bench.ledger.leftOut(naming: 9).filtered == 0)
    }
}
