import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ObjectListingTests {
    static let names = ["a/1", "a/2", "a/2/x", "a/é", "a/𝄞", "a0", "ab/1", "b/1"]

    @Test(arguments: [
        ("", names), ("a/", ["a/1", "a/2", "a/2/x", "a/é", "a/𝄞"]), ("a", Array(names.dropLast())),
        ("a/2", ["a/2", "a/2/x"]),
        ("a/𝄞", ["a/𝄞"]), ("c", []), ("A", []),
    ])
    func `a prefix names the keys that begin with it, page after page`(prefix: String, expected: [String]) throws {
        let archive = try Archive([])
        for name in Self.names.reversed() { try archive.put(name, size: 1, storedAt: archive.now - 1) }
        for limit in [1, 2, 9] {
            var found: [ObjectRecord] = []
            while case let page = try archive.ledger.archiveCandidates(
                classes: [.standard], storedBefore: archive.now, largerThan: 0, prefix: prefix,
                after: found.last.map { (storedAt: $0.storedAt, key: $0.key) }, limit: limit), !page.isEmpty
            {
                #expect(page.count <= limit)
                found += page
            }
            #expect(found.map(\.key.rawValue) == expected)
        }
    }

    @Test func `what is old, large and not archived may be archived`() throws {
        let archive = try Archive([])
        let old = archive.now - 1_000
        try archive.put("p/old", size: 101, storedAt: old)
        try archive.put("p/small", size: 100, storedAt: old)
        try archive.put("p/young", size: 101, storedAt: old + 1)
        try archive.put("p/rare", size: 101, in: .standardIA, storedAt: old)
        try archive.put("p/gone", size: 101, in: .deepArchive, storedAt: old)
        try archive.put("q/old", size: 101, storedAt: old)
        let find = { (classes: [StorageClass], prefix: String, last: ObjectKey?) in
            try archive.ledger.archiveCandidates(
                classes: classes, storedBefore: old + 1, largerThan: 100, prefix: prefix,
                after: last.map { (storedAt: old, key: $0) }, limit: 1
            ).map(\.key.rawValue)
        }
        #expect(try find([.standard], "p/", nil) == ["p/old"])
        #expect(try find([.standard], "p/", archive.keys[0]) == [])
        #expect(try find([.standard, .standardIA, .deepArchive], "p/", archive.keys[0]) == ["p/rare"])
        #expect(try find([.standard], "", archive.keys[0]) == ["q/old"])
        #expect(try find([], "", nil) == [])
        try archive.ledger.setStorageClass(.deepArchive, of: archive.keys[0], at: archive.now)
        #expect(try find([.standard], "p/", nil) == [])
    }

    @Test func `the oldest may be archived first, and each is listed once`() throws {
        let archive = try Archive([])
        for (name, age) in [("p/c", 3.0), ("p/a", 1), ("p/e", 3), ("q/d", 2), ("p/b", 2)] {
            try archive.put(name, size: 1, storedAt: archive.now - age)
        }
        for limit in [1, 2, 9] {
            var found: [ObjectRecord] = []
            while case let page = try archive.ledger.archiveCandidates(
                classes: [.standard], storedBefore: archive.now, largerThan: 0, prefix: "p/",
                after: found.last.map { (storedAt: $0.storedAt, key: $0.key) }, limit: limit), !page.isEmpty
            {
                found += page
            }
            #expect(found.map(\.key.rawValue) == ["p/c", "p/e", "p/b", "p/a"])
        }
    }

    @Test func `an object knows its photos, wherever they were`() throws {
        let world = try World()
        let (here, gone, changed): (FilePath, FilePath, FilePath) = (
            "/pictures/gallery/a.jpg", "/pictures/trips/b.jpg", "/pictures/trips/c.jpg"
        )
        let stamp = world.write(here)
        world.put(stamp, at: gone)
        world.put(stamp, at: changed)
        try world.scan()
        try world.storeAll()
        let key = try #require(try world.status(here)?.key)
        world.remove(gone)
        world.write(changed)
        try world.scan()
        #expect(try Set(world.ledger.photoPaths(of: key, limit: 9)) == [here, gone])
        #expect(try world.ledger.photoPaths(of: key, limit: 1).count == 1)
        #expect(try world.ledger.photoPaths(of: ObjectKey("x"), limit: 9) == [])
    }

    @Test func `an object knows the photo whose file has changed since and is not stored anew`() throws {
        let world = try World()
        let path: FilePath = "/pictures/gallery/a.jpg"
        world.write(path)
        try world.scan()
        try world.storeAll()
        let key = try #require(try world.status(path)?.key)
        world.write(path)
        try world.scan()
        #expect(try world.ledger.photoPaths(of: key, limit: 9) == [path])
    }
}
