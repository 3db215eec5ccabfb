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
    @Test func `a version that another machine's catalogue names as its image stays`() async throws {
        // What is copied is later than what is stored beside.
        let late = Date(timeIntervalSince1970: 4_000_000_000)
        let other = try ProjectBench(listing: "a", in: InMemoryStore(now: { late }))
        try await other.storeInTurn(["image 1."])
        let key = try other.key("a.jpg")
        other.memory.setClass(.deepArchive, of: key)
        try await other.storeInTurn(["image 2."])
        other.memory.setClass(.standard, of: key)
        let version = try #require(try other.status("a.jpg")?.key)
        try await other.writeCatalog()
        let bench = try ProjectBench(listing: "a", in: other.memory)
        func readings() -> Int {
            bench.store.calls.count { $0.operation == .get && $0.key.hasPrefix("users/ana/catalog/") }
        }
        // That catalogue is not read for each image.
        try await bench.storeInTurn((3...11).map { "image \($0)." }, versions: 1)
        #expect(try bench.versionTexts().count == 10 && readings() == 0)
        try await bench.storeInTurn(["image 12."], versions: 1)
        #expect(version != key && bench.text(version) == "image 2.")
        // The last one of its own stays, too, and so does what the other one had stored before.
        #expect(try bench.versionTexts().count == 3 && readings() > 0)
        #expect(try bench.versionTexts().contains("image 1."))
        let before = readings()
        try await bench.storeInTurn(["image 13."], versions: 1)
        #expect(try bench.versionTexts().count == 4 && readings() == before)
    }

    @Test func `another machine's image that was copied to the versions before ours took its place stays`() async throws
    {
        let clock = JumpingClock()
        let other = try ProjectBench(listing: "a", in: InMemoryStore(now: { clock.now }))
        try await other.storeInTurn(["image of the other."], by: clock)
        try await other.writeCatalog()
        // That catalogue names the key, which has another content from now on.
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await bench.storeInTurn((1...11).map { "image \($0)." }, versions: 1, by: clock)
        #expect(try bench.content("a.jpg") == "image 11.")
        #expect(try bench.versionTexts().sorted() == ["image 10.", "image of the other."])
        #expect(try bench.ledger.check() == [])
    }

    @Test func `of versions with the content that another machine's catalogue tells of, the latest stays`() async throws
    {
        let clock = JumpingClock()
        let other = try ProjectBench(listing: "a", in: InMemoryStore(now: { clock.now }))
        try await other.storeInTurn(["image of the other."], by: clock)
        try await other.writeCatalog()
        let bench = try ProjectBench(listing: "a", in: other.memory)
        let images = ["image 1.", "image of the other."] + (2...10).map { "image \($0)." }
        try await bench.storeInTurn(images, versions: 1, by: clock)
        // That one's own stays, too; without the latest there would be no other.
        #expect(try bench.versionTexts().sorted() == ["image 9.", "image of the other.", "image of the other."])
    }

    @Test(arguments: [(1, false), (2, true)])
    func `a version that another machine has pruned by the same rule is no loss`(kept: Int, isLost: Bool) async throws {
        let clock = JumpingClock()
        let bench = try ProjectBench(listing: "a", in: InMemoryStore(now: { clock.now }))
        try await bench.storeInTurn(["image 1.", "image 2."], by: clock)
        let version = try #require(try bench.ledger.projectVersions(of: "a").first?.key)
        let other = try ProjectBench(listing: "a", in: bench.memory)
        try await other.storeInTurn(["image 3."], versions: 1, by: clock)
        #expect(try bench.versionTexts() == ["image 2."])
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
        let bench = try ProjectBench(listing: "a", in: InMemoryStore(now: { clock.now }))
        try await bench.storeInTurn(["image 1.", "image 2.", "image 3."], by: clock)
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
        let bench = try ProjectBench(listing: "a", in: InMemoryStore(now: { clock.now }))
        try await bench.storeInTurn(["image 1.", "image 2."], by: clock)
        let version = try #require(try bench.ledger.projectVersions(of: "a").first)
        bench.memory.lose(version.key)
        try bench.ledger.markBroken([BrokenObject(version, .missing)], at: bench.clock.now)
        let keys = try KeyLayout(user: "ana")
        let repair = StoredCopyRepair(
            store: bench.store, ledger: bench.queue, keys: keys,
            pruned: PrunedVersions(store: bench.store, ledger: bench.queue, keys: keys, kept: 1),
            time: bench.clock.source)
        try await repair.run()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == [version.key])
        try await bench.storeInTurn(["image 3."], by: clock)
        try await repair.run()
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
    }
}
