import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// What a copy has not of its photo is known as long as the copy.
@Suite struct CopyNoteTests {
    @Test func `what a copy leaves out, and what is to be known of it, is told with its photo`() throws {
        let world = try World()
        world.write("/pictures/gallery/a.jpg")
        world.write("/pictures/gallery/b.jpg")
        try world.scan()
        for claim in try world.ledger.claim(limit: .max, at: world.now) {
            guard case .uploaded(let digest, var object) = try world.stored(claim) else { continue }
            if claim.relativePath == "a.jpg" {
                object.dropped = [.xmp, .motion]
                object.note = "stored as it is"
            }
            try world.ledger.commit(claim, outcome: .uploaded(digest, object), at: world.now)
        }
        let (first, second) = (
            try #require(try world.status("/pictures/gallery/a.jpg")),
            try #require(try world.status("/pictures/gallery/b.jpg"))
        )
        #expect(first.dropped == [.xmp, .motion] && first.note == "stored as it is")
        #expect(second.dropped == [] && second.note == nil)
    }

    @Test func `a copy that is stored anew tells what that one leaves out`() throws {
        let world = try World()
        world.write("/pictures/gallery/a.jpg")
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        guard case .uploaded(let digest, var object) = try world.stored(claim) else { return }
        object.dropped = [.gainMap]
        try world.ledger.commit(claim, outcome: .uploaded(digest, object), at: world.now)
        #expect(try world.ledger.object(object.key)?.dropped == [.gainMap])
        try world.ledger.markBroken([BrokenObject(object, .missing)], at: world.now)
        try world.storeAll()
        #expect(try world.ledger.object(object.key)?.dropped == [])
    }
}
