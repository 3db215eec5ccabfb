import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Photos that may have ended the agent.
@Suite struct SuspectTests {
    private let world: World

    init() throws {
        world = try World()
        for name: FilePath in ["1.jpg", "2.jpg", "3.jpg"] { world.write(World.gallery.path.pushing(name)) }
        try world.scan()
    }

    /// An agent that ends uncleanly with this photo in hand.
    private func end(holding name: String, isDecoding: Bool) throws {
        var others: [Claim] = []
        while let claim = try world.ledger.claim(limit: 1, at: world.now).first {
            guard claim.file.lastComponent?.string == name else {
                others.append(claim)
                continue
            }
            for other in others { try world.ledger.commit(other, outcome: .released, at: world.now) }
            struct End: Error {}
            // What a process that is killed leaves behind: the note, and nobody who takes it back.
            try? world.ledger.whileDecoding(claim) {
                if isDecoding { try world.ledger.recoverInterrupted(at: world.now) }
                throw End()
            }
            if !isDecoding { try world.ledger.recoverInterrupted(at: world.now) }
            return
        }
        Issue.record("\(name) is not due")
    }

    @Test func `a photo that was in hand at two unclean ends is set aside, and its neighbours go on`() throws {
        try end(holding: "2.jpg", isDecoding: true)
        #expect(try world.state("/pictures/gallery/2.jpg") == .pending)
        try end(holding: "2.jpg", isDecoding: true)
        let status = try #require(try world.status("/pictures/gallery/2.jpg"))
        #expect(status.state == .failed)
        #expect(status.why?.contains("ended twice while it had this photo in hand") == true)
        let others = try world.ledger.claim(limit: 9, at: world.now).compactMap(\.file.lastComponent?.string)
        #expect(others.sorted() == ["1.jpg", "3.jpg"])
    }

    @Test func `what was only being sent when the agent ended is not set aside, however often`() throws {
        for _ in 1...5 {
            try end(holding: "2.jpg", isDecoding: false)
            #expect(try world.state("/pictures/gallery/2.jpg") == .pending)
        }
    }

    @Test func `a suspect whose thread was given up while it was decoded is not set aside for that`() throws {
        try end(holding: "2.jpg", isDecoding: true)
        let claims = try world.ledger.claim(limit: 9, at: world.now)
        let found = claims.first(where: \.isSuspect)
        let suspect = try #require(found)
        try world.ledger.whileDecoding(suspect) {
            // Somebody else answers for it. It is in hand once more, and decoded by nobody, when the agent is killed.
            try world.ledger.commit(suspect, outcome: .released, at: world.now)
            let again = try world.ledger.claim(limit: 9, at: world.now)
            #expect(again.map(\.isSuspect) == [true])
            try world.ledger.recoverInterrupted(at: world.now)
        }
        #expect(try world.state("/pictures/gallery/2.jpg") == .pending)
    }

    @Test func `a photo that changes, is stored or tried again by people is suspected no more`() throws {
        try end(holding: "2.jpg", isDecoding: true)
        world.write("/pictures/gallery/2.jpg")
        try world.scan()
        try end(holding: "2.jpg", isDecoding: true)
        #expect(try world.state("/pictures/gallery/2.jpg") == .pending)
        _ = try world.ledger.retry(nil as [Int64]?)
        #expect(try world.ledger.claim(limit: 9, at: world.now).allSatisfy { !$0.isSuspect })
    }

    @Test func `only suspects are noted while they are decoded`() throws {
        let claims = try world.ledger.claim(limit: 9, at: world.now)
        #expect(claims.allSatisfy { !$0.isSuspect })
        try world.ledger.recoverInterrupted(at: world.now)
        let again = try world.ledger.claim(limit: 9, at: world.now)
        #expect(again.count == 3 && again.allSatisfy(\.isSuspect))
        for claim in again {
            try world.ledger.commit(claim, outcome: try world.stored(claim), at: world.now)
            #expect(try world.state(claim.file) == .uploaded)
        }
    }
}
