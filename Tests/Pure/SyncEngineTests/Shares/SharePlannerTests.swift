import FoundationEssentials
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct SharePlannerTests {
    @Test func `a selection is shared by its numbers`() async throws {
        let bench = try ShareBench()
        for letter in "abcdefg" { try await bench.add("\(letter).jpg") }
        let order = try bench.order { $0.selection = PhotoSelection("0,2-3,6") }
        let proposal = try await bench.planner().propose(order)
        #expect(proposal.items.map(\.number) == [0, 2, 3, 6])
        #expect(proposal.bytes == 20)
        let share = try await bench.share(order)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared C.JPG 2:shared D.JPG 3:shared G.JPG")
        // The whole vacation is another share.
        #expect(try await bench.share().id != share.id)
        #expect(try await bench.share(order).id == share.id)
    }

    @Test(arguments: [("7", 7), ("0-9", 9), ("3", 3)])
    func `a number that no photo has is refused`(selection: String, number: Int) async throws {
        let bench = try ShareBench()
        for letter in "abc" { try await bench.add("\(letter).jpg") }
        await #expect(throws: ShareError.noSuchNumber(number, photos: 3)) {
            try await bench.planner().propose(bench.order { $0.selection = PhotoSelection(selection) })
        }
    }

    @Test func `more than a share may have is refused, with the way out`() async throws {
        let bench = try ShareBench(maximumPhotos: 2)
        for letter in "abc" { try await bench.add("\(letter).jpg") }
        await #expect(throws: ShareError.tooMany(3, limit: 2)) { try await bench.planner().propose(bench.order()) }
        #expect("\(ShareError.tooMany(3, limit: 2))".contains("--photos 0-1"))
        let proposal = try await bench.planner().propose(bench.order { $0.selection = PhotoSelection("0,2") })
        #expect(proposal.items.count == 2)
    }

    @Test func `what is no photo is left out and named, and does not count`() async throws {
        let bench = try ShareBench(maximumPhotos: 4)
        try await bench.add("a.jpg")
        try await bench.add("b.jxl", type: MediaType(.image, "image/jxl"))
        try await bench.add("c.jpg", "text", in: nil)
        try await bench.add("d.heic", "other", type: MediaType(.image, "image/heic"))
        try await bench.add("e.mp4", "film", type: MediaType(.video, "video/mp4"))
        try await bench.add("f.mkv", "another", type: MediaType(.video, "video/x-matroska"))
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.map(\.photo.name) == ["a.jpg", "d.heic", "e.mp4"])
        #expect(proposal.skipped.map(\.photo.name) == ["b.jxl", "c.jpg", "f.mkv"])
        #expect(proposal.skipped.first?.reason.contains("image/jxl") == true)
    }

    @Test func `of a photo with its movie and its RAW file the photo is shared, unless another one is chosen`()
        async throws
    {
        let bench = try ShareBench()
        try await bench.add("a.heic", "picture", type: MediaType(.image, "image/heic"))
        try await bench.add("a.mov", "film", type: MediaType(.video, "video/quicktime"))
        try await bench.add("b.jpg")
        try await bench.add("b.nef", "raw", type: MediaType(.image, "image/x-nikon-nef"))
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.map(\.photo.name) == ["a.heic", "b.jpg"] && proposal.skipped.isEmpty)
        #expect(proposal.notes.contains { $0.contains("is: a.mov (1), b.nef (3).") })
        let chosen = try await bench.planner().propose(bench.order { $0.selection = PhotoSelection("3") })
        #expect(chosen.items.map(\.photo.name) == ["b.nef"] && chosen.notes.isEmpty)
        _ = try await bench.share()
        let review = ShareReview(ledger: bench.queue, place: .ledger)
        #expect(try await review.liveShares().values.allSatisfy { $0.total == 0 })
    }

    @Test func `more bytes than a share may have are refused before anything is sent, with the way out`() async throws {
        let bench = try ShareBench()
        let film = MediaType(.video, "video/mp4")
        for name in ["a.mp4", "b.mp4"] { try await bench.add(name, type: film, size: 60 << 30) }
        let error = ShareError.tooLarge(120 << 30, limit: 100 << 30)
        await #expect(throws: error) { try await bench.planner().propose(bench.order()) }
        #expect("\(error)".contains("120 GiB") && "\(error)".contains("--photos"))
        let one = try await bench.planner().propose(bench.order { $0.selection = PhotoSelection("1") })
        #expect(one.items.map(\.photo.name) == ["b.mp4"])
    }

    @Test func `a large film that only the store has is left out, and not brought back from the archive for it`()
        async throws
    {
        let bench = try ShareBench()
        let film = MediaType(.video, "video/quicktime")
        try await bench.add("a.mov", in: .deepArchive, isLocal: false, type: film, size: 129 << 20)
        try await bench.add("b.mov", in: .deepArchive, isLocal: false, type: film, size: 128 << 20)
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.map(\.photo.name) == ["b.mov"] && proposal.archived.count == 1)
        #expect(proposal.skipped.first?.reason.contains("128 MiB") == true)
    }

    @Test func `a film that tells too much is refused before it is sent, in the words of the share that has it`()
        async throws
    {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        try await bench.add("b.mp4", "film place of b", type: FilmType.mp4.mediaType)
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.map(\.photo.name) == ["a.jpg"] && proposal.bytes == 5)
        #expect(proposal.refused.map(\.reason) == ["it tells the place"] && proposal.skipped == proposal.refused)
        let share = try await bench.share()
        #expect(share.photoCount == 1)
        #expect(try bench.ledger.sharePhotos(share.id).map(\.failure) == [nil, "it tells the place"])
        let again = try await bench.planner().propose(bench.order())
        #expect(again.change == .none && again.refused == proposal.refused && again.items == proposal.items)
        let review = ShareReview(ledger: bench.queue, place: .ledger)
        #expect(try await review.liveShares().values.allSatisfy { $0.total == 0 })
    }

    @Test func `a film that tells too much adds nothing to a share that is seen`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        try await bench.share()
        try await bench.add("b.mp4", "film place of b", type: FilmType.mp4.mediaType)
        #expect(try await bench.planner().propose(bench.order()).change == .update(added: 0, removed: 0))
    }

    @Test func `of a film that is not on the disk it is not known before it is sent`() async throws {
        let bench = try ShareBench()
        try await bench.add("b.mp4", "film place of b", isLocal: false, type: FilmType.mp4.mediaType)
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.count == 1 && proposal.refused.isEmpty)
    }

    @Test func `where all is refused there is nothing to share`() async throws {
        let bench = try ShareBench()
        try await bench.add("b.mp4", "film place of b", type: FilmType.mp4.mediaType)
        let proposal = try await bench.planner().propose(bench.order())
        #expect(throws: ShareError.nothing(["b.mp4: it tells the place"])) { try proposal.requireSomething() }
    }

    @Test func `photos that cannot be stored are named, unless photos were chosen`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let path = ShareBench.folder.appending("b.jpg")
        let stamp = FileStamp(device: 1, inode: 7, size: 9, modified: 0)
        let failure = VacationPhoto(path: path, name: "b.jpg", state: .failed, stamp: stamp, md5: nil, object: nil)
        let order = try bench.order { $0.vacation.failures = [failure] }
        let proposal = try await bench.planner().propose(order)
        #expect(proposal.items.map(\.photo.name) == ["a.jpg"])
        #expect(proposal.skipped.map(\.photo) == [failure])
        #expect(proposal.skipped.first?.reason.hasPrefix("cannot be stored") == true)
        var chosen = order
        chosen.selection = PhotoSelection("0")
        #expect(try await bench.planner().propose(chosen).skipped.isEmpty)
    }

    @Test func `equal photos are shared once`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", "one")
        try await bench.add("b.jpg", "one")
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.items.map(\.photo.name) == ["a.jpg"])
        #expect(proposal.skipped.map(\.reason) == ["it is the same photo as a.jpg"])
    }

    @Test func `an open share keeps its end and its name unless told`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let end = bench.time.now + 7_200
        let share = try await bench.share(bench.order { $0.expiresAt = end })
        let again = try await bench.planner().propose(
            bench.order {
                $0.sharedBy = nil
                $0.usualSharer = "Bo"
            })
        #expect(again.change == .none)
        #expect(again.expiresAt == end)
        let longer = try await bench.planner().propose(bench.order { $0.expiresAt = end + 60 })
        #expect(longer.change == .update(added: 0, removed: 0))
        #expect(longer.existing?.id == share.id)
    }

    @Test func `a share that has expired is not taken up again`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let old = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 60 })
        await bench.time.advance(by: .seconds(60))
        #expect(try await bench.planner().propose(bench.order()).change == .new)
        let new = try await bench.share()
        #expect(new.id != old.id)
        #expect(try bench.record(old.id).state == .expiring)
    }

    /// As a rebuild finds it beside the one that is there: another link to the same photos.
    private func rebuildTwin(in bench: ShareBench, expiring end: Date) throws -> ShareID {
        var generator = SystemRandomNumberGenerator()
        let id = ShareID(using: &generator)
        func stamp(_ time: Date) -> Int64 { Int64((time.timeIntervalSince1970 * 1_000).rounded()) }
        var share = CatalogShare(
            share: "\(id)", path: ShareBench.folder, selection: "", quality: "reduced", location: "Paris",
            start: "2024-06-15", end: "2024-06-15", createdAt: stamp(bench.time.now), expiresAt: stamp(end),
            state: "live", step: "done", nextSlot: 0)
        share.publishedAt = stamp(bench.time.now)
        var state = CatalogState()
        state.shares = [share]
        try bench.ledger.noteCatalog(state, in: [:], at: bench.time.now)
        return id
    }

    @Test func `behind a share that has expired, the one that lives is taken up`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        _ = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 60 })
        let end = bench.time.now + 86_400
        let twin = try rebuildTwin(in: bench, expiring: end)
        await bench.time.advance(by: .seconds(60))
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.existing?.id == twin && proposal.expiresAt == end)
    }

    @Test func `of two that live the one that was here is brought up to date, and the other one is told`() async throws
    {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let first = try await bench.share()
        let twin = try rebuildTwin(in: bench, expiring: bench.time.now + 86_400)
        try await bench.add("b.jpg")
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.existing?.id == first.id)
        #expect(proposal.notes.count == 1 && proposal.notes[0].contains("shares --revoke \(twin)"))
        await bench.time.advance(by: .seconds(86_401))
        #expect(try await bench.planner().propose(bench.order()).notes == [])
    }

    @Test func `no share is made beside one that has come up meanwhile, behind one that has expired`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let old = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 60 })
        await bench.time.advance(by: .seconds(60))
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.change == .new)
        let twin = try rebuildTwin(in: bench, expiring: bench.time.now + 86_400)
        await #expect(throws: ShareError.inOtherHands(twin)) { try await bench.planner().accept(proposal) }
        #expect(try bench.record(old.id).state == .expiring)
        #expect(try bench.ledger.unendedShares().filter { $0.state == .live }.map(\.id) == [twin])
    }

    @Test func `a share of the same photos from another folder is told, with what ends it`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let first = try await bench.share()
        #expect(try await bench.planner().propose(bench.order()).notes == [])
        let renamed = try await bench.planner().propose(
            bench.order { $0.vacation.folder = ShareBench.folder.removingLastComponent().appending("Lyon") })
        #expect(renamed.change == .new && renamed.notes.count == 1)
        #expect(renamed.notes.first?.contains("sync-agent shares --revoke \(first.id)") == true)
        try await bench.remover().run(first.id, .revoked)
        let alone = try await bench.planner().propose(bench.order { $0.vacation.folder = "/pictures/trips/Lyon" })
        #expect(alone.notes == [])
    }

    @Test func `hostile words become one plain line`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let share = try await bench.share(
            bench.order {
                $0.vacation.details.location = "<script>alert(1)</script>\n& \u{202E}Zürich"
                $0.sharedBy = String(repeating: "x", count: 5_000)
            })
        #expect(share.location == "<script>alert(1)</script> & Zürich")
        #expect(share.sharedBy?.count == 100)
        #expect(try !bench.page(share.id).contains("<script>alert"))
    }

    @Test(arguments: [(31, 31, false), (32, 31, true), (365, nil, false)])
    func `a share that a rule of the bucket would remove too early is refused`(
        days: Int, rule: Int?, isRefused: Bool
    ) async throws {
        let bench = try ShareBench(lifecycle: .byRules)
        try await bench.add("a.jpg")
        if let rule {
            try await bench.memory.setLifecycle(
                LifecycleConfiguration(rules: [
                    LifecycleRule(id: "shares", content: .own(TierRule(prefix: "shares/", expireAfterDays: rule)))
                ]))
        }
        let order = try bench.order { $0.expiresAt = bench.time.now + Double(days) * 86_400 }
        if isRefused {
            await #expect(throws: ShareError.endsTooLate(days: days, rule: 31)) {
                try await bench.planner().propose(order)
            }
        } else {
            #expect(try await bench.planner().propose(order).change == .new)
        }
    }

    /// share.expire_days was raised, and nobody has applied it.
    @Test func `the rule counts for shares that last as long as the configuration says`() async throws {
        let bench = try ShareBench(lifecycle: .byRules)
        try await bench.add("a.jpg")
        let rule = TierRule(prefix: "shares/", expireAfterDays: 8)
        try await bench.memory.setLifecycle(
            LifecycleConfiguration(rules: [LifecycleRule(id: "shares", content: .own(rule))]))
        await #expect(throws: ShareError.endsTooLate(days: 30, rule: 8)) {
            try await bench.planner().propose(bench.order())
        }
        let share = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 86_400 })
        // One that is there already, and does not get longer, is not measured again.
        #expect(try await bench.planner().propose(bench.order()).existing?.id == share.id)
        #expect(bench.store.count(.lifecycle) == 2)
    }

    @Test func `rules that cannot be read keep nobody from sharing, and are told`() async throws {
        let bench = try ShareBench(lifecycle: .byRules)
        try await bench.add("a.jpg")
        bench.store.add(StoreFault(.lifecycle, .failBefore(.accessDenied)))
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.change == .new && proposal.notes.count == 1)
    }
}
