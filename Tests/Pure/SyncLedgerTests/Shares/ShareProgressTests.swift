import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

@Suite struct ShareProgressTests {
    @Test func `a share is in one pair of hands, until they let go or are not heard of`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        #expect(try shelf.ledger.claimShare(id, by: shelf.other, at: shelf.now) == nil)
        let lapse = Ledger.shareClaimSeconds
        #expect(try shelf.ledger.claimShare(id, by: shelf.me, at: shelf.now + 5) != nil)
        #expect(try shelf.ledger.claimShare(id, by: shelf.other, at: shelf.now + lapse + 4) == nil)
        #expect(try shelf.ledger.claimShare(id, by: shelf.other, at: shelf.now + lapse + 5) != nil)
        let later = shelf.now + lapse + 6
        #expect(try shelf.ledger.claimShare(id, by: shelf.me, at: later) == nil)
        try shelf.ledger.releaseShare(id, by: shelf.me)
        #expect(try shelf.ledger.claimShare(id, by: shelf.me, at: later) == nil)
        try shelf.ledger.releaseShare(id, by: shelf.other)
        #expect(try shelf.ledger.claimShare(id, by: shelf.me, at: later) != nil)
        #expect(try shelf.ledger.claimShare(shelf.newID(), by: shelf.me, at: shelf.now) == nil)
    }

    @Test func `a claim from before the clock was set back holds nobody up`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        #expect(try shelf.ledger.claimShare(id, by: shelf.other, at: shelf.now - 3_600) != nil)
    }

    /// A claim that is free again proves nothing: another may have had the share in between, and ended it.
    @Test func `what was let go or taken is not kept by renewing it`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        #expect(try shelf.ledger.renewShare(id, by: shelf.me, at: shelf.now + 5) == .preparing)
        #expect(try shelf.ledger.claimShare(id, by: shelf.other, at: shelf.now + Ledger.shareClaimSeconds + 1) == nil)
        #expect(try shelf.ledger.renewShare(id, by: shelf.other, at: shelf.now + 6) == nil)
        try shelf.ledger.endShare(id, .revoked)
        #expect(try shelf.ledger.renewShare(id, by: shelf.me, at: shelf.now + 7) == .revoking)
        try shelf.ledger.releaseShare(id, by: shelf.me)
        #expect(try shelf.ledger.renewShare(id, by: shelf.me, at: shelf.now + 8) == nil)
    }

    @Test func `a share is done only when all of its photos are stored or cannot be`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        let link = StoreLink(url: "https://x.test", endsAt: shelf.now)
        func publish() throws -> ShareStep {
            #expect(
                try shelf.ledger.noteSharePublished(id, link: link, linksEndAt: nil, by: shelf.me, at: shelf.now))
            return try shelf.share(id).step
        }
        #expect(
            try shelf.ledger.noteSharePhoto(
                0, of: id, .stored(ShareShelf.copy, takenAt: nil), by: shelf.me, at: shelf.now))
        #expect(try publish() == .publish)
        #expect(
            try shelf.ledger.noteSharePhoto(1, of: id, .failed("no", isFinal: true), by: shelf.me, at: shelf.now))
        #expect(try publish() == .done)
        try shelf.ledger.noteShareOverwritten(id)
        #expect(try shelf.share(id).step == .publish)
    }

    @Test func `shares that ended are found for a while`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        try shelf.ledger.endShare(id, .expired)
        #expect(try shelf.ledger.shares(endedAfter: shelf.now - 100).isEmpty)
        #expect(try shelf.ledger.noteShareEnded(id, by: shelf.me, at: shelf.now))
        #expect(try shelf.ledger.shares(endedAfter: shelf.now - 100).map(\.id) == [id])
        #expect(try shelf.ledger.shares(endedAfter: shelf.now).isEmpty)
    }

    /// Whoever comes back from a long sleep finds that it is somebody else's by now.
    @Test func `nothing is noted by those who do not hold the share`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        let copy = try ShareShelf.copy
        let link = StoreLink(url: "https://x.test", endsAt: shelf.now)
        let (ledger, other, now) = (shelf.ledger, shelf.other, shelf.now)
        #expect(try !ledger.noteSharePhoto(0, of: id, .stored(copy, takenAt: nil), by: other, at: now))
        #expect(try !ledger.noteSharePublished(id, link: link, linksEndAt: nil, by: other, at: now))
        #expect(try ledger.reviseShare(id, shelf.draft("c"), by: other) == nil)
        try ledger.noteShareProblem("no", waits: true, of: id, by: other)
        try ledger.endShare(id, .revoked)
        #expect(try !ledger.noteShareEnded(id, by: other, at: now))
        let share = try shelf.share(id)
        #expect(share.storedCount == 0 && share.state == .revoking && share.problem == nil && share.link == nil)
        #expect(try shelf.photos(id) == "a0 b1")
    }

    @Test func `what was stored counts, and keeps the capture time that it brought`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        let taken = CaptureTime(clock: 777_000, offset: -420)
        #expect(
            try shelf.ledger.noteSharePhoto(
                1, of: id, .stored(ShareShelf.copy, takenAt: taken), by: shelf.me, at: shelf.now))
        #expect(try shelf.share(id).storedCount == 1)
        let photo = try shelf.ledger.sharePhotos(id)[1]
        #expect(try photo.copy == ShareShelf.copy)
        #expect(photo.takenAt == taken)
        // The stored copy that it is made of next may tell the same clock without its offset.
        #expect(
            try shelf.ledger.noteSharePhoto(
                1, of: id, .stored(ShareShelf.copy, takenAt: CaptureTime(clock: 777_000, offset: nil)), by: shelf.me,
                at: shelf.now))
        #expect(try shelf.ledger.sharePhotos(id)[1].takenAt == taken)
    }

    @Test func `a share that waits goes on, and is live once it is published`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        try shelf.ledger.noteShareProblem("2 photos are archived", waits: true, of: id, by: shelf.me)
        #expect(try shelf.share(id).state == .waiting)
        #expect(try shelf.share(id).problem == "2 photos are archived")
        try shelf.publish(id)
        let share = try shelf.share(id)
        #expect(share.state == .live && share.step == .done && share.problem == nil)
        #expect(share.link == StoreLink(url: "https://x.test/\(id)", endsAt: shelf.now + 500))
        #expect(share.linksEndAt == shelf.now + 400)
        #expect(share.publishedAt == shelf.now && share.pageWrittenAt == shelf.now)
        #expect(try shelf.ledger.unendedShares().filter { $0.state == .live }.map(\.folder) == [ShareShelf.folder])
    }

    @Test func `new links change when it was written, not when it changed`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        try shelf.publish(id)
        let first = shelf.now
        shelf.now += 100
        try shelf.publish(id)
        #expect(try shelf.share(id).publishedAt == first)
        #expect(try shelf.share(id).pageWrittenAt == shelf.now)
    }

    /// A live share that meets a failure stays live: what others see is still there.
    @Test func `a live share stays live while it is brought up to date`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        try shelf.publish(id)
        _ = try shelf.ledger.reviseShare(id, shelf.draft("ab"), by: shelf.me)
        try shelf.ledger.noteShareProblem("archived", waits: true, of: id, by: shelf.me)
        #expect(try shelf.share(id).state == .live)
        #expect(try shelf.share(id).step == .publish)
    }

    @Test(arguments: [(ShareEnd.revoked, ShareState.revoking, ShareState.revoked), (.expired, .expiring, .expired)])
    func `a share is gone only when that is proven`(end: ShareEnd, during: ShareState, after: ShareState) throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        try shelf.publish(id)
        #expect(try shelf.ledger.endShare(id, end))
        #expect(try !shelf.ledger.endShare(id, .revoked))
        #expect(try shelf.share(id).state == during)
        #expect(try !shelf.ledger.unendedShares().contains { $0.state == .live })
        #expect(try !shelf.ledger.noteSharePhoto(0, of: id, .failed("x", isFinal: false), by: shelf.me, at: shelf.now))
        #expect(
            try !shelf.ledger.noteSharePublished(
                id, link: StoreLink(url: "x", endsAt: shelf.now), linksEndAt: nil, by: shelf.me, at: shelf.now))
        try shelf.ledger.noteShareUnended("the store says no", of: id, by: shelf.me)
        #expect(try shelf.share(id).problem == "the store says no")
        #expect(try shelf.ledger.unendedShares().map(\.id) == [id])
        #expect(try shelf.ledger.noteShareEnded(id, by: shelf.me, at: shelf.now + 5))
        let share = try shelf.share(id)
        #expect(share.state == after && share.endedAt == shelf.now + 5 && share.link == nil && share.problem == nil)
        #expect(share.photoCount == 2)
        #expect(try shelf.ledger.unendedShares().isEmpty)
        #expect(try shelf.ledger.shares(limit: 5).map(\.id) == [id])
        #expect(try shelf.ledger.check() == [])
    }

    @Test func `the newest share comes first, and an older one is listed until nothing of it is left`() throws {
        let shelf = try ShareShelf()
        let first = try shelf.add("a")
        try shelf.ledger.endShare(first, .revoked)
        let second = try shelf.add("b")
        #expect(try shelf.ledger.shares(limit: 5).map(\.id) == [second, first])
        #expect(try shelf.ledger.shares(limit: 1).map(\.id) == [second, first])
        #expect(try shelf.ledger.unendedShares().map(\.id) == [first, second])
        #expect(try shelf.ledger.noteShareEnded(first, by: shelf.me, at: shelf.now))
        #expect(try shelf.ledger.shares(limit: 5).map(\.id) == [second, first])
        #expect(try shelf.ledger.shares(limit: 1).map(\.id) == [second])
    }

    @Test func `what is to be published anew while the rest is cleared away still is`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("a")
        try shelf.publish(id)
        try shelf.ledger.noteShareOverwritten(id)
        try shelf.ledger.noteShareCleaned(id, by: shelf.me)
        #expect(try shelf.share(id).step == .publish)
    }
}
