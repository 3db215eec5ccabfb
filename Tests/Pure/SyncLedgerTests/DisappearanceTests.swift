import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct DisappearanceTests {
    /// A tree of stored photos, whose names are near one another in the order of bytes.
    private func tree() throws -> World {
        let world = try World()
        for name in ["a/1.jpg", "a/b/2.jpg", "a-b/3.jpg", "a0/4.jpg", "ab/5.jpg", "6.jpg"] as [FilePath] {
            world.write(FilePath("/pictures/gallery").pushing(name))
        }
        try world.scan()
        try world.storeAll()
        return world
    }

    @Test(
        arguments: [
            ("a", 2), ("a/b", 1), ("a/1.jpg", 1), ("", 6), ("a-b", 1), ("nothing", 0), ("/pictures/gallery/a", 2),
        ] as [(FilePath, Int)])
    func `a path that is gone takes all below it, and nothing beside it`(path: FilePath, count: Int) throws {
        let world = try tree()
        let folder = world.folders[0].id
        #expect(try world.ledger.markGone(folder, path: path, at: world.now) == count)
        #expect(try world.ledger.knownFileCount(folder) == 6 - count)
        #expect(try world.ledger.markGone(folder, path: path, at: world.now) == 0)
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is not stored is forgotten, its directory too`() throws {
        let world = try World()
        world.write("/pictures/gallery/a/1.jpg")
        let directory = try world.scan().compactMap(\.directoryID)
        #expect(directory.count == 1)
        #expect(try world.ledger.markGone(world.folders[0].id, path: "a", at: world.now) == 1)
        #expect(try world.ledger.photos(at: "/pictures", visit: { _ in }) == 0)
    }

    @Test func `directories that a scan did not meet are gone`() throws {
        let world = try tree()
        let folder = world.folders[0].id
        let all = try world.scan().compactMap(\.directoryID)
        #expect(all.count == 6 - 1 + 1)
        #expect(try world.ledger.finishScan(folder, below: "", visited: Set(all), at: world.now) == 0)
        #expect(try world.ledger.finishScan(folder, below: "a", visited: [], at: world.now) == 2)
        #expect(try world.ledger.finishScan(folder, below: "", visited: [], at: world.now) == 4)
        #expect(try world.ledger.finishScan(folder, below: "", visited: [], at: world.now) == 0)
        #expect(try world.ledger.overview().totals[.missing].files == 6)
    }

    @Test func `directories that could not be read are left alone, with all below them`() throws {
        let world = try tree()
        let folder = world.folders[0].id
        #expect(try world.ledger.finishScan(folder, below: "", visited: [], unread: ["a", "ab"], at: world.now) == 3)
        #expect(try world.state("/pictures/gallery/a/b/2.jpg") == .uploaded)
        #expect(try world.state("/pictures/gallery/a-b/3.jpg") == .missing)
        #expect(try world.ledger.finishScan(folder, below: "", visited: [], unread: [""], at: world.now) == 0)
    }

    @Test func `a directory that came while the scan ran is left alone`() throws {
        let world = try tree()
        let count = try world.ledger.finishScan(
            world.folders[0].id, below: "", visited: [], stillThere: { $0 == "/pictures/gallery/a/b" }, at: world.now)
        #expect(count == 5)
        #expect(try world.state("/pictures/gallery/a/b/2.jpg") == .uploaded)
    }
}
