import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

@Suite struct ShareServiceTests {
    private func bench(_ photos: String = "ab", givesLinks: Bool = false) async throws -> ShareBench {
        let bench = try ShareBench(givesLinks: givesLinks)
        for letter in photos { try await bench.add("\(letter).jpg") }
        return bench
    }

    // MARK: The end

    /// The clock said 2036, and was set right afterwards; the store's was right all the time.
    @Test func `a share that was made while the clock was ahead ends after the time that was asked for`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        let ahead = ManualTime(start: bench.time.now + 3_650 * 86_400)
        let planner = SharePlanner(
            store: bench.store, ledger: bench.queue, reducer: bench.disk, maker: bench.maker,
            pool: BlockingPool(name: "planner", threads: 1), lease: bench.lease(), maximumPhotos: 50, expireDays: 30,
            time: ahead.source)
        let id = try await planner.accept(try await planner.propose(bench.order()))
        _ = try await bench.publisher().run(id)
        #expect(try bench.record(id).expiresAt == ahead.now + 30 * 86_400)
        try await bench.service().round()
        #expect(try bench.record(id).expiresAt == bench.time.now + 30 * 86_400)
        #expect(try bench.record(id).step == .done)
        #expect(try bench.manifest(id).expiresAt == bench.time.now + 30 * 86_400)
    }

    @Test func `a share is gone at the minute at which it expires, and not before`() async throws {
        let bench = try await bench()
        let share = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 3_600 })
        await bench.time.advance(by: .seconds(3_599))
        try await bench.service().round()
        #expect(try bench.record(share.id).state == .live)
        await bench.time.advance(by: .seconds(1))
        try await bench.service().round()
        let record = try bench.record(share.id)
        #expect(record.state == .expired && record.endedAt == bench.time.now && record.link == nil)
        #expect(bench.objects(share.id) == [])
        #expect(bench.memory.keys.count == 2)
        // The vacation can be shared anew.
        #expect(try await bench.share().id != share.id)
    }

    @Test func `revoking tells the other machines, and removes manifest and page first`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        let before = bench.store.calls.count
        try await bench.remover().run(share.id, .revoked)
        let calls = bench.store.calls.dropFirst(before)
        let end = try KeyLayout.ana.shareEnd(share.id).rawValue
        #expect(calls.prefix(3).map(\.key) == [end, share.keys.manifest.rawValue, share.keys.page.rawValue])
        #expect(calls.prefix(3).map(\.operation) == [.put, .delete, .delete])
        #expect(calls.last?.operation == .list)
        #expect(bench.objects(share.id) == [])
        #expect(try bench.record(share.id).state == .revoked)
        // Again is no error, and asks for nothing.
        let after = bench.store.calls.count
        try await bench.remover().run(share.id, .revoked)
        #expect(bench.store.calls.count == after)
    }

    @Test(arguments: [false, true])
    func `what the store has lost of a share is stored again, and nothing else`(givesLinks: Bool) async throws {
        let bench = try await bench(givesLinks: givesLinks)
        let share = try await bench.share()
        let whole = bench.objects(share.id)
        #expect(try await bench.publisher().examine(share.id) == false)
        for lost in [[share.keys.photo(1)], [share.keys.thumbnail(0), share.keys.manifest], [share.keys.page]] {
            for key in lost { try await bench.memory.delete(key) }
            #expect(try await bench.publisher().examine(share.id))
            let before = bench.store.count(.put)
            _ = try await bench.publisher().run(share.id)
            #expect(bench.objects(share.id) == whole)
            #expect(bench.store.count(.put) - before <= 5)
            #expect(try await bench.publisher().examine(share.id) == false)
        }
    }

    @Test(arguments: ["nothing", "another share's"])
    func `a manifest that says something else is written again`(what: String) async throws {
        let bench = try await bench()
        let share = try await bench.share()
        let content = try #require(bench.memory.content(share.keys.manifest))
        let other = String(decoding: content, as: UTF8.self).replacing(
            "\(share.id)", with: "7d0c6e2a-33b1-4d5e-9c61-0a4b8f2e9d10")
        try await bench.memory.delete(share.keys.manifest)
        try await bench.memory.store(Array((what == "nothing" ? what : other).utf8), at: share.keys.manifest)
        #expect(try await bench.publisher().examine(share.id))
        _ = try await bench.publisher().run(share.id)
        #expect(try bench.manifest(share.id).photos.count == 2)
        #expect(try await bench.publisher().examine(share.id) == false)
    }

    @Test func `what a listing cannot look at is there, and is removed with the rest`() async throws {
        let bench = try await bench()
        let share = try await bench.share()
        for key in bench.memory.keys where key.rawValue.hasPrefix(share.keys.folder) {
            bench.memory.makeUnreadable(key)
        }
        try await bench.remover().run(share.id, .revoked)
        #expect(bench.objects(share.id) == [])
        #expect(try bench.record(share.id).state == .revoked)
    }

    @Test(arguments: [StoreOperation.delete, .list, .deleteMany], [1, 2])
    func `what cannot be deleted is never shown as gone`(operation: StoreOperation, number: Int) async throws {
        let bench = try await bench()
        let share = try await bench.share()
        bench.store.add(StoreFault(operation, number: number, .failBefore(.accessDenied)))
        do {
            try await bench.remover().run(share.id, .revoked)
            #expect(operation == .deleteMany && number == 2)
        } catch is StoreError {
            let record = try bench.record(share.id)
            #expect(record.state == .revoking && record.problem != nil && record.endedAt == nil)
            try await bench.service().round()
        }
        #expect(try bench.record(share.id).state == .revoked)
        #expect(bench.objects(share.id) == [])
    }

    @Test func `a share that was revoked while it was prepared is not published`() async throws {
        let bench = try await bench("abcdef")
        let id = try await bench.accept()
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).photo(2).rawValue, .hold(gate)))
        let run = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        // It is in other hands, and ends as soon as these notice.
        await #expect(throws: ShareError.inOtherHands(id)) { try await bench.remover("other").run(id, .revoked) }
        gate.open()
        await #expect(throws: ShareError.over(id)) { _ = try await run.value }
        try await bench.remover("other").run(id, .revoked)
        #expect(bench.objects(id) == [])
        #expect(!bench.store.calls.contains { $0.key == ShareKeys(id).manifest.rawValue && $0.operation == .put })
    }

    @Test func `a share that was revoked while its manifest was written leaves none`() async throws {
        let bench = try await bench()
        let id = try await bench.accept()
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).manifest.rawValue, .hold(gate)))
        let run = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        try bench.ledger.endShare(id, .revoked)
        gate.open()
        await #expect(throws: ShareError.over(id)) { _ = try await run.value }
        #expect(bench.memory.info(ShareKeys(id).manifest) == nil)
        #expect(bench.memory.info(ShareKeys(id).page) == nil)
        try await bench.service().round()
        #expect(bench.objects(id) == [])
    }

    /// A process that was stopped for long goes on where it was; the share is revoked and proven gone meanwhile.
    @Test(arguments: [false, true])
    func `a photo that is stored after the share was proven gone is taken back`(isRenewalFirst: Bool) async throws {
        let bench = try await bench("a")
        let late = bench.planner("late")
        let id = try await late.accept(try await late.propose(try bench.order()))
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).photo(0).rawValue, .hold(gate)))
        let run = Task { try await bench.publisher("late").run(id) }
        await gate.waitForArrivals(1)
        try await bench.remover("other").run(id, .revoked)
        #expect(bench.objects(id) == [] && bench.memory.keys.count == 2)
        if isRenewalFirst {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(3))
        }
        gate.open()
        await #expect(throws: ShareError.self) { _ = try await run.value }
        #expect(try bench.record(id).state == .revoked && bench.record(id).holder == nil)
        #expect(bench.objects(id) == [])
    }

    @Test func `what comes after the end is found by one more listing`() async throws {
        let bench = try await bench("a")
        let share = try await bench.share()
        try await bench.remover().run(share.id, .revoked)
        let service = bench.service()
        try await service.round()
        try await bench.memory.store(Array("late".utf8), at: share.keys.photo(0))
        await bench.time.advance(by: .seconds(299))
        try await service.round()
        #expect(bench.objects(share.id) == ["0.jpg"])
        await bench.time.advance(by: .seconds(1))
        try await service.round()
        #expect(bench.objects(share.id) == [])
        await bench.time.advance(by: .seconds(7_200))
        let calls = bench.store.calls.count
        try await service.round()
        #expect(bench.store.calls.count == calls)
    }

    @Test func `one share that is refused keeps no other from ending`() async throws {
        let bench = try await bench("a")
        let id = try await bench.accept()
        try bench.ledger.releaseShare(id, by: "me")
        let other = try await bench.share(
            bench.order {
                $0.quality = .full
                $0.expiresAt = bench.time.now + 60
            })
        await bench.time.advance(by: .seconds(60))
        bench.store.add(StoreFault(.put, .failBefore(.noSpace)))
        await #expect(throws: StoreError.self) { try await bench.service().round() }
        #expect(try bench.record(other.id).state == .expired)
        #expect(try bench.record(id).problem != nil)
    }

    @Test func `a share that the store refuses is its own misfortune`() async throws {
        let bench = try await bench("a")
        let id = try await bench.accept()
        try bench.ledger.releaseShare(id, by: "me")
        let other = try await bench.accept(bench.order { $0.quality = .full })
        try bench.ledger.releaseShare(other, by: "me")
        bench.store.add(StoreFault(.put, number: 1, .failBefore(.accessDenied)))
        try await bench.service().round()
        #expect(try bench.record(id).problem != nil)
        #expect(try bench.record(other).state == .live)
    }

    // MARK: Several processes

    @Test func `what a process had in hand when it was killed is free at once`() async throws {
        let bench = try await bench("abc")
        let late = bench.planner("late")
        let id = try await late.accept(try await late.propose(try bench.order()))
        try await bench.service().round()
        #expect(try bench.record(id).state == .live && bench.record(id).holder == nil)
    }

    @Test func `two processes share the same vacation once`() async throws {
        let bench = try await bench("abcdef")
        let id = try await bench.accept()
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).photo(0).rawValue, .hold(gate)))
        let run = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        await #expect(throws: ShareError.inOtherHands(id)) { try await bench.publisher("other").run(id) }
        let planner = bench.planner("other")
        await #expect(throws: ShareError.inOtherHands(id)) { try await planner.accept(planner.propose(bench.order())) }
        // The agent lets it alone too.
        try await bench.service().round()
        gate.open()
        _ = try await run.value
        #expect(bench.maker.sources.count == 6)
        #expect(try await planner.propose(bench.order()).change == .none)
    }

    @Test func `what a process left when it died is gone on with when it is not heard of`() async throws {
        let bench = try await bench("ab")
        let id = try await bench.accept()
        try await bench.service().round()
        #expect(try bench.record(id).state == .preparing)
        await bench.time.advance(by: .seconds(13))
        try await bench.service().round()
        #expect(try bench.record(id).state == .live)
        #expect(try bench.seen(id) == "0:shared A.JPG 1:shared B.JPG")
    }

    @Test func `a share is kept in hand for as long as it takes`() async throws {
        let bench = try await bench("a")
        let id = try await bench.accept()
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).photo(0).rawValue, .hold(gate)))
        let run = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        for _ in 0..<30 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(3))
        }
        await bench.time.waitForSleepers()
        #expect(try bench.ledger.claimShare(id, by: "other", at: bench.time.now) == nil)
        gate.open()
        _ = try await run.value
        #expect(try bench.record(id).holder == nil)
    }

    // MARK: Links

    @Test func `signed links are made anew when half of their life is over`() async throws {
        let bench = try await bench("a", givesLinks: true)
        let share = try await bench.share()
        #expect(share.link?.endsAt == bench.time.now + 7 * 86_400)
        #expect(share.link?.limit == "links are short here")
        #expect(share.expiresAt == bench.time.now + 30 * 86_400)
        let page = try bench.page(share.id)
        let updated = try bench.manifest(share.id).updatedAt
        await bench.time.advance(by: .seconds(84 * 3_600 - 1))
        try await bench.service().round()
        #expect(try bench.page(share.id) == page)
        await bench.time.advance(by: .seconds(1))
        try await bench.service().round()
        #expect(try bench.page(share.id) != page)
        let record = try bench.record(share.id)
        #expect(record.link?.endsAt == bench.time.now + 7 * 86_400)
        #expect(record.link != share.link)
        #expect(record.publishedAt == share.publishedAt)
        #expect(try bench.manifest(share.id).updatedAt == updated)
        #expect(try bench.manifest(share.id).manifestURL?.contains("vacation.json?X-Amz-Signature") == true)
    }

    @Test func `links that last as long as the share are left alone, and end with it`() async throws {
        let bench = try await bench("a", givesLinks: true)
        await bench.time.advance(by: .milliseconds(700))
        let end = bench.time.now + 2 * 86_400 + 0.25
        let share = try await bench.share(bench.order { $0.expiresAt = end })
        #expect(abs(share.expiresAt.timeIntervalSince(end)) < 0.01)
        #expect(share.link?.endsAt == share.expiresAt && share.link?.limit == nil)
        let count = bench.links.count
        await bench.time.advance(by: .seconds(47 * 3_600))
        try await bench.service().round()
        #expect(bench.links.count == count)
    }

    @Test func `with temporary credentials the link ends with them, and is renewed in time`() async throws {
        let bench = try await bench("a", givesLinks: true)
        bench.links.setLongest(.seconds(3_600))
        let share = try await bench.share()
        #expect(share.link?.endsAt == bench.time.now + 3_600)
        await bench.time.advance(by: .seconds(1_800))
        try await bench.service().round()
        #expect(try bench.record(share.id).link?.endsAt == bench.time.now + 3_600)
    }

    @Test(arguments: [
        ("https://photos.test", "https://photos.test/shares/"), ("https://photos.test/", "https://photos.test/shares/"),
        ("https://photos.test/shares", "https://photos.test/shares/"),
        ("https://photos.test/a/shares/", "https://photos.test/a/shares/"),
        ("https://photos.test/myshares", "https://photos.test/myshares/shares/"),
    ])
    func `under a public address links are relative and never end by themselves`(
        base: String, beginning: String
    ) async throws {
        let bench = try ShareBench(givesLinks: true, publicBase: base)
        try await bench.add("a.jpg")
        let share = try await bench.share()
        #expect(share.link?.url == "\(beginning)\(share.id)/index.html")
        #expect(share.link?.endsAt == share.expiresAt && share.linksEndAt == nil)
        #expect(bench.links.count == 0)
        #expect(try bench.page(share.id).contains("\"\(share.id)_0.jpg\""))
    }

    @Test func `a public address that is configured later is used from then on`() async throws {
        let bench = try await bench("a", givesLinks: true)
        let share = try await bench.share()
        let open = bench.moved(to: "https://photos.test")
        try await open.service().round()
        #expect(try bench.record(share.id).link?.url == "https://photos.test/shares/\(share.id)/index.html")
        #expect(try bench.manifest(share.id).photos.allSatisfy { $0.url == nil })
        let puts = bench.store.count(.put)
        try await open.service().round()
        #expect(bench.store.count(.put) == puts)
    }

    @Test func `without links a share is known by its id`() async throws {
        let bench = try await bench("a")
        let share = try await bench.share()
        #expect(share.link?.url == "vacationphotos://share/\(share.id)")
        #expect(share.link?.endsAt == share.expiresAt)
    }

    // MARK: The agent

    @Test func `the agent waits for a store that is away, and goes on`() async throws {
        let bench = try await bench("a")
        let id = try await bench.accept()
        try bench.ledger.releaseShare(id, by: "me")
        bench.store.add(StoreFault(.put, numbers: 1...2, .failBefore(.unreachable)))
        let service = bench.service()
        for _ in 0..<2 { await #expect(throws: StoreError.self) { try await service.round() } }
        #expect(try bench.record(id).problem?.contains("scripted") == true)
        try await service.round()
        #expect(try bench.record(id).state == .live)
    }

    @Test func `without shares the store is not asked for anything`() async throws {
        let bench = try await bench("a")
        try await bench.service().round()
        #expect(bench.store.calls.isEmpty)
    }
}
