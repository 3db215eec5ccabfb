import FoundationEssentials
import SyncLedger
import SystemPackage
import Testing

@testable import SyncCore

/// What keeps an object in the store whose photo is forgotten for good, and what keeps the photo known.
@Suite struct ForgetReferenceTests {
    private let world: World
    private let path: FilePath = "/pictures/gallery/a.jpg"
    private let twin: FilePath = "/pictures/gallery/twin.jpg"

    init() throws {
        world = try World()
    }

    /// The photo, whose file is gone.
    private func lose(_ path: FilePath, in world: World) throws -> PhotoStatus {
        world.remove(path)
        try world.scan()
        return try #require(try world.status(path))
    }

    private func forget(_ photo: PhotoStatus, in world: World) throws -> Bool {
        try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id]
    }

    private func references(of photo: PhotoStatus, in world: World) throws -> [StoredReference] {
        try world.ledger.objectsToForget([photo.id]).flatMap(\.references)
    }

    @Test func `what is an earlier content of another photo stays, and goes with that`() throws {
        let stamp = world.write(path)
        world.put(stamp, at: twin)
        try world.scan()
        try world.storeAll()
        world.write(twin)
        try world.scan()
        try world.storeAll()
        let key = try World.key(of: stamp)
        let photo = try lose(path, in: world)
        #expect(try references(of: photo, in: world) == [.version(twin)])
        #expect(try forget(photo, in: world))
        #expect(try world.ledger.openDeletions() == [])
        #expect(try world.ledger.object(key) != nil)
        #expect(try forget(try lose(twin, in: world), in: world))
        #expect(try world.ledger.openDeletions().map(\.key).contains(key))
        #expect(try world.ledger.openDeletions().count == 2)
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is the photo of a gallery event stays when a file of the same bytes is forgotten`() throws {
        let file: FilePath = "/pictures/gallery/events.json"
        let stamp = world.write(path)
        world.write(file)
        try world.scan()
        let claims = try world.ledger.claim(limit: 9, at: world.now)
        let events = try #require(claims.first { $0.file == file })
        let claim = try #require(claims.first { $0.file == path })
        try world.ledger.commit(claim, outcome: world.stored(claim), at: world.now)
        let key = try World.key(of: stamp)
        let object = try #require(try world.ledger.object(key))
        let event = GalleryEvent(
            index: 0, id: "e1", userID: "u1", profileID: "p1", type: .taskResponse,
            createdAt: Date(timeIntervalSince1970: 900_000), photo: .inline(0..<1), isBare: false)
        let record = try #require(try world.ledger.noteEvents([event], of: events)["e1"])
        try world.ledger.noteEventPhoto(record, md5: try #require(object.md5), object: object)
        let photo = try lose(path, in: world)
        #expect(try references(of: photo, in: world) == [.event])
        #expect(try forget(photo, in: world))
        #expect(try world.ledger.openDeletions() == [])
        #expect(try world.ledger.event("e1")?.object?.key == key)
        #expect(try world.ledger.check() == [])
    }

    @Test(
        arguments: [
            (.planned, nil, false, true), (.retrieving, nil, false, true), (.restored, "/back", false, true),
            (.restored, "/back", true, false), (.restored, nil, false, false), (.failed, "/back", false, false),
            (.expired, "/back", true, false),
        ] as [(RestoreItemState, FilePath?, Bool, Bool)])
    func `what is on its way back, or waits to be saved, stays with its photo`(
        state: RestoreItemState, output: FilePath?, isSaved: Bool, isHeld: Bool
    ) throws {
        let archive = try Archive()
        _ = try archive.ask(output: output)
        try archive.move(1, to: state)
        if isSaved { try archive.ledger.noteSaved(1, at: archive.now) }
        let photo = try lose("/pictures/gallery/0.jpg", in: archive.world)
        let held: [StoredReference] = [.restore(job: 1)]
        #expect(try references(of: photo, in: archive.world) == (isHeld ? held : []))
        #expect(try forget(photo, in: archive.world) == !isHeld)
        #expect(try archive.world.status("/pictures/gallery/0.jpg") == (isHeld ? photo : nil))
        #expect(try archive.ledger.openDeletions().map(\.key) == (isHeld ? [] : archive.keys))
    }

    @Test func `a lost photo stays known while what is left of it is being restored, and goes with that then`() throws {
        let archive = try Archive()
        _ = try archive.ask()
        try archive.move(1, to: .retrieving)
        let object = try #require(try archive.ledger.object(archive.keys[0]))
        _ = try lose("/pictures/gallery/0.jpg", in: archive.world)
        try archive.ledger.markBroken([BrokenObject(object, .damaged("its bytes are others"))], at: archive.now)
        let photo = try #require(try archive.world.status("/pictures/gallery/0.jpg"))
        #expect(photo.state == .lost)
        #expect(try !forget(photo, in: archive.world))
        #expect(try archive.ledger.openDeletions() == [])
        try archive.move(1, to: .failed)
        #expect(try forget(photo, in: archive.world))
        #expect(try archive.ledger.openDeletions().map(\.key) == archive.keys)
    }

    @Test(arguments: [PhotoState.uploading, .missing])
    func `a photo of which something is in hand is not forgotten, whatever it was seen as`(seen: PhotoState) throws {
        world.write(path)
        try world.scan()
        try world.storeAll()
        world.write(path)
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        let photo = try lose(path, in: world)
        #expect(try world.ledger.beginForget([(photo.id, seen)], at: world.now) == [])
        #expect(try world.ledger.openDeletions() == [])
        // What the upload finds is noted of a photo that is there.
        try world.ledger.commit(claim, outcome: .vanished, at: world.now)
        #expect(try world.state(path) == .missing)
        #expect(try forget(try #require(try world.status(path)), in: world))
        #expect(try world.ledger.openDeletions().count == 1)
        #expect(try world.ledger.check() == [])
    }
}
