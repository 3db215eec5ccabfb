import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ShareDraftTests {
    @Test func `a share and its photos come back as they were drafted`() throws {
        let shares = try ShareLedger()
        let selection = try #require(PhotoSelection("0,2-5"))
        var draft = try shares.draft("ab", selection: selection, quality: .full)
        draft.photos[0].takenAt = CaptureTime(clock: 500_000, offset: 540)
        let id = shares.newID()
        #expect(try shares.ledger.addShare(id, draft, by: shares.me, at: shares.now))
        let share = try shares.share(id)
        #expect(share.id == id)
        #expect(share.folder == ShareLedger.folder)
        #expect(share.selection == selection)
        #expect(share.quality == .full)
        #expect(share.location == "Paris")
        #expect("\(share.startDate) \(share.endDate)" == "2024-06-15 2024-06-22")
        #expect(share.sharedBy == "Ana")
        #expect(share.createdAt == shares.now)
        #expect(share.expiresAt == draft.expiresAt)
        #expect(share.state == .preparing && share.step == .publish)
        #expect(share.photoCount == 2 && share.storedCount == 0)
        #expect(share.link == nil && share.endedAt == nil && share.publishedAt == nil && share.restoreJob == nil)
        let photos = try shares.ledger.sharePhotos(id)
        #expect(photos.map(\.md5) == draft.photos.map(\.md5))
        #expect(photos.map(\.path) == draft.photos.map(\.path))
        #expect(photos.map(\.sourceKey) == draft.photos.map(\.sourceKey))
        #expect(photos.map(\.takenAt) == draft.photos.map(\.takenAt))
        #expect(photos.allSatisfy { $0.copy == nil && $0.failure == nil })
        #expect(try shares.ledger.openShare(of: draft.folder, selection: selection, quality: .full) == share)
        #expect(try shares.ledger.openShare(of: draft.folder, selection: nil, quality: .full) == nil)
        #expect(try shares.ledger.check() == [])
    }

    @Test func `that names are told is known, changed, and in the catalogue`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        #expect(try !shares.share(id).tellsNames)
        for tells in [true, true, false] {
            try shares.publish(id)
            let isNew = try shares.share(id).tellsNames != tells
            #expect(try shares.ledger.reviseShare(id, shares.draft("ab", tellsNames: tells), by: shares.me) == isNew)
            #expect(try shares.share(id).tellsNames == tells)
            let line = try #require(
                try shares.ledger.catalogState().compactMap { line in
                    if case .share(let share) = line { share } else { CatalogShare?.none }
                }.first)
            #expect(line.names == (tells ? true : nil))
            let other = try Ledger.inMemory()
            var state = CatalogState()
            state.shares = [line]
            try other.noteCatalog(state, in: [:], at: shares.now)
            #expect(try other.share(id)?.tellsNames == tells)
        }
    }

    @Test func `a capture time that is known better is a change, and a lost offset is none`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        try shares.publish(id)
        for (offset, isChanged) in [(nil, true), (540, true), (540, false), (nil, false)] as [(Int?, Bool)] {
            try shares.publish(id)
            var draft = try shares.draft("ab")
            draft.photos[1].takenAt = CaptureTime(clock: 500_000, offset: offset)
            #expect(try shares.ledger.reviseShare(id, draft, by: shares.me) == isChanged)
        }
        #expect(try shares.ledger.sharePhotos(id).map { $0.takenAt?.offset } == [nil, 540])
    }

    @Test func `the same is shared once, whichever process asks`() throws {
        let shares = try ShareLedger()
        _ = try shares.add("ab")
        #expect(try !shares.ledger.addShare(shares.newID(), shares.draft("ab"), by: shares.other, at: shares.now))
        #expect(
            try shares.ledger.addShare(
                shares.newID(), shares.draft("ab", quality: .full), by: shares.other, at: shares.now))
        #expect(
            try shares.ledger.addShare(
                shares.newID(), shares.draft("a", selection: PhotoSelection("0")), by: shares.other, at: shares.now))
        #expect(try shares.ledger.unendedShares().count == 3)
    }

    @Test func `what has ended is in nobody's way`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        #expect(try shares.ledger.endShare(id, .expired))
        #expect(try shares.ledger.addShare(shares.newID(), shares.draft("ab"), by: shares.me, at: shares.now))
    }

    /// Slots are never used twice; a photo that comes back before its objects are gone gets its own.
    @Test(arguments: [
        ("ab", "ab", "a0 b1", false),
        ("ab", "ba", "b1 a0", true),
        ("ab", "abc", "a0 b1 c2", true),
        ("ab", "cab", "c2 a0 b1", true),
        ("ab", "ac", "a0 c2 | b1", true),
        ("abc", "b", "b1 | a0 c2", true),
        ("ab", "cd", "c2 d3 | a0 b1", true),
    ])
    func `photos that stay keep their slot`(before: String, after: String, expected: String, isChanged: Bool) throws {
        let shares = try ShareLedger()
        let id = try shares.add(before)
        try shares.publish(id)
        #expect(try shares.ledger.reviseShare(id, shares.draft(after), by: shares.me) == isChanged)
        #expect(try shares.photos(id) == expected)
        #expect(try shares.share(id).step == (isChanged ? .publish : .done))
        #expect(try shares.share(id).state == .live)
        _ = try shares.ledger.reviseShare(id, shares.draft(before), by: shares.me)
        #expect(
            try shares.photos(id).hasPrefix(
                before.enumerated().map { "\($0.element)\($0.offset)" }.joined(separator: " ")))
    }

    @Test func `a slot whose photo is gone is not given to another`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        try shares.publish(id)
        _ = try shares.ledger.reviseShare(id, shares.draft("a"), by: shares.me)
        try shares.publish(id)
        #expect(try shares.share(id).step == .clean)
        try shares.ledger.noteShareCleaned(id, by: shares.me)
        #expect(try shares.photos(id) == "a0")
        #expect(try shares.share(id).step == .done)
        _ = try shares.ledger.reviseShare(id, shares.draft("ab"), by: shares.me)
        #expect(try shares.photos(id) == "a0 b2")
    }

    @Test func `other words or another end are published anew`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("ab")
        try shares.publish(id)
        #expect(try shares.ledger.reviseShare(id, shares.draft("ab", location: "Roma"), by: shares.me) == true)
        try shares.publish(id)
        #expect(try shares.ledger.reviseShare(id, shares.draft("ab", location: "Roma"), by: shares.me) == false)
        var draft = try shares.draft("ab", location: "Roma")
        draft.sharedBy = nil
        #expect(try shares.ledger.reviseShare(id, draft, by: shares.me) == true)
        try shares.publish(id)
        draft.expiresAt += 5
        #expect(try shares.ledger.reviseShare(id, draft, by: shares.me) == true)
        #expect(try shares.share(id).sharedBy == nil)
        #expect(try shares.share(id).expiresAt == draft.expiresAt)
    }

    @Test func `a failure that may pass is tried again, one that stays is not`() throws {
        let shares = try ShareLedger()
        let id = try shares.add("abc")
        for (slot, isFinal) in [(0, false), (1, true)] {
            let outcome = SharePhotoOutcome.failed("it is damaged", isFinal: isFinal)
            #expect(try shares.ledger.noteSharePhoto(slot, of: id, outcome, by: shares.me, at: shares.now))
        }
        #expect(try shares.share(id).photoCount == 1)
        let before = try shares.ledger.sharePhotos(id).map(\.failure)
        #expect(before == ["it is damaged", "it is damaged", nil])
        #expect(try shares.ledger.reviseShare(id, shares.draft("abc"), by: shares.me) == true)
        #expect(try shares.ledger.sharePhotos(id).map(\.failure) == [nil, "it is damaged", nil])
    }

    @Test func `the name of whoever shares is remembered`() throws {
        let shares = try ShareLedger()
        #expect(try shares.ledger.sharer() == nil)
        try shares.ledger.rememberSharer("Ana")
        try shares.ledger.rememberSharer("Bo")
        #expect(try shares.ledger.sharer() == "Bo")
    }
}
