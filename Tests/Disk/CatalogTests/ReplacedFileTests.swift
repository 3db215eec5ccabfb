import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// A rebuild, after another machine has stored a file of its own under the key of one of this machine's.
@Suite struct ReplacedFileTests {
    private static let own = "/pictures/Gallery/p1.jpg missing"
    private static let others = "/machines/tower/pictures/Gallery/p1.jpg missing"

    /// The laptop has stored `mine`, and the tower then `hers`, which is as long.
    /// - Returns: a new ledger of the laptop.
    private func replaced(_ bench: CatalogBench, keeping version: String? = nil) async throws -> CatalogMachine {
        let image = try bench.keys.projectFile("p1.jpg")
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["p1.jpg": "mine"], at: image)
        try await laptop.write()
        if let version {
            let digest = ContentDigestOf("mine")
            _ = try await bench.memory.put(
                ObjectBody(bytes: Array("mine".utf8), digest: digest), at: bench.keys.projectFile(version),
                attributes: ObjectAttributes(
                    contentType: "image/jpeg", metadata: [MetadataName.md5: "\(digest.md5)"]), condition: .ifAbsent)
        }
        try await tower.see(["p1.jpg": "hers"], at: image)
        try await tower.write()
        return try bench.machine("laptop")
    }

    @Test(arguments: [InMemoryStore.ListedDigests.all, .marks, .none])
    func `its content is not taken for that of the own file, which is told where it is gone`(
        digests: InMemoryStore.ListedDigests
    ) async throws {
        let bench = try CatalogBench(listedDigests: digests)
        let machine = try await replaced(bench)
        let summary = try await machine.rebuild()
        #expect(try machine.known() == [Self.others])
        #expect(summary.problems.count == 1 && summary.problems[0].hasPrefix("/pictures/Gallery/p1.jpg: "))
        #expect(try machine.ledger.check() == [])
        // A second time it is the same.
        #expect(try await machine.rebuild().problems == summary.problems)
        #expect(try machine.known() == [Self.others])
    }

    @Test func `a file that is on the disk waits to be stored, and is no loss`() async throws {
        let bench = try CatalogBench()
        let machine = try await replaced(bench)
        machine.disk.write("mine", to: "/pictures/Gallery/p1.jpg")
        #expect(try await machine.rebuild().problems == [])
        _ = try machine.ledger.reconcile(
            machine.folder.id, directory: "",
            files: [ScannedFile(name: "p1.jpg", stamp: CatalogMachine.stamp("mine"))], settled: { _ in true },
            stillThere: { _ in true }, at: bench.time.now)
        #expect(try machine.known() == ["/pictures/Gallery/p1.jpg pending", Self.others])
    }

    @Test func `the version that was made of the own content is what the file is stored as`() async throws {
        let bench = try CatalogBench()
        let version = "p1/versions/20260501T101500Z-\("\(ContentDigestOf("mine").md5)".prefix(8)).jpg"
        let machine = try await replaced(bench, keeping: version)
        #expect(try await machine.rebuild().problems == [])
        #expect(try machine.known() == [Self.own, Self.others])
        let (key, folder) = (try bench.keys.projectFile(version), try bench.keys.projectVersions("p1"))
        #expect(try machine.ledger.photoPaths(of: key, limit: 9) == ["/pictures/Gallery/p1.jpg"])
        #expect(try machine.ledger.projectVersionsInUse(below: folder) == [key])
        #expect(try machine.ledger.check() == [])
    }

    @Test func `a ledger that took it for the own file has it read again`() async throws {
        let bench = try CatalogBench()
        let image = try bench.keys.projectFile("p1.jpg")
        let (laptop, tower) = (try bench.machine("laptop"), try bench.machine("tower"))
        try await laptop.see(["p1.jpg": "mine"], at: image)
        try await tower.see(["p1.jpg": "hers"], at: image)
        #expect(try laptop.known() == ["/pictures/Gallery/p1.jpg uploaded"])
        try await laptop.rebuild()
        #expect(try laptop.known() == ["/pictures/Gallery/p1.jpg pending"])
        #expect(try laptop.ledger.object(image)?.md5 == ContentDigestOf("hers").md5)
        #expect(try laptop.ledger.check() == [])
    }

    @Test func `versions that are the copy of no file are known as such, and can be forgotten when they are gone`()
        async throws
    {
        let bench = try CatalogBench()
        let names = ["p1/versions/20260501T101500Z-9e107d9d", "projects/versions/20260501T101500Z-9e107d9d"]
        let versions = try [".jpg", "-metadata.json"].map { try bench.keys.projectFile(names[0] + $0) }
        let list = try bench.keys.projectFile(names[1] + ".json")
        for key in versions + [list] { try await bench.memory.store(Array("\(key)".utf8), at: key) }
        let machine = try bench.machine("laptop")
        try await machine.rebuild()
        #expect(try machine.ledger.projectVersions(of: "p1").map(\.key) == [versions[0]])
        #expect(try machine.ledger.projectVersions(of: "p1-metadata.json").map(\.key) == [versions[1]])
        #expect(try machine.ledger.projectVersions(of: "projects.json").map(\.key) == [list])
        bench.memory.lose(versions[0])
        try await machine.refresh()
        #expect(try machine.ledger.lostBesidePhotos(limit: 9).map(\.key) == [versions[0]])
    }
}
