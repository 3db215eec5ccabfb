import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct SharePublisherTests {
    private func bench(_ photos: String = "abc", givesLinks: Bool = false) async throws -> ShareBench {
        let bench = try ShareBench(givesLinks: givesLinks)
        for letter in photos { try await bench.add("\(letter).jpg") }
        return bench
    }

    @Test func `photos come first, then the page, and the manifest last`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        #expect(share.state == .live && share.step == .done)
        #expect(
            bench.objects(share.id) == [
                "0.jpg", "1.jpg", "2.jpg", "index.html", "thumbnails/0.jpg", "thumbnails/1.jpg", "thumbnails/2.jpg",
                "vacation.json",
            ])
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared B.JPG 2:shared C.JPG")
        let puts = bench.store.calls.filter { $0.operation == .put }.map(\.key)
        #expect(puts.suffix(2) == [share.keys.page.rawValue, share.keys.manifest.rawValue])
        #expect(puts.count == 8)
        let manifest = try bench.manifest(share.id)
        #expect(manifest.locationName == "Paris" && manifest.sharedBy == "Ana" && manifest.photoCount == 3)
        #expect(manifest.expiresAt == bench.time.now + 30 * 86_400)
        #expect(manifest.photos.allSatisfy { $0.url == nil && $0.width == 4 && $0.height == 3 && $0.takenAt != nil })
    }

    @Test func `a film is stored under a name of its own with its poster, and stands beside the photos`() async throws {
        let bench = try await bench("a")
        try await bench.add("b.mp4", "film b", type: FilmType.mp4.mediaType)
        let share = try await bench.share()
        #expect(
            bench.objects(share.id) == [
                "0.jpg", "1.mp4", "index.html", "thumbnails/0.jpg", "thumbnails/1.jpg", "vacation.json",
            ])
        let manifest = try bench.manifest(share.id)
        #expect(manifest.photoCount == 1 && manifest.photos.map(\.orderIndex) == [0])
        let film = try #require(manifest.films?.first)
        #expect(film.orderIndex == 1 && film.mediaType == .mp4 && film.hasPoster && film.durationSeconds == 1.5)
        #expect(try bench.page(share.id).contains("<video "))
        let info = bench.memory.info(share.keys.copy(1, film: .mp4))
        #expect(info?.contentType == "video/mp4" && info?.duration == .milliseconds(1_500))

        // Nothing is to be stored again, and nothing is left when the film goes.
        #expect(try await !bench.publisher().examine(share.id))
        bench.leaveOut("b.mp4")
        let later = try await bench.share()
        #expect(later.id == share.id)
        #expect(bench.objects(share.id) == ["0.jpg", "index.html", "thumbnails/0.jpg", "vacation.json"])
        #expect(try bench.manifest(share.id).films == nil)
    }

    @Test func `a film that is in the store alone is shared without a poster, and each of its objects is looked after`()
        async throws
    {
        let bench = try await bench("a")
        try await bench.add("b.mov", "film b", isLocal: false, type: FilmType.quickTime.mediaType)
        let share = try await bench.share()
        #expect(
            bench.objects(share.id) == ["0.jpg", "1.mov", "index.html", "thumbnails/0.jpg", "vacation.json"])
        #expect(try bench.manifest(share.id).films?.first?.hasPoster == false)
        #expect(try await !bench.publisher().examine(share.id))
        try await bench.memory.delete(share.keys.copy(1, film: .quickTime))
        #expect(try await bench.publisher().examine(share.id))
        _ = try await bench.publisher().run(share.id)
        #expect(bench.objects(share.id).contains("1.mov"))
    }

    @Test func `films have signed links where photos have them`() async throws {
        let bench = try await bench("a", givesLinks: true)
        try await bench.add("b.mp4", "film b", type: FilmType.mp4.mediaType)
        let share = try await bench.share()
        let film = try #require(try bench.manifest(share.id).films?.first)
        #expect(film.url?.contains("_1.mp4") == true)
        #expect(try bench.page(share.id).contains("_1.mp4?"))
    }

    @Test func `at most three photos are under way at once`() async throws {
        let bench = try await bench("abcdefgh")
        _ = try await bench.share()
        #expect(bench.store.mostInFlight(.put) <= 3)
        #expect(bench.maker.sources.count == 8)
    }

    /// Whatever call fails, before or after it had its effect, the next attempt ends with the same share, whole; and
    /// nobody sees a manifest whose photos are not all there.
    @Test(arguments: (1...8).flatMap { number in [(number, false), (number, true)] })
    func `an attempt that fails at any put is gone on with`(number: Int, hasEffect: Bool) async throws {
        let bench = try await bench()
        bench.store.add(
            StoreFault(.put, number: number, hasEffect ? .failAfter(.accessDenied) : .failBefore(.accessDenied)))
        let id = try await bench.accept()
        await #expect(throws: StoreError.self) { try await bench.publisher().run(id) }
        #expect(try bench.record(id).state == .preparing)
        #expect(try bench.record(id).problem != nil)
        if bench.memory.info(ShareKeys(id).manifest) != nil { #expect(try !bench.seen(id).contains("?")) }
        let share = try await bench.share()
        #expect(share.id == id && share.state == .live && share.problem == nil)
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG 2:shared C.JPG")
        // Three photos were in hand at most, with their thumbnails; page and manifest are written anew.
        #expect(bench.store.count(.put) <= 8 + 6 + 2)
    }

    @Test(arguments: 1...11)
    func `an attempt that fails at any link is gone on with`(number: Int) async throws {
        let bench = try await bench(givesLinks: true)
        bench.store.add(StoreFault(.link, number: number, .failBefore(.accessDenied)))
        let id = try await bench.accept()
        // 3 photos, 3 thumbnails, manifest, page.
        if number <= 8 {
            await #expect(throws: StoreError.self) { try await bench.publisher().run(id) }
        } else {
            _ = try await bench.publisher().run(id)
        }
        let share = try await bench.share()
        #expect(share.id == id && share.state == .live)
        #expect(try bench.manifest(id).photos.allSatisfy { $0.url?.hasPrefix("https://bucket.test/shares/") == true })
    }

    @Test func `what was stored is not sent again`() async throws {
        let bench = try await bench("abcdef")
        let id = try await bench.accept()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).page.rawValue, number: 1, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await bench.publisher().run(id) }
        let before = bench.store.count(.put)
        _ = try await bench.share()
        #expect(bench.store.count(.put) == before + 2)
    }

    @Test func `the same vacation again gives the same link, and sends nothing`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        let calls = bench.store.calls.count
        let again = try await bench.share()
        #expect(again.id == share.id && again.link == share.link && again.pageWrittenAt == share.pageWrittenAt)
        #expect(bench.store.calls.count == calls)
    }

    @Test func `a photo that was replaced is seen, with an equal count`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        try await bench.add("b.jpg", "new")
        let proposal = try await bench.planner().propose(bench.order())
        #expect(proposal.change == .update(added: 1, removed: 1))
        let before = bench.store.calls.count
        #expect(try await bench.share().id == share.id)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 3:shared NEW 2:shared C.JPG")
        #expect(
            bench.objects(share.id) == [
                "0.jpg", "2.jpg", "3.jpg", "index.html", "thumbnails/0.jpg", "thumbnails/2.jpg", "thumbnails/3.jpg",
                "vacation.json",
            ])
        // What goes is deleted when nobody is sent to it any more.
        let calls = bench.store.calls.dropFirst(before)
        #expect(calls.count { $0.operation == .put } == 4)
        #expect(calls.last?.operation == .deleteMany)
        // Between them it is asked whether somebody took it back elsewhere.
        let changes = calls.dropLast().filter { !$0.key.hasPrefix(KeyLayout.ana.shareNotes) }
        #expect(changes.last?.key == share.keys.manifest.rawValue)
    }

    @Test func `photos that cannot be deleted are deleted later`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        bench.leaveOut("b.jpg")
        bench.store.add(StoreFault(.deleteMany, number: 1, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await bench.share() }
        #expect(try bench.record(share.id).step == .clean)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 2:shared C.JPG")
        let puts = bench.store.count(.put)
        try await bench.service().round()
        #expect(try bench.record(share.id).step == .done)
        #expect(bench.store.count(.put) == puts)
        #expect(!bench.objects(share.id).contains("1.jpg"))
        #expect(!bench.objects(share.id).contains("thumbnails/1.jpg"))
    }

    @Test func `while an update fails, others see what they saw before`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        try await bench.add("b.jpg", "new")
        bench.store.add(
            StoreFault(.put, key: share.keys.photo(3).rawValue, number: 1, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await bench.share() }
        #expect(try bench.record(share.id).state == .live)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared B.JPG 2:shared C.JPG")
    }

    @Test func `other words change no photo`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        let before = bench.store.count(.put)
        _ = try await bench.share(bench.order { $0.vacation.details.location = "Roma" })
        #expect(try bench.manifest(share.id).locationName == "Roma")
        #expect(bench.store.count(.put) == before + 2)
    }

    // MARK: Sources

    @Test func `equal bytes are copied inside the store`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", "A.JPG")
        bench.maker.keepsAll(true)
        let share = try await bench.share()
        #expect(bench.store.count(.copy) == 1)
        #expect(!bench.store.calls.contains { $0.operation == .put && $0.key == share.keys.photo(0).rawValue })
        #expect(try bench.seen(share.id) == "0:A.JPG")
        let metadata = try #require(bench.memory.info(share.keys.photo(0))?.metadata)
        #expect(Set(metadata.keys) == [MetadataName.sha256, MetadataName.width, MetadataName.height])
    }

    /// A copy inside the store would take what is stored beside the source along.
    @Test func `the digest of a photo that was reduced is told to nobody`() async throws {
        let bench = try await bench("a")
        bench.maker.keepsAll(true)
        let share = try await bench.share()
        #expect(try bench.seen(share.id) == "0:A.JPG")
        #expect(bench.memory.info(share.keys.photo(0))?.metadata[MetadataName.md5] == nil)
    }

    @Test(arguments: [StoreError.Code.unsupported, .accessDenied])
    func `a store that does not copy is sent the bytes`(code: StoreError.Code) async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", "A.JPG")
        bench.maker.keepsAll(true)
        bench.store.add(StoreFault(.copy, .failBefore(code)))
        let share = try await bench.share()
        #expect(try bench.seen(share.id) == "0:A.JPG")
    }

    /// A face was blacked out between the choice and the publishing: nobody is to see it from the store.
    @Test func `a file that is another one by now is not shared, and its stored copy is not either`() async throws {
        let bench = try await bench("ab")
        bench.disk.write("something else", to: ShareBench.folder.appending("a.jpg"))
        let share = try await bench.share()
        #expect(bench.maker.sources == ["file b.jpg"])
        #expect(try bench.seen(share.id) == "1:shared B.JPG")
        let failure = try bench.ledger.sharePhotos(share.id).first?.failure
        #expect(failure == "its file is another one by now; share the vacation again")
    }

    @Test func `a file that was taken away since it was chosen is not shared from the store`() async throws {
        let bench = try await bench("ab")
        bench.disk.remove(ShareBench.folder.appending("a.jpg"))
        let share = try await bench.share()
        #expect(try bench.seen(share.id) == "1:shared B.JPG")
        #expect(bench.store.count(.get) == 0)
    }

    /// The whole folder is away: a drive is not mounted, and nothing was taken away.
    @Test func `without its folder a photo is read from the store`() async throws {
        let bench = try await bench("ab")
        bench.disk.setMounted(false)
        let share = try await bench.share()
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared B.JPG")
    }

    @Test func `a file that is gone is read from the store`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", isLocal: false)
        let share = try await bench.share()
        #expect(bench.maker.sources == ["bytes A.JPG"])
        #expect(try bench.seen(share.id) == "0:shared A.JPG")
    }

    @Test func `photos that are not stored yet are shared from the disk`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", in: nil)
        let share = try await bench.share()
        #expect(try bench.seen(share.id) == "0:shared A.JPG")
        // Stored meanwhile, it is the same photo.
        try await bench.add("a.jpg")
        #expect(try await bench.planner().propose(bench.order()).change == .none)
    }

    @Test func `a damaged photo is left out, and named`() async throws {
        let bench = try await bench("ab")
        try await bench.add("c.jpg", "broken")
        let share = try await bench.share()
        #expect(share.state == .live && share.photoCount == 2)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared B.JPG")
        #expect(try bench.ledger.sharePhotos(share.id).compactMap(\.failure) == ["Premature end of JPEG file"])
        #expect(try await bench.planner().propose(bench.order()).change == .none)
    }

    @Test func `a photo that is neither on the disk nor in the store is named, and tried again when asked`()
        async throws
    {
        let bench = try await bench("ab")
        try await bench.add("c.jpg", in: nil)
        let planner = bench.planner()
        let proposal = try await planner.propose(bench.order())
        bench.disk.remove(ShareBench.folder.appending("c.jpg"))
        let id = try await planner.accept(proposal)
        _ = try await bench.publisher().run(id)
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG")
        #expect(try bench.ledger.sharePhotos(id).last?.isFinal == false)
        try await bench.add("c.jpg", in: nil)
        _ = try await bench.share()
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG 2:shared C.JPG")
    }

    @Test(arguments: [nil, StorageClass.standard])
    func `a photo that is read while a folder above is a link is left out for now, and shared when asked again`(
        storageClass: StorageClass?
    ) async throws {
        let bench = try await bench("ab")
        try await bench.add("c.jpg", in: storageClass)
        let proposal = try await bench.planner().propose(bench.order())
        bench.disk.setBelowLink(ShareBench.folder.appending("c.jpg"), true)
        let id = try await bench.planner().accept(proposal)
        _ = try await bench.publisher().run(id)
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG")
        #expect(try bench.ledger.sharePhotos(id).last?.isFinal == false)
        bench.disk.setBelowLink(ShareBench.folder.appending("c.jpg"), false)
        _ = try await bench.share()
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG 2:shared C.JPG")
    }

    @Test func `a share of nothing is not published`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", "broken")
        let id = try await bench.accept()
        await #expect(throws: ShareError.nothing(["/pictures/trips/Paris/a.jpg: Premature end of JPEG file"])) {
            try await bench.publisher().run(id)
        }
        #expect(bench.objects(id) == [])
    }

    @Test func `full copies are made of the file`() async throws {
        let bench = try await bench("a")
        let share = try await bench.share(bench.order { $0.quality = .full })
        #expect(try bench.seen(share.id) == "0:full A.JPG")
        // Another quality is another share.
        #expect(try await bench.share().id != share.id)
    }

    @Test func `a read that is cut is begun anew`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", isLocal: false)
        bench.store.add(StoreFault(.get, number: 1, .failAfter(.connectionLost)))
        let id = try await bench.accept()
        let run = Task { try await bench.publisher().run(id) }
        // One sleeper holds the share, the other waits before it reads again.
        await bench.time.waitForSleepers(2)
        await bench.time.advance(by: .seconds(1))
        _ = try await run.value
        #expect(try bench.seen(id) == "0:shared A.JPG")
    }
}
