import FoundationEssentials
import SyncCore
import SyncLedger
import Testing

@Suite struct ShareProgressTests {
    @Test func `a share is in one pair of hands, until they let go or are not heard of`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        #expect(try shares.ledger.claimShare(id, by: shares.other, at: shares.now) == nil)
        let lapse = Ledger.shareClaimSeconds
        #expect(try shares.ledger.claimShare(id, by: shares.me, at: shares.now + 5) != nil)
        #expect(try shares.ledger.claimShare(id, by: shares.other, at: shares.now + lapse + 4) == nil)
        #expect(try shares.ledger.claimShare(id, by: shares.other, at: shares.now + lapse + 5) != nil)
        let later = shares.now + lapse + 6
        #expect(try shares.ledger.claimShare(id, by: shares.me, at: later) == nil)
        try shares.ledger.releaseShare(id, by: shares.me)
        #expect(try shares.ledger.claimShare(id, by: shares.me, at: later) == nil)
        try shares.ledger.releaseShare(id, by: shares.other)
        #expect(try shares.ledger.claimShare(id, by: shares.me, at: later) != nil)
        #expect(try shares.ledger.claimShare(shares.newID(), by: shares.me, at: shares.now) == nil)
    }

    @Test func `a claim from before the clock was set back holds nobody up`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        #expect(try shares.ledger.claimShare(id, by: shares.other, at: shares.now - 3_600) != nil)
    }

    /// A claim that is free again proves nothing: another may have had the share in between, and ended it.
    @Test func `what was let go or taken is not kept by renewing it`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        #expect(try shares.ledger.renewShare(id, by: shares.me, at: shares.now + 5) == .preparing)
        #expect(
            try shares.ledger.claimShare(id, by: shares.other, at: shares.now + Ledger.shareClaimSeconds + 1) == nil)
        #expect(try shares.ledger.renewShare(id, by: shares.other, at: shares.now + 6) == nil)
        try shares.ledger.endShare(id, .revoked)
        #expect(try shares.ledger.renewShare(id, by: shares.me, at: shares.now + 7) == .revoking)
        try shares.ledger.releaseShare(id, by: shares.me)
        #expect(try shares.ledger.renewShare(id, by: shares.me, at: shares.now + 8) == nil)
    }

    @Test func `a share is done only when all of its photos are stored or cannot be`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        let link = StoreLink(url: "https://x.test", endsAt: shares.now)
        func publish() throws -> ShareStep {
            #expect(
                try shares.ledger.noteSharePublished(id, link: link, linksEndAt: nil, by: shares.me, at: shares.now))
            return try shares.share(id).step
        }
        #expect(
            try shares.ledger.noteSharePhoto(
                0, of: id, .stored(ShareLedger.copy, takenAt: nil), by: shares.me, at: shares.now))
        #expect(try publish() == .publish)
        #expect(
            try shares.ledger.noteSharePhoto(1, of: id, .failed("no", isFinal: true), by: shares.me, at: shares.now))
        #expect(try publish() == .done)
        try shares.ledger.noteShareOverwritten(id)
        #expect(try shares.share(id).step == .publish)
    }

    @Test func `shares that ended are found for a while`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        try shares.ledger.endShare(id, .expired)
        #expect(try shares.ledger.shares(endedAfter: shares.now - 100).isEmpty)
        #expect(try shares.ledger.noteShareEnded(id, by: shares.me, at: shares.now))
        #expect(try shares.ledger.shares(endedAfter: shares.now - 100).map(\.id) == [id])
        #expect(try shares.ledger.shares(endedAfter: shares.now).isEmpty)
    }

    /// Whoever comes back from a long sleep finds that it is somebody else's by now.
    @Test func `nothing is noted by those who do not hold the share`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        let copy = try ShareLedger.copy
        let link = StoreLink(url: "https://x.test", endsAt: shares.now)
        let (ledger, other, now) = (shares.ledger, shares.other, shares.now)
        #expect(try !ledger.noteSharePhoto(0, of: id, .stored(copy, takenAt: nil), by: other, at: now))
        #expect(try !ledger.noteSharePublished(id, link: link, linksEndAt: nil, by: other, at: now))
        #expect(try ledger.reviseShare(id, shares.draft("c"), by: other) == nil)
        try ledger.noteShareProblem("no", waits: true, of: id, by: other)
        try ledger.endShare(id, .revoked)
        #expect(try !ledger.noteShareEnded(id, by: other, at: now))
        let share = try shares.share(id)
        #expect(share.storedCount == 0 && share.state == .revoking && share.problem == nil && share.link == nil)
        #expect(try shares.photos(id) == "a0 b1")
    }

    @Test func `what was stored counts, and keeps the capture time that it brought`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        let taken = CaptureTime(clock: 777_000, offset: -420)
        #expect(
            try shares.ledger.noteSharePhoto(
                1, of: id, .stored(ShareLedger.copy, takenAt: taken), by: shares.me, at: shares.now))
        #expect(try shares.share(id).storedCount == 1)
        let photo = try shares.ledger.sharePhotos(id)[1]
        #expect(try photo.copy == ShareLedger.copy)
        #expect(photo.takenAt == taken)
        // The stored copy that it is made of next may tell the same clock without its offset.
        #expect(
            try shares.ledger.noteSharePhoto(
                1, of: id, .stored(ShareLedger.copy, takenAt: CaptureTime(clock: 777_000, offset: nil)), by: shares.me,
                at: shares.now))
        #expect(try shares.ledger.sharePhotos(id)[1].takenAt == taken)
    }

    @Test func `a share that waits goes on, and is live once it is published`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        try shares.ledger.noteShareProblem("2 photos are archived", waits: true, of: id, by: shares.me)
        #expect(try shares.share(id).state == .waiting)
        #expect(try shares.share(id).problem == "2 photos are archived")
        try shares.publish(id)
        let share = try shares.share(id)
        #expect(share.state == .live && share.step == .done && share.problem == nil)
        #expect(share.link == StoreLink(url: "https://x.test/\(id)", endsAt: shares.now + 500))
        #expect(share.linksEndAt == shares.now + 400)
        #expect(share.publishedAt == shares.now && share.pageWrittenAt == shares.now)
        #expect(try shares.ledger.unendedShares().filter { $0.state == .live }.map(\.folder) == [ShareLedger.folder])
    }

    @Test func `new links change when it was written, not when it changed`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        try shares.publish(id)
        let first = shares.now
        shares.now += 100
        try shares.publish(id)
        #expect(try shares.share(id).publishedAt == first)
        #expect(try shares.share(id).pageWrittenAt == shares.now)
    }

    /// A live share that meets a failure stays live: what others see is still there.
    @Test func `a live share stays live while it is brought up to date`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        try shares.publish(id)
        _ = try shares.ledger.reviseShare(id, shares.draft("ab"), by: shares.me)
        try shares.ledger.noteShareProblem("archived", waits: true, of: id, by: shares.me)
        #expect(try shares.share(id).state == .live)
        #expect(try shares.share(id).step == .publish)
    }

    @Test(arguments: [(ShareEnd.revoked, ShareState.revoking, ShareState.revoked), (.expired, .expiring, .expired)])
    func `a share is gone only when that is proven`(end: ShareEnd, during: ShareState, after: ShareState) throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        try shares.publish(id)
        #expect(try shares.ledger.endShare(id, end))
        #expect(try !shares.ledger.endShare(id, .revoked))
        #expect(try shares.share(id).state == during)
        #expect(try !shares.ledger.unendedShares().contains { $0.state == .live })
        #expect(
            try !shares.ledger.noteSharePhoto(0, of: id, .failed("x", isFinal: false), by: shares.me, at: shares.now))
        #expect(
            try !shares.ledger.noteSharePublished(
                id, link: StoreLink(url: "x", endsAt: shares.now), linksEndAt: nil, by: shares.me, at: shares.now))
        try shares.ledger.noteShareUnended("the store says no", of: id, by: shares.me)
        #expect(try shares.share(id).problem == "the store says no")
        #expect(try shares.ledger.unendedShares().map(\.id) == [id])
        #expect(try shares.ledger.noteShareEnded(id, by: shares.me, at: shares.now + 5))
        let share = try shares.share(id)
        #expect(share.state == after && share.endedAt == shares.now + 5 && share.link == nil && share.problem == nil)
        #expect(share.photoCount == 2)
        #expect(try shares.ledger.unendedShares().isEmpty)
        #expect(try shares.ledger.shares(limit: 5).map(\.id) == [id])
        #expect(try shares.ledger.check() == [])
    }

    @Test func `the newest share comes first, and an older one is listed until nothing of it is left`() throws {
        let shares = try ShareLedger()
        let first = try shares.add("a")
        try shares.ledger.endShare(first, .revoked)
        let second = try shares.add("b")
        #expect(try shares.ledger.shares(limit: 5).map(\.id) == [second, first])
        #expect(try shares.ledger.shares(limit: 1).map(\.id) == [second, first])
        #expect(try shares.ledger.unendedShares().map(\.id) == [first, second])
        #expect(try shares.ledger.noteShareEnded(first, by: shares.me, at: shares.now))
        #expect(try shares.ledger.shares(limit: 5).map(\.id) == [second, first])
        #expect(try shares.ledger.shares(limit: 1).map(\.id) == [second])
    }

    @Test func `what is to be published anew while the rest is cleared away still is`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("a")
        try shares.publish(id)
        try shares.ledger.noteShareOverwritten(id)
        try shares.ledger.noteShareCleaned(id, by: shares.me)
        #expect(try shares.share(id).step == .publish)
    }
}
