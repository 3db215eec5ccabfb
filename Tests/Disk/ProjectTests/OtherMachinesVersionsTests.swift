import Foundation
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Earlier images of projects that another machine may need: it has a file of the same name, and so the same key.
@Suite struct OtherMachinesVersionsTests {
    private func makeBench(_ memory: InMemoryStore) throws -> ProjectBench {
        let bench = try ProjectBench(memory: memory)
        try bench.list([ProjectBench.record("a")])
        return bench
    }

    /// Stores one image after the other.
    /// - Parameter clock: the store's, which goes on in between.
    private func store(
        _ texts: [String], in bench: ProjectBench, versions: Int = 5, by clock: JumpingClock? = nil
    ) async throws {
        for text in texts {
            try bench.write(text, to: "a.jpg")
            try await bench.pass(versions: versions)
            clock?.jump(.seconds(5))
        }
    }

    private func writeCatalog(of bench: ProjectBench) async throws {
        let writer = CatalogWriter(
            store: bench.store, ledger: bench.queue, keys: try KeyLayout(user: "ana"), name: "other",
            spool: bench.tree.path("catalog.part"), pool: BlockingPool(name: "disk", threads: 1),
            time: bench.clock.source, logger: bench.words.logger)
        _ = try await writer.run()
    }

    private func versions(_ bench: ProjectBench) throws -> [String] {
        try bench.stored.filter { $0.hasPrefix("a/versions/") }.compactMap { try bench.content($0) }
    }

    @Test func `a version that another machine's catalogue names as its image stays`() async throws {
        // What is copied is later than what is stored beside.
        let other = try makeBench(InMemoryStore(now: { Date(timeIntervalSince1970: 4_000_000_000) }))
        try await store(["image 1."], in: other)
        let key = try other.key("a.jpg")
        other.memory.setClass(.deepArchive, of: key)
        try await store(["image 2."], in: other)
        other.memory.setClass(.standard, of: key)
        let version = try #require(try other.status("a.jpg")?.key)
        try await writeCatalog(of: other)
        let bench = try makeBench(other.memory)
        func readings() -> Int {
            bench.store.calls.count { $0.operation == .get && $0.key.hasPrefix("users/ana/catalog/") }
        }
        // That catalogue is not read for each image.
        try await store((3...11).map { "image \($0)." }, in: bench, versions: 1)
        #expect(try versions(bench).count == 10 && readings() == 0)
        try await store(["image 12."], in: bench, versions: 1)
        #expect(version != key && bench.text(version) == "image 2.")
        // The last one of its own stays, too, and so does what the other one had stored before.
        #expect(try versions(bench).count == 3 && readings() > 0)
        #expect(try versions(bench).contains("image 1."))
        let before = readings()
        try await store(["image 13."], in: bench, versions: 1)
        #expect(try versions(bench).count == 4 && readings() == before)
    }

    @Test func `another machine's image that was copied to the versions before ours took its place stays`() async throws
    {
        let clock = JumpingClock()
        let other = try makeBench(InMemoryStore(now: { clock.now }))
        try await store(["image of the other."], in: other, by: clock)
        try await writeCatalog(of: other)
        // That catalogue names the key, which has another content from now on.
        let bench = try makeBench(other.memory)
        try await store((1...11).map { "image \($0)." }, in: bench, versions: 1, by: clock)
        #expect(try bench.content("a.jpg") == "image 11.")
        #expect(try versions(bench).sorted() == ["image 10.", "image of the other."])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `of versions with the content that another machine's catalogue tells of, the latest stays`() async throws
    {
        let clock = JumpingClock()
        let other = try makeBench(InMemoryStore(now: { clock.now }))
        try await store(["image of the other."], in: other, by: clock)
        try await writeCatalog(of: other)
        let bench = try makeBench(other.memory)
        let images = ["image 1.", "image of the other."] + (2...10).map { "image \($0)." }
        try await store(images, in: bench, versions: 1, by: clock)
        // That one's own stays, too; without the latest there would be no other.
        #expect(try versions(bench).sorted() == ["image 9.", "image of the other.", "image of the other."])
    }

    @Test(arguments: [(1, false), (2, true)])
    func `a version that another machine has pruned by the same rule is no loss`(kept: Int, isLost: Bool) async throws {
        let clock = JumpingClock()
        let bench = try makeBench(InMemoryStore(now: { clock.now }))
        try await store(["image 1.", "image 2."], in: bench, by: clock)
        let version = try #require(try bench.ledger.projectVersions(of: "a").first?.key)
        let other = try makeBench(bench.memory)
        try await store(["image 3."], in: other, versions: 1, by: clock)
        #expect(try versions(bench) == ["image 2."])
        try await bench.refresh(kept: kept)
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == (isLost ? [version] : []))
        // The file is stored as what the other one has set aside.
        let own = try #require(try bench.status("a.jpg")?.key)
        #expect(bench.text(own) == "image 2.")
        #expect(own.isProjectVersion)
        #expect(try bench.ledger.projectVersions(of: "a").map(\.key) == (isLost ? [version] : []))
        #expect(try bench.ledger.check() == [])
    }

    @Test(arguments: [(1, true), (2, false)])
    func `a version that was another machine's file at a rebuild is forgotten when it is pruned`(
        kept: Int, isForgotten: Bool
    ) async throws {
        let clock = JumpingClock()
        let bench = try makeBench(InMemoryStore(now: { clock.now }))
        try await store(["image 1.", "image 2.", "image 3."], in: bench, by: clock)
        let version = try #require(try bench.ledger.projectVersions(of: "a").last)
        #expect(bench.text(version.key) == "image 1.")
        let folder = try bench.ledger.folderForCatalog(.projects, at: "/machines/b/projects", of: .machine("b"))
        try bench.ledger.noteCatalog(
            [
                CatalogPhoto(
                    place: CatalogPlace(folder: 1, path: "a.jpg"), file: nil, md5: version.md5, key: version.key,
                    sha256: version.sha256, size: version.size, contentType: version.contentType)
            ], in: [1: folder], at: bench.clock.now)
        bench.memory.lose(version.key)
        try await bench.refresh(kept: kept)
        let known = try bench.ledger.object(version.key)
        if isForgotten { #expect(known == nil) } else { #expect(known?.problem == .missing) }
        #expect(try bench.ledger.projectVersions(of: "a").count == (isForgotten ? 1 : 2))
        #expect(try bench.ledger.check() == [])
    }

    @Test func `a version that was noted as lost is forgotten once enough later ones are stored`() async throws {
        let clock = JumpingClock()
        let bench = try makeBench(InMemoryStore(now: { clock.now }))
        try await store(["image 1.", "image 2."], in: bench, by: clock)
        let version = try #require(try bench.ledger.projectVersions(of: "a").first)
        bench.memory.lose(version.key)
        try bench.ledger.markBroken([BrokenObject(version, .missing)], at: bench.clock.now)
        let repair = StoredCopyRepair(
            store: bench.store, ledger: bench.queue, keys: try KeyLayout(user: "ana"),
            pruned: PrunedVersions(store: bench.store, ledger: bench.queue, kept: 1), time: bench.clock.source)
        try await repair.run()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == [version.key])
        try await store(["image 3."], in: bench, by: clock)
        try await repair.run()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
    }
}
