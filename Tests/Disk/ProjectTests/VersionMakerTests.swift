import Foundation
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

/// Whose the earlier images of a project are, where two machines have one of its name.
@Suite struct VersionMakerTests {
    private func remove(in bench: ProjectBench) async throws -> [ProjectRemover.Outcome] {
        let remover = bench.makeRemover()
        return try await remover.remove(try await remover.find("a", in: [bench.folder]))
    }

    /// The laptop has stored images 1 to 3, the tower then 3 to 5, and both have catalogues.
    private func makeBoth() async throws -> (laptop: ProjectBench, tower: ProjectBench) {
        let laptop = try ProjectBench(listing: "a")
        try await laptop.storeInTurn(images: 1...3)
        try await laptop.writeCatalog(as: "laptop")
        let tower = try ProjectBench(listing: "a", in: laptop.memory)
        try await tower.storeInTurn(images: 3...5)
        try await tower.writeCatalog(as: "tower")
        try await laptop.refresh()
        #expect(try Set(tower.versions().values) == Set((1...4).map { "image \($0)." }))
        return (laptop, tower)
    }

    @Test(arguments: [true, false])
    func `after a rebuild, or a restore of all, no earlier image of another machine is deleted, or called lost`(
        isRebuild: Bool
    ) async throws {
        let (laptop, tower) = try await makeBoth()
        try await laptop.rebuild(as: "laptop", takesOver: isRebuild)
        try await tower.rebuild(as: "tower", takesOver: isRebuild)
        #expect(try await remove(in: tower).map(\.failures) == [[]])
        #expect(try Set(laptop.versions().values) == Set((1...3).map { "image \($0)." }))
        try await laptop.refresh()
        #expect(try laptop.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try laptop.ledger.overview().lost == 0)
        #expect(try laptop.ledger.check() == [] && tower.ledger.check() == [])
    }

    @Test func `a machine that has lost its ledger knows again what it had stored`() async throws {
        let (laptop, _) = try await makeBoth()
        let rebuilt = try ProjectBench(listing: "a", in: laptop.memory)
        try await rebuilt.rebuild(as: "laptop")
        for (key, text) in try laptop.versions() where text != "image 3." {
            let maker: VersionMaker = text == "image 4." ? .other : .this
            #expect(try rebuilt.ledger.maker(ofVersion: key) == maker)
        }
    }

    @Test func `an earlier image that another machine had stored, and this one has found there, stays that one's`()
        async throws
    {
        let laptop = try ProjectBench(listing: "a")
        try await laptop.storeInTurn(images: 1...3)
        let tower = try ProjectBench(listing: "a", in: laptop.memory)
        try await tower.storeInTurn(images: 3...4)
        // Its catalogue does not name the third one any more.
        try await laptop.storeInTurn(images: 5...5)
        try await laptop.writeCatalog(as: "laptop")
        #expect(try await remove(in: tower).map(\.failures) == [[]])
        #expect(try Set(laptop.versions().values) == Set((1...3).map { "image \($0)." }))
        try await laptop.refresh()
        #expect(try laptop.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try laptop.ledger.check() == [] && tower.ledger.check() == [])
    }

    @Test func `an earlier image with the content of this machine's own stays that one's which has stored it`()
        async throws
    {
        let laptop = try ProjectBench(listing: "a")
        try await laptop.storeInTurn(images: 1...1)
        let tower = try ProjectBench(listing: "a", in: laptop.memory)
        try await tower.storeInTurn(images: 1...1)
        // The tower has not seen yet that its image is a version by now.
        try await laptop.storeInTurn(images: 2...2)
        try await laptop.writeCatalog(as: "laptop")
        #expect(try await remove(in: tower).map(\.failures) == [[]])
        #expect(try Array(laptop.versions().values) == ["image 1."])
        try await laptop.refresh()
        #expect(try laptop.ledger.lostBesidePhotos(limit: 9).isEmpty)
        #expect(try laptop.ledger.check() == [] && tower.ledger.check() == [])
    }

    @Test func `a deletion that the store has refused is brought to its end by the next one`() async throws {
        let (laptop, tower) = try await makeBoth()
        tower.store.add(StoreFault(.deleteMany, number: 1, .failBefore(.serverFailed)))
        #expect(try await remove(in: tower).map(\.failures.count) == [1])
        #expect(try laptop.versions().count == 4)
        let own = try #require(try laptop.versions().first { $0.value == "image 4." }?.key)
        #expect(try tower.ledger.object(own) == nil && tower.ledger.projectVersionCounts().isEmpty)
        #expect(try await remove(in: tower).map(\.failures) == [[]])
        #expect(try Set(laptop.versions().values) == Set((1...3).map { "image \($0)." }))
        #expect(try tower.ledger.maker(ofVersion: own) == nil)
        #expect(try tower.ledger.check() == [])
    }

    /// Stores versions of `a.jpg` that tell nothing of who has stored them, as those of earlier releases.
    private func storeUnknown(_ count: Int, in memory: InMemoryStore) async throws {
        for number in 0..<count {
            let body = ObjectBody(Array("old image \(number).".utf8))
            let name = "a/versions/202501\(number + 10)T101500Z-\("\(body.digest.md5)".prefix(8)).jpg"
            _ = try await memory.put(
                body, at: KeyLayout(user: "ana").projectFile(name),
                attributes: ObjectAttributes(
                    contentType: "image/jpeg", metadata: [MetadataName.md5: "\(body.digest.md5)"]),
                condition: .ifAbsent)
        }
    }

    @Test(arguments: [true, false])
    func `a version of which nobody knows whose it is stays, and is told, while another machine has the project`(
        hasCatalog: Bool
    ) async throws {
        let other = try ProjectBench(listing: "a")
        try await other.storeInTurn(images: 1...1)
        if hasCatalog { try await other.writeCatalog() }
        try await storeUnknown(16, in: other.memory)
        let bench = try ProjectBench(listing: "a", in: other.memory)
        try await bench.storeInTurn(images: 2...2)
        let old = try bench.versions().values.count { $0.hasPrefix("old image") }
        #expect(old == (hasCatalog ? 16 : 4))
        let told = bench.words.all.filter { $0.contains("nothing tells which of the two has stored what") }
        #expect(told.count == (hasCatalog ? 1 : 0))
        let outcomes = try await remove(in: bench)
        let outcome = try #require(outcomes.first)
        #expect(outcome.failures == [])
        // It is told of each that stays.
        let left = try bench.versions().values.filter { $0.hasPrefix("old image") }
        #expect(left.count == (hasCatalog ? 16 : 0))
        #expect(outcome.target.needed.count(where: \.isProjectVersion) == (hasCatalog ? 17 : 0))
    }

    @Test func `of two files that differ in their endings, and have one content, a catalogue names a version each`()
        async throws
    {
        let names = ["sub/x.jpg", "sub/x.png"]
        let other = try ProjectBench(listing: "a")
        for name in names { try await other.storeInTurn(images: 1...1, as: name) }
        try await other.writeCatalog()
        let bench = try ProjectBench(listing: "a", in: other.memory)
        for name in names { try await bench.storeInTurn(images: 2...2, as: name) }
        let keys = try names.flatMap { try Array(bench.versions(of: $0).keys) }
        #expect(keys.count == 2)
        #expect(try await bench.others.named(among: keys) == Set(keys))
    }

    @Test(arguments: ["a.jpg", "sub/x.jpg", "extra.json"])
    func `of two machines that store a file of one name at the same moment, the second keeps what the first has stored`(
        name: String
    ) async throws {
        let other = try ProjectBench(listing: "a")
        try await other.storeInTurn(images: 1...1, as: name)
        let bench = try ProjectBench(listing: "a", in: other.memory)
        let key = try bench.key(name)
        bench.store.add(StoreFault(.head, key: key.rawValue, number: 1, .sayAbsent))
        try await bench.storeInTurn(images: 2...2, as: name)
        #expect(bench.text(key) == "image 2.")
        #expect(try Array(bench.versions(of: name).values) == ["image 1."])
    }
}
