import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// How long a deletion stays on record whose object is gone: an upload that began before may have seen the object.
@Suite struct EndedDeletionTests {
    private let world: World
    private let path: FilePath = "/pictures/gallery/a.jpg"
    private let other: FilePath = "/pictures/gallery/b.jpg"

    init() throws {
        world = try World()
        world.write(path)
        world.write(other)
        try world.scan()
        try world.storeAll()
    }

    /// Forgets the photo for good, and has the store delete its object.
    private func delete() throws -> ObjectKey {
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        let key = try #require(photo.key)
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
        #expect(try world.ledger.beginDeletions([key], at: world.now) == [key])
        try world.ledger.endDeletions([key], at: world.now)
        #expect(try world.ledger.openDeletions() == [])
        return key
    }

    /// A new content of the other photo, in hand.
    private func beginUpload() throws -> Claim {
        world.write(other)
        try world.scan()
        return try #require(try world.ledger.claim(limit: 1, at: world.now).first)
    }

    /// Whether an object that is found under the key is one of which nobody knows anything.
    private func isForgotten(_ key: ObjectKey) throws -> Bool {
        try world.ledger.beginOtherPlaces()
        let unnamed = try world.ledger.unnamed(among: [key])
        try world.ledger.endOtherPlaces()
        return unnamed == [key]
    }

    @Test func `a look-up before an upload tells of a deletion that was begun, until the object is gone`() throws {
        let claim = try beginUpload()
        let digest = try World.digest(of: claim.stamp)
        world.remove(path)
        try world.scan()
        let photo = try #require(try world.status(path))
        let key = try #require(photo.key)
        let isBeingDeleted = { try world.ledger.lookUp(key, of: digest, orBelow: nil).isBeingDeleted }
        #expect(try !isBeingDeleted())
        #expect(try world.ledger.beginForget([(photo.id, photo.state)], at: world.now) == [photo.id])
        #expect(try !isBeingDeleted())
        #expect(try world.ledger.beginDeletions([key], at: world.now) == [key])
        #expect(try isBeingDeleted())
        try world.ledger.endDeletions([key], at: world.now)
        #expect(try !isBeingDeleted())
    }

    @Test func `uploads that have ended hold nothing up`() throws {
        #expect(try isForgotten(try delete()))
        #expect(try world.state(other) == .uploaded)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `a deletion is on record until what was in hand has ended, and no longer because of what began later`(
        isKilled: Bool
    ) throws {
        let claim = try beginUpload()
        let key = try delete()
        #expect(try !isForgotten(key))
        // Another one that ends meanwhile changes nothing.
        try world.ledger.endDeletions([], at: world.now)
        #expect(try !isForgotten(key))
        if isKilled {
            try world.ledger.recoverInterrupted(at: world.now)
        } else {
            try world.ledger.commit(claim, outcome: world.stored(claim), at: world.now)
        }
        let later = try beginUpload()
        #expect(later.photoID == claim.photoID && later.attemptID > claim.attemptID)
        try world.ledger.endDeletions([], at: world.now)
        #expect(try isForgotten(key))
        #expect(try world.ledger.check() == [])
    }

    @Test func `what was in hand does not count where it has seen the object, and what began later does`() throws {
        let stamp = try #require(world.disk[path])
        let key = try World.key(of: stamp)
        let record = try #require(try world.ledger.object(key))
        let claim = try beginUpload()
        #expect(try delete() == key)
        try world.ledger.commit(claim, outcome: .uploaded(World.digest(of: stamp), record), at: world.now)
        #expect(try world.state(other) == .pending)
        #expect(try world.ledger.object(key) == nil)
        world.now += 60
        let later = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(later, outcome: .uploaded(World.digest(of: stamp), record), at: world.now)
        #expect(try world.state(other) == .uploaded)
        #expect(try world.ledger.object(key)?.problem == nil)
        #expect(try world.ledger.check() == [])
    }
}
