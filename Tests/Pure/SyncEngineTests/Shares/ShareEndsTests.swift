import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// Shares that end otherwise than by this machine: taken back, or over, on another one, or held against the clock of the store.
@Suite struct ShareEndsTests {
    private let bench: ShareBench

    init() async throws {
        bench = try ShareBench(givesLinks: true)
        for name in ["a.jpg", "b.jpg", "c.jpg"] { try await bench.add(name) }
    }

    /// The other machine tells it. What it removes is another matter.
    private func takeBack(_ id: ShareID, _ text: [UInt8]? = nil) async throws {
        let end = EndedShare(
            id, endedAt: bench.time.now, expiresAt: bench.time.now + 86_400, machine: "0123456789abcdef", name: "tower")
        try await bench.memory.store(try text ?? end.encoded(), at: KeyLayout.ana.shareEnd(id))
    }

    @Test func `one round ends it here, by the name of the machine, and removes what is left of it`() async throws {
        let id = try await bench.share().id
        try await takeBack(id)
        try await bench.service().round()
        let share = try bench.record(id)
        #expect(share.state == .revoked && share.endedBy == "tower" && share.link == nil)
        #expect(bench.objects(id) == [])
    }

    @Test func `a share that has expired by this machine's clock alone stays`() async throws {
        let share = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 3_600 })
        await bench.time.advance(by: .seconds(60 * 86_400))
        let behind = OtherClock(base: bench.store, offset: -60 * 86_400)
        try await bench.service(store: behind).round()
        #expect(try bench.record(share.id).state == .live)
        #expect(bench.objects(share.id) != [])
        // A round every five seconds, and the store is not asked with each.
        let other = OtherClock(base: bench.store, offset: -60 * 86_400)
        let run = Task { try await bench.service(store: other).run() }
        for _ in 0..<20 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        run.cancel()
        _ = await run.result
        #expect(other.timesAsked == 1)
        #expect(try bench.record(share.id).state == .live)
        try await bench.service().round()
        #expect(try bench.record(share.id).state == .expired)
    }

    @Test func `it is asked for once an hour at most, and not at all where nothing is open`() async throws {
        func asked() -> Int { bench.store.calls.count { $0.operation == .list && $0.key == KeyLayout.ana.shareNotes } }
        try await bench.service().round()
        #expect(asked() == 0)
        let id = try await bench.share().id
        let run = Task { try await bench.service().run() }
        // A round every five seconds.
        for _ in 0..<20 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        #expect(asked() == 1)
        try await takeBack(id)
        await bench.time.advance(by: .seconds(3_600))
        for _ in 0..<20 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        #expect(asked() == 2)
        run.cancel()
        // Of what is under way then, nothing is promised.
        _ = await run.result
    }

    @Test func `links of it are not made anew`() async throws {
        let id = try await bench.share().id
        try await takeBack(id)
        await #expect(throws: ShareError.over(id)) { try await bench.publisher().renew(id) }
        #expect(bench.objects(id) == [])
        #expect(try bench.record(id).state == .revoking)
    }

    /// Some servers answer so whatever is there.
    @Test func `that it is told already is believed only when it is there`() async throws {
        let share = try await bench.share()
        let key = try KeyLayout.ana.shareEnd(share.id)
        bench.store.add(StoreFault(.put, key: key.rawValue, number: 1, .failBefore(.alreadyExists)))
        try await bench.remover().run(share.id, .revoked)
        #expect(bench.memory.content(key) != nil)
        #expect(try bench.record(share.id).state == .revoked && bench.objects(share.id) == [])
    }

    @Test func `what nothing tells of is removed, but not what another machine has stored since`() async throws {
        let share = try await bench.share()
        let whole = bench.objects(share.id)
        let stray = share.keys.photo(9)
        try await bench.memory.store([1], at: stray)
        #expect(try await bench.publisher().examine(share.id) == false)
        #expect(bench.objects(share.id) == whole)
        try await bench.memory.store([1], at: stray)
        let note = ShareOwner(
            share.id, takenOverAt: bench.time.now, expiresAt: share.expiresAt, machine: "0123456789abcdef",
            name: "tower")
        try await bench.memory.store(try note.encoded(), at: KeyLayout.ana.shareOwner(share.id, 1))
        await #expect(throws: ShareError.takenOver(share.id)) { try await bench.publisher().examine(share.id) }
        #expect(bench.memory.content(stray) != nil)
    }

    @Test func `it is not brought up to date, and shared again it is another one`() async throws {
        let id = try await bench.share().id
        try await takeBack(id)
        try await bench.add("d.jpg")
        #expect(try await bench.accept() == id)
        await #expect(throws: ShareError.over(id)) { try await bench.publisher().run(id) }
        #expect(bench.objects(id) == [])
        #expect(try await bench.share().id != id)
    }

    @Test(arguments: ["photo", "page", "manifest"])
    func `what is put while it is taken back is removed, and never called live`(last: String) async throws {
        let id = try await bench.accept()
        let keys = ShareKeys(id)
        let gate = Gate()
        let key = ["photo": keys.photo(2), "page": keys.page, "manifest": keys.manifest][last] ?? keys.page
        bench.store.add(StoreFault(.put, key: key.rawValue, .hold(gate)))
        let attempt = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        try await takeBack(id)
        gate.open()
        let result = await attempt.result
        #expect(throws: ShareError.over(id)) { try result.get() }
        #expect(bench.objects(id) == [])
        #expect(try bench.record(id).publishedAt == nil)
        try await bench.service().round()
        #expect(try bench.record(id).state == .revoked)
    }

    @Test(arguments: ["photo", "page", "manifest"])
    func `what another machine takes over while it is published is left to that one, with all that is there`(
        last: String
    ) async throws {
        let id = try await bench.accept()
        let keys = ShareKeys(id)
        let gate = Gate()
        let key = ["photo": keys.photo(2), "page": keys.page, "manifest": keys.manifest][last] ?? keys.page
        bench.store.add(StoreFault(.put, key: key.rawValue, .hold(gate)))
        let attempt = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        let note = ShareOwner(
            id, takenOverAt: bench.time.now, expiresAt: bench.time.now + 86_400, machine: "0123456789abcdef",
            name: "tower")
        try await bench.memory.store(try note.encoded(), at: KeyLayout.ana.shareOwner(id, 1))
        gate.open()
        let result = await attempt.result
        #expect(throws: ShareError.takenOver(id)) { try result.get() }
        #expect(try bench.queue.ledger.share(id) == nil)
        #expect(["0.jpg", "1.jpg", "2.jpg"].allSatisfy(bench.objects(id).contains))
        // Nothing of it is touched later, either.
        let left = bench.objects(id)
        try await bench.service().round()
        #expect(bench.objects(id) == left)
    }

    @Test(arguments: [false, true])
    func `one that another machine has taken over since the last look is left to it when its end comes here`(
        isEnding: Bool
    ) async throws {
        let id = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 3_600 }).id
        let note = ShareOwner(
            id, takenOverAt: bench.time.now, expiresAt: bench.time.now + 86_400, machine: "0123456789abcdef",
            name: "tower")
        try await bench.memory.store(try note.encoded(), at: KeyLayout.ana.shareOwner(id, 1))
        await bench.time.advance(by: .seconds(3_601))
        if isEnding { try bench.ledger.endShare(id, .expired) }
        let before = bench.objects(id)
        await #expect(throws: ShareError.takenOver(id)) { try await bench.remover().run(id, .expired) }
        #expect(bench.objects(id) == before && !before.isEmpty)
        #expect(try bench.ledger.share(id) == nil)
    }

    @Test func `where the store denies whose it is, a share ends, and an outage is waited for`() async throws {
        let id = try await bench.share(bench.order { $0.expiresAt = bench.time.now + 3_600 }).id
        let key = try KeyLayout.ana.shareOwner(id, 1).rawValue
        await bench.time.advance(by: .seconds(3_601))
        let before = bench.objects(id)
        bench.store.add(StoreFault(.head, key: key, number: 1, .failBefore(.serverFailed)))
        await #expect(throws: StoreError.self) { try await bench.remover().run(id, .expired) }
        #expect(bench.objects(id) == before)
        bench.store.add(StoreFault(.head, key: key, .failBefore(.accessDenied)))
        try await bench.remover().run(id, .expired)
        #expect(bench.objects(id) == [])
        #expect(try bench.record(id).state == .expired)
    }

    @Test func `one that another process gives up while it is published here is left alone`() async throws {
        let id = try await bench.accept()
        let gate = Gate()
        bench.store.add(StoreFault(.put, key: ShareKeys(id).photo(2).rawValue, .hold(gate)))
        let attempt = Task { try await bench.publisher().run(id) }
        await gate.waitForArrivals(1)
        // Else theirs would be the puts that are given up.
        try await eventually("the other photos") { try bench.record(id).storedCount == 2 ? () : nil }
        try await bench.queue { try $0.giveShareUp(id) }
        gate.open()
        let result = await attempt.result
        #expect(throws: ShareError.takenOver(id)) { try result.get() }
        #expect(["0.jpg", "1.jpg", "2.jpg"].allSatisfy(bench.objects(id).contains))
    }

    @Test func `as long as it cannot be asked, nothing is published and nothing is called live`() async throws {
        let id = try await bench.accept()
        let key = try KeyLayout.ana.shareEnd(id).rawValue
        bench.store.add(StoreFault(.head, key: key, number: 1, .failBefore(.serverFailed)))
        await #expect(throws: StoreError.self) { try await bench.publisher().run(id) }
        #expect(bench.objects(id) == [])
        // After its puts.
        bench.store.add(StoreFault(.head, key: key, number: 2, .failBefore(.serverFailed)))
        await #expect(throws: StoreError.self) { try await bench.publisher().run(id) }
        #expect(try bench.record(id).state == .preparing)
        guard case .live = try await bench.publisher().run(id) else {
            Issue.record("it is not live")
            return
        }
    }

    @Test(arguments: ["", "ruin", #"{"version":7}"#])
    func `that there is something counts, also where it cannot be read`(text: String) async throws {
        let id = try await bench.share().id
        try await takeBack(id, Array(text.utf8))
        try await bench.service().round()
        #expect(try bench.record(id).state == .revoked && bench.record(id).endedBy == "another one")
    }

    @Test func `a full store keeps no share in sight, and none from its end`() async throws {
        let own = try await bench.share().id
        let second = try await bench.share(bench.order { $0.quality = .full }).id
        var generator = SystemRandomNumberGenerator()
        let other = ShareID(using: &generator)
        try await bench.memory.store([1], at: ShareKeys(other).page)
        let now = bench.time.now
        try bench.ledger.beginShareRemoval(
            other, location: "Rome", machine: "tower", expiresAt: now + 86_400, at: now)
        for id in [own, second] { try bench.ledger.endShare(id, .revoked) }
        // Each is told before it is removed, and again after it.
        bench.store.add(StoreFault(.put, numbers: 1...6, .failBefore(.noSpace)))
        try await bench.service().round()
        for id in [own, second, other] { #expect(bench.objects(id) == []) }
        let troubles = try bench.ledger.shareTroubles()
        #expect(troubles.map(\.share) == [own, second, other] && troubles.allSatisfy { $0.kind == .end })
        // There is room again.
        try await bench.service().round()
        #expect(try bench.ledger.shareTroubles().isEmpty)
        for id in [own, second, other] {
            #expect(try bench.memory.content(KeyLayout.ana.shareEnd(id)) != nil)
        }
    }

    @Test func `what passes by itself is waited for before another machine's share is removed`() async throws {
        var generator = SystemRandomNumberGenerator()
        let other = ShareID(using: &generator)
        try await bench.memory.store([1], at: ShareKeys(other).page)
        let now = bench.time.now
        try bench.ledger.beginShareRemoval(
            other, location: "Rome", machine: "tower", expiresAt: now + 86_400, at: now)
        bench.store.add(StoreFault(.put, number: 1, .failBefore(.serverFailed)))
        try await bench.service().round()
        #expect(bench.objects(other) == ["index.html"])
        try await bench.service().round()
        #expect(bench.objects(other) == [])
    }

    @Test func `a share of the same id of another user is none of ours`() async throws {
        let id = try await bench.share().id
        try await bench.memory.store([1], at: try KeyLayout(user: "bob").shareEnd(id))
        try await bench.service().round()
        #expect(try bench.record(id).state == .live)
    }
}
