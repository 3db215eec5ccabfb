import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct QueueTests {
    private func names(_ claims: [Claim]) -> [String] {
        claims.compactMap { $0.file.lastComponent?.string }
    }

    /// Sights files one second apart.
    private func queue(_ files: [FilePath]) throws -> World {
        let world = try World()
        for file in files {
            world.write(file)
            try world.scan()
            world.now += 1
        }
        return world
    }

    @Test func `the oldest come first, whatever folder they are in, and none comes twice`() throws {
        let world = try queue([
            "/pictures/trips/rome/1.jpg", "/pictures/gallery/2.jpg", "/pictures/projects/3.jpg",
            "/pictures/gallery/4.jpg",
        ])
        #expect(try world.ledger.nextTry(at: world.now) == .distantPast)
        #expect(try names(world.ledger.claim(limit: 3, at: world.now)) == ["1.jpg", "2.jpg", "3.jpg"])
        #expect(try names(world.ledger.claim(limit: 3, at: world.now)) == ["4.jpg"])
        #expect(try world.ledger.claim(limit: 3, at: world.now).isEmpty)
        #expect(try world.ledger.nextTry(at: world.now) == nil)
    }

    @Test func `large files can be left in the queue, and do not count as due then`() throws {
        let world = try queue(["/pictures/gallery/1.mp4", "/pictures/trips/rome/2.jpg"])
        let size = try #require(world.disk["/pictures/gallery/1.mp4"]).size
        #expect(try world.ledger.claim(limit: 3, upTo: size - 1, at: world.now).isEmpty)
        #expect(try world.ledger.nextTry(upTo: size - 1, at: world.now) == nil)
        #expect(try world.ledger.nextTry(upTo: size, at: world.now) == .distantPast)
        #expect(try names(world.ledger.claim(limit: 3, upTo: size, at: world.now)) == ["1.mp4", "2.jpg"])
    }

    private func photo(_ next: NextClaim) -> Claim? {
        if case .photos(let claims) = next, claims.count == 1 { claims[0] } else { nil }
    }

    @Test func `the next claim is the photo that has been due the longest, or tells when one is`() throws {
        let world = try queue(["/pictures/trips/rome/1.jpg", "/pictures/gallery/2.mp4"])
        let first = try #require(photo(try world.ledger.claimNext(at: world.now)))
        #expect(names([first]) == ["1.jpg"])
        #expect(try world.ledger.attempts(of: first.photoID).count == 1)
        let size = try #require(world.disk["/pictures/gallery/2.mp4"]).size
        #expect(try world.ledger.claimNext(upTo: size - 1, at: world.now) == .nothing(until: nil))
        let second = try #require(photo(try world.ledger.claimNext(isExpected: false, at: world.now)))
        #expect(names([second]) == ["2.mp4"])

        let until = world.now + 30
        try world.ledger.commit(first, outcome: .postponed("away", until: until), at: world.now)
        for isExpected in [true, false] {
            let next = try world.ledger.claimNext(isExpected: isExpected, at: world.now)
            #expect(next == .nothing(until: until))
        }
        let again = try #require(photo(try world.ledger.claimNext(isExpected: false, at: until)))
        #expect(again.photoID == first.photoID && again.attempts == 2)
        #expect(try world.ledger.claimNext(at: until) == .nothing(until: nil))
    }

    @Test func `a photo is tried in vain since the first attempt that failed, behind one that did not`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        func end(_ outcome: (Date) -> Outcome) throws {
            world.now += 60
            let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
            try world.ledger.commit(claim, outcome: outcome(world.now), at: world.now)
        }
        func since() throws -> Date? {
            try world.ledger.triedSince(try #require(try world.ledger.delayedPhotos(limit: 1).first))
        }
        try end { _ in .released }
        try end { .postponed("away", until: $0) }
        let first = world.now
        try end { _ in .released }
        try end { .postponed("away", until: $0) }
        #expect(try since() == first)
        try end { _ in .failed("it is cut", nil) }
        _ = try world.ledger.retry(nil as [Int64]?)
        try end { .postponed("away", until: $0) }
        #expect(try since() == world.now)
    }

    @Test func `small files are claimed together, in their order, and a large one by itself`() throws {
        let world = try World()
        for (name, size) in [("1.jpg", 300), ("2.jpg", 200), ("3.jpg", 5_000), ("4.jpg", 100), ("5.jpg", 412)] {
            world.write(FilePath("/pictures/gallery/\(name)"), size: Int64(size) << 10)
            try world.scan()
            world.now += 1
        }
        func next(_ group: ClaimGroup) throws -> [String] {
            guard case .photos(let claims) = try world.ledger.claimNext(group, at: world.now) else { return [] }
            return names(claims)
        }
        #expect(try next(.ofOne) == ["1.jpg"])
        #expect(try next(.ofSmall) == ["2.jpg"])
        #expect(try next(.ofSmall) == ["3.jpg"])
        #expect(try next(.ofSmall) == ["4.jpg", "5.jpg"])
        #expect(try next(.ofSmall) == [])
        for name in 10..<100 { world.write(FilePath("/pictures/gallery/\(name).jpg")) }
        try world.scan()
        #expect(try next(.ofSmall).count == 64)
        #expect(try next(.ofSmall).count == 26)
    }

    @Test func `a claim tells all that the work needs`() throws {
        let world = try queue(["/pictures/gallery/2026/a.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        #expect(claim.file == "/pictures/gallery/2026/a.jpg")
        #expect(claim.relativePath == "2026/a.jpg")
        #expect(claim.folder == world.folders[0])
        #expect(claim.stamp == world.disk["/pictures/gallery/2026/a.jpg"])
        #expect(claim.attempts == 1)
    }

    @Test func `a postponed photo waits for its time, and then its turn`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        let until = world.now + 30
        try world.ledger.commit(claim, outcome: .postponed("the store is away", until: until), at: world.now)
        #expect(try world.ledger.nextTry(at: world.now) == until)
        #expect(try world.ledger.claim(limit: 1, at: until - 0.001).isEmpty)
        let status = try #require(try world.status("/pictures/gallery/1.jpg"))
        #expect(status.nextTry == until)
        #expect(status.why == "the store is away")

        world.now = until - 5
        world.write("/pictures/gallery/2.jpg")
        try world.scan()
        let claims = try world.ledger.claim(limit: 2, at: until)
        #expect(names(claims) == ["2.jpg", "1.jpg"])
        #expect(claims.map(\.attempts) == [1, 2])
    }

    @Test func `a photo that was never tried is due even when the clock was set back`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        #expect(try world.ledger.claim(limit: 1, at: Date(timeIntervalSince1970: 0)).count == 1)
    }

    @Test func `what is pending can be made due at once`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(claim, outcome: .postponed("away", until: .distantFuture), at: world.now)
        #expect(try world.ledger.claim(limit: 1, at: world.now).isEmpty)
        try world.ledger.makeAllDue(at: world.now)
        #expect(try world.ledger.claim(limit: 1, at: world.now).map(\.attempts) == [2])
    }

    @Test func `a next try that is ten years away was noted by a wrong clock, and is due`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg"])
        let wrong = world.now.addingTimeInterval(10 * 365 * 86_400)
        let claim = try #require(try world.ledger.claim(limit: 1, at: wrong).first)
        try world.ledger.commit(claim, outcome: .postponed("away", until: wrong + 30), at: wrong)
        #expect(try world.ledger.nextTry(at: world.now) == .distantPast)
        #expect(try names(world.ledger.claim(limit: 2, at: world.now)) == ["2.jpg", "1.jpg"])
    }

    @Test func `no photo waits for more than a day, and one that does is not astray`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(claim, outcome: .waits("its project", until: .distantFuture), at: world.now)
        #expect(try world.ledger.claim(limit: 1, at: world.now).isEmpty)
        #expect(try world.ledger.nextTry(at: world.now) == world.now + 86_400)
        #expect(try world.ledger.claim(limit: 1, at: world.now + 86_400).count == 1)
    }

    @Test func `what was tried least comes first when all is made due, behind what was never tried`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg"])
        for (count, name) in [(3, "1.jpg"), (1, "2.jpg")] {
            for _ in 0..<count {
                let claims = try world.ledger.claim(limit: 2, at: world.now)
                for claim in claims {
                    let isMeant = names([claim]) == [name]
                    try world.ledger.commit(
                        claim, outcome: isMeant ? .postponed("refused", until: world.now) : .released, at: world.now)
                }
            }
        }
        world.write("/pictures/gallery/3.jpg")
        try world.scan()
        world.now += 60
        try world.ledger.makeAllDue(at: world.now)
        #expect(try names(world.ledger.claim(limit: 3, at: world.now)) == ["3.jpg", "2.jpg", "1.jpg"])
    }

    @Test func `a postponement that is taken back counts no attempt, and the photo is due`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(claim, outcome: .postponed("refused", until: world.now + 60), at: world.now)
        try world.ledger.pardon([claim], at: world.now)
        // Behind those that were not tried yet.
        #expect(try world.ledger.claim(limit: 1, at: world.now).isEmpty)
        #expect(try world.ledger.claim(limit: 1, at: world.now + 0.001).map(\.attempts) == [1])
    }

    @Test func `people can have tried again what failed and what waits, all of it or some`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg", "/pictures/trips/3.jpg"])
        let claims = try world.ledger.claim(limit: 3, at: world.now)
        try world.ledger.commit(claims[0], outcome: .failed("broken", nil), at: world.now)
        for claim in claims.dropFirst() {
            try world.ledger.commit(claim, outcome: .postponed("refused", until: world.now + 60), at: world.now)
        }
        #expect(try world.ledger.retriesAsked() == 0)
        let some = try world.ledger.retry([claims[0].photoID])
        #expect(some == RetriedPhotos(failed: 1))
        #expect(try names(world.ledger.claim(limit: 3, at: world.now)) == ["1.jpg"])
        #expect(try world.ledger.retry(nil as [Int64]?) == RetriedPhotos(waiting: 2))
        #expect(try world.ledger.retriesAsked() == 2)
        #expect(try world.ledger.claim(limit: 3, at: world.now).map(\.attempts) == [1, 1])
        #expect(try world.ledger.retry(nil as [Int64]?) == RetriedPhotos())
    }

    @Test func `a released photo is back in its place, and the attempt does not count`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg"])
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(claim, outcome: .released, at: world.now)
        let claims = try world.ledger.claim(limit: 2, at: world.now)
        #expect(names(claims) == ["1.jpg", "2.jpg"])
        #expect(claims.map(\.attempts) == [1, 1])
    }

    @Test func `a folder that is not configured has no turn, and goes on when it is again`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/trips/2.jpg"])
        try world.register([World.trips])
        #expect(try names(world.ledger.claim(limit: 9, at: world.now)) == ["2.jpg"])
        #expect(try world.ledger.nextTry(at: world.now) == nil)
        try world.register([World.gallery, World.trips])
        #expect(try names(world.ledger.claim(limit: 9, at: world.now)) == ["1.jpg"])
    }

    @Test func `what a dead agent had in hand queues again, behind the others`() throws {
        let world = try queue(["/pictures/gallery/1.jpg", "/pictures/gallery/2.jpg", "/pictures/gallery/3.jpg"])
        let dead = try world.ledger.claim(limit: 1, at: world.now)
        world.now += 1
        #expect(try world.ledger.recoverInterrupted(at: world.now) == 1)
        #expect(try world.ledger.recoverInterrupted(at: world.now) == 0)
        let claims = try world.ledger.claim(limit: 3, at: world.now)
        #expect(names(claims) == ["2.jpg", "3.jpg", "1.jpg"])
        #expect(claims.map(\.attempts) == [1, 1, 2])
        let history = try world.ledger.attempts(of: dead[0].photoID)
        #expect(history.map(\.outcome) == ["interrupted", nil])
    }

    @Test func `a late commit of a claim that was given back only tells what is stored`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        let late = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.recoverInterrupted(at: world.now)
        let outcome = try world.stored(late)
        try world.ledger.commit(late, outcome: outcome, at: world.now)
        #expect(try world.state("/pictures/gallery/1.jpg") == .pending)
        guard case .uploaded(_, let object) = outcome else { return #expect(Bool(false)) }
        #expect(try world.ledger.object(object.key) == object)
        try world.ledger.commit(late, outcome: .failed("late", nil), at: world.now)
        #expect(try world.state("/pictures/gallery/1.jpg") == .pending)
    }

    @Test func `the last ten attempts are remembered`() throws {
        let world = try queue(["/pictures/gallery/1.jpg"])
        var id: Int64 = 0
        for attempt in 1...13 {
            let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
            id = claim.photoID
            try world.ledger.commit(claim, outcome: .postponed("no. \(attempt)", until: world.now), at: world.now)
        }
        #expect(try world.ledger.attempts(of: id).map(\.error) == (4...13).map { "no. \($0)" })
    }
}
