import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Names that look like wildcards, of what is known and of what was.
@Suite struct FormerNameTests {
    private let world: World
    private let photo: FilePath = "/pictures/gallery/Rome [1]/x?.jpg"

    init() throws {
        world = try World()
        world.write(photo)
        world.write("/pictures/gallery/plain.jpg")
        try world.scan()
        try world.storeAll()
    }

    private func forget(_ path: FilePath) throws {
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
    }

    @Test(
        arguments: [
            ("/pictures", true), ("/pictures/gallery", true), ("/pictures/gallery/Rome [1]", true),
            ("/pictures/gallery/Rome [1]/x?.jpg", true), ("/pictures/gallery/Rome [1]/y?.jpg", false),
            ("/pictures/gallery/Rome [2]", false), ("/pictures/gallery/Rome", false), ("/elsewhere/*", false),
        ] as [(FilePath, Bool)])
    func `what is known has its name, also when it was forgotten`(path: FilePath, isName: Bool) throws {
        #expect(try world.ledger.hasName(path) == isName)
        try forget(photo)
        #expect(try world.ledger.hasName(path) == isName)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a photo that was renamed keeps its old name from being a wildcard`() throws {
        let other: FilePath = "/pictures/gallery/y.jpg"
        let id = try #require(try world.status(photo)?.id)
        world.rename(photo, to: other)
        try world.scan()
        #expect(try world.status(other)?.id == id)
        #expect(try world.ledger.hasName(photo) && world.ledger.hasName(other))
    }

    @Test func `of names without a wildcard nothing is kept`() throws {
        try forget("/pictures/gallery/plain.jpg")
        #expect(try !world.ledger.hasName("/pictures/gallery/plain.jpg"))
    }
}
