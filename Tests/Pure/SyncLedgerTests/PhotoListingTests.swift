import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct PhotoListingTests {
    private func list(_ path: FilePath, in world: World) throws -> [String] {
        var names: [String] = []
        let count = try world.ledger.photos(at: path) { names.append($0.path.string) }
        #expect(count == names.count)
        return names
    }

    @Test(
        arguments: [
            ("/pictures/trips/a", ["/pictures/trips/a/1.jpg", "/pictures/trips/a/b/2.jpg"]),
            ("/pictures/trips/a/b/2.jpg", ["/pictures/trips/a/b/2.jpg"]),
            ("/pictures/trips/a/b/2", []),
            (
                "/pictures/trips",
                [
                    "/pictures/trips/6.jpg", "/pictures/trips/!x/7.jpg", "/pictures/trips/a/1.jpg",
                    "/pictures/trips/a-b/3.jpg",
                    "/pictures/trips/a/b/2.jpg", "/pictures/trips/a0/4.jpg",
                ]
            ),
            ("/elsewhere", []),
        ] as [(FilePath, [String])])
    func `a path names a file or all below it`(path: FilePath, expected: [String]) throws {
        let world = try World()
        for name in ["a/1.jpg", "a/b/2.jpg", "a-b/3.jpg", "a0/4.jpg", "6.jpg", "!x/7.jpg"] as [FilePath] {
            world.write(FilePath("/pictures/trips").pushing(name))
        }
        try world.scan()
        #expect(try list(path, in: world).sorted() == expected.sorted())
    }

    @Test func `a path above the folders names all photos, in order, page after page`() throws {
        let world = try World()
        for index in 1_000..<1_603 { world.write(FilePath("/pictures/trips/\(index / 502)/\(index).jpg")) }
        for index in 1_000..<1_005 { world.write(FilePath("/pictures/gallery/\(index).jpg")) }
        try world.scan()
        let all = world.disk.keys.map(\.string).sorted()
        #expect(try list("/pictures", in: world) == all)
        #expect(try list("/pictures/trips/2", in: world).count == 502)
        #expect(try list("/", in: world).count == all.count)
    }

    @Test func `photos of the past are found`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare("/pictures/trips/a.jpg", in: world)
        world.remove("/pictures/trips/a.jpg")
        try world.scan()
        try world.register([World.gallery])
        #expect(try world.state("/pictures/trips/a.jpg") == .missing)
    }

    @Test func `what the visitor throws ends the listing`() throws {
        struct Stop: Error {}
        let world = try World()
        world.write("/pictures/trips/a.jpg")
        try world.scan()
        #expect(throws: Stop.self) { try world.ledger.photos(at: "/", visit: { _ in throw Stop() }) }
    }

    @Test func `the visitor may use the ledger`() throws {
        let world = try World()
        world.write("/pictures/trips/a.jpg")
        try world.scan()
        var pending = 0
        try world.ledger.photos(at: "/") { _ in pending += try world.ledger.overview().totals[.pending].files }
        #expect(pending == 1)
    }
}
