import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct ShareDraftTests {
    @Test func `a share and its photos come back as they were drafted`() throws {
        let shelf = try ShareShelf()
        let selection = try #require(PhotoSelection("0,2-5"))
        var draft = try shelf.draft("ab", selection: selection, quality: .full)
        draft.photos[0].takenAt = CaptureTime(clock: 500_000, offset: 540)
        let id = shelf.newID()
        #expect(try shelf.ledger.addShare(id, draft, by: shelf.me, at: shelf.now))
        let share = try shelf.share(id)
        #expect(share.id == id)
        #expect(share.folder == ShareShelf.folder)
        #expect(share.selection == selection)
        #expect(share.quality == .full)
        #expect(share.location == "Paris")
        #expect("\(share.startDate) \(share.endDate)" == "2024-06-15 2024-06-22")
        #expect(share.sharedBy == "Ana")
        #expect(share.createdAt == shelf.now)
        #expect(share.expiresAt == draft.expiresAt)
        #expect(share.state == .preparing && share.step == .publish)
        #expect(share.photoCount == 2 && share.storedCount == 0)
        #expect(share.link == nil && share.endedAt == nil && share.publishedAt == nil && share.restoreJob == nil)
        let photos = try shelf.ledger.sharePhotos(id)
        #expect(photos.map(\.md5) == draft.photos.map(\.md5))
        #expect(photos.map(\.path) == draft.photos.map(\.path))
        #expect(photos.map(\.sourceKey) == draft.photos.map(\.sourceKey))
        #expect(photos.map(\.takenAt) == draft.photos.map(\.takenAt))
        #expect(photos.allSatisfy { $0.copy == nil && $0.failure == nil })
        #expect(try shelf.ledger.openShare(of: draft.folder, selection: selection, quality: .full) == share)
        #expect(try shelf.ledger.openShare(of: draft.folder, selection: nil, quality: .full) == nil)
        #expect(try shelf.ledger.check() == [])
    }

    @Test func `that names are told is known, changed, and in the catalogue`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        #expect(try !shelf.share(id).tellsNames)
        for tells in [true, true, false] {
            try shelf.publish(id)
            let isNew = try shelf.share(id).tellsNames != tells
            #expect(try shelf.ledger.reviseShare(id, shelf.draft("ab", tellsNames: tells), by: shelf.me) == isNew)
            #expect(try shelf.share(id).tellsNames == tells)
            let line = try #require(
                try shelf.ledger.catalogState().compactMap { line in
                    if case .share(let share) = line { share } else { CatalogShare?.none }
                }.first)
            #expect(line.names == (tells ? true : nil))
            let other = try Ledger.inMemory()
            var state = CatalogState()
            state.shares = [line]
            try other.noteCatalog(state, in: [:], at: shelf.now)
            #expect(try other.share(id)?.tellsNames == tells)
        }
    }

    @Test func `a capture time that is known better is a change, and a lost offset is none`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        try shelf.publish(id)
        for (offset, isChanged) in [(nil, true), (540, true), (540, false), (nil, false)] as [(Int?, Bool)] {
            try shelf.publish(id)
            var draft = try shelf.draft("ab")
            draft.photos[1].takenAt = CaptureTime(clock: 500_000, offset: offset)
            #expect(try shelf.ledger.reviseShare(id, draft, by: shelf.me) == isChanged)
        }
        #expect(try shelf.ledger.sharePhotos(id).map { $0.takenAt?.offset } == [nil, 540])
    }

    @Test func `the same is shared once, whichever process asks`() throws {
        let shelf = try ShareShelf()
        _ = try shelf.add("ab")
        #expect(try !shelf.ledger.addShare(shelf.newID(), shelf.draft("ab"), by: shelf.other, at: shelf.now))
        #expect(
            try shelf.ledger.addShare(shelf.newID(), shelf.draft("ab", quality: .full), by: shelf.other, at: shelf.now))
        #expect(
            try shelf.ledger.addShare(
                shelf.newID(), shelf.draft("a", selection: PhotoSelection("0")), by: shelf.other, at: shelf.now))
        #expect(try shelf.ledger.unendedShares().count == 3)
    }

    @Test func `what has ended is in nobody's way`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        #expect(try shelf.ledger.endShare(id, .expired))
        #expect(try shelf.ledger.addShare(shelf.newID(), shelf.draft("ab"), by: shelf.me, at: shelf.now))
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
        let shelf = try ShareShelf()
        let id = try shelf.add(before)
        try shelf.publish(id)
        #expect(try shelf.ledger.reviseShare(id, shelf.draft(after), by: shelf.me) == isChanged)
        #expect(try shelf.photos(id) == expected)
        #expect(try shelf.share(id).step == (isChanged ? .publish : .done))
        #expect(try shelf.share(id).state == .live)
        _ = try shelf.ledger.reviseShare(id, shelf.draft(before), by: shelf.me)
        #expect(
            try shelf.photos(id).hasPrefix(
                before.enumerated().map { "\($0.element)\($0.offset)" }.joined(separator: " ")))
    }

    @Test func `a slot whose photo is gone is not given to another`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        try shelf.publish(id)
        _ = try shelf.ledger.reviseShare(id, shelf.draft("a"), by: shelf.me)
        try shelf.publish(id)
        #expect(try shelf.share(id).step == .clean)
        try shelf.ledger.noteShareCleaned(id, by: shelf.me)
        #expect(try shelf.photos(id) == "a0")
        #expect(try shelf.share(id).step == .done)
        _ = try shelf.ledger.reviseShare(id, shelf.draft("ab"), by: shelf.me)
        #expect(try shelf.photos(id) == "a0 b2")
    }

    @Test func `other words or another end are published anew`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("ab")
        try shelf.publish(id)
        #expect(try shelf.ledger.reviseShare(id, shelf.draft("ab", location: "Roma"), by: shelf.me) == true)
        try shelf.publish(id)
        #expect(try shelf.ledger.reviseShare(id, shelf.draft("ab", location: "Roma"), by: shelf.me) == false)
        var draft = try shelf.draft("ab", location: "Roma")
        draft.sharedBy = nil
        #expect(try shelf.ledger.reviseShare(id, draft, by: shelf.me) == true)
        try shelf.publish(id)
        draft.expiresAt += 5
        #expect(try shelf.ledger.reviseShare(id, draft, by: shelf.me) == true)
        #expect(try shelf.share(id).sharedBy == nil)
        #expect(try shelf.share(id).expiresAt == draft.expiresAt)
    }

    @Test func `a failure that may pass is tried again, one that stays is not`() throws {
        let shelf = try ShareShelf()
        let id = try shelf.add("abc")
        for (slot, isFinal) in [(0, false), (1, true)] {
            let outcome = SharePhotoOutcome.failed("it is damaged", isFinal: isFinal)
            #expect(try shelf.ledger.noteSharePhoto(slot, of: id, outcome, by: shelf.me, at: shelf.now))
        }
        #expect(try shelf.share(id).photoCount == 1)
        let before = try shelf.ledger.sharePhotos(id).map(\.failure)
        #expect(before == ["it is damaged", "it is damaged", nil])
        #expect(try shelf.ledger.reviseShare(id, shelf.draft("abc"), by: shelf.me) == true)
        #expect(try shelf.ledger.sharePhotos(id).map(\.failure) == [nil, "it is damaged", nil])
    }

    @Test func `the name of whoever shares is remembered`() throws {
        let shelf = try ShareShelf()
        #expect(try shelf.ledger.sharer() == nil)
        try shelf.ledger.rememberSharer("Ana")
        try shelf.ledger.rememberSharer("Bo")
        #expect(try shelf.ledger.sharer() == "Bo")
    }
}
