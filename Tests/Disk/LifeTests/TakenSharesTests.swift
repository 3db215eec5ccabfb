import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// A share of the laptop's, with which the tower goes on.
@Suite struct TakenSharesTests {
    private let laptop: Home
    private let tower: Home
    private let id: ShareID

    init() async throws {
        laptop = try Home("laptop")
        tower = try Home("tower", beside: laptop)
        for name in ["a", "b", "c"] { laptop.disk.write("photo \(name)", to: Home.rome.appending("\(name).jpg")) }
        let process = try laptop.start()
        try await process.pass()
        id = try await process.share(Home.rome)
        try await process.pass()
        _ = try await laptop.finish(process)
    }

    /// What others need to see it.
    private func isWhole() -> Bool {
        let keys = ShareKeys(id)
        return ([keys.manifest, keys.page] + (0..<3).flatMap { [keys.photo($0), keys.thumbnail($0)] })
            .allSatisfy { laptop.memory.content($0) != nil }
    }

    private func other(_ process: AgentProcess) async throws -> OtherShare {
        try #require(try await process.otherShares().shares.first { $0.id == id })
    }

    private func owner(_ number: Int) throws -> String? {
        try laptop.memory.content(KeyLayout.ana.shareOwner(id, number)).map {
            try ShareOwner(parsing: Array($0), of: id).name
        }
    }

    /// The tower takes it over, and publishes it in its next pass.
    private func takeOver() async throws {
        let process = try tower.start()
        #expect(try await process.takeOver(try await other(process)) == nil)
        #expect(try process.ledger.share(id)?.ownership == 1)
        try await process.pass()
        _ = try await tower.finish(process)
    }

    /// The tower is killed at a request of it, from 1.
    private func takeOver(dyingAt number: Int) async throws {
        let first = try tower.start()
        let share = try await other(first)
        _ = try await tower.finish(first)
        let count = Lock(0)
        let store = FaultyStore(laptop.memory) { _ in
            let isDead = count.withLock { count in
                count += 1
                return count >= number
            }
            return isDead ? [.failBefore(.unreachable)] : []
        }
        let killed = try AgentProcess(tower, store: store, isAlive: { true })
        _ = try? await killed.takeOver(share)
        _ = try await tower.finish(killed)
    }

    private var left: [ObjectKey] {
        laptop.memory.keys.filter { $0.rawValue.hasPrefix(ShareKeys(id).folder) }
    }

    @Test func `it has one owner from then on, and whoever has the link sees it all the time`() async throws {
        try await takeOver()
        #expect(try owner(1) == "tower")
        #expect(isWhole())
        let first = try tower.start()
        let share = try #require(try first.ledger.share(id))
        #expect(share.state == .live && share.step == .done && share.storedCount == 3)
        #expect(try await first.otherShares().shares == [])
        _ = try await tower.finish(first)

        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id) == nil)
        #expect(isWhole())
        #expect(try await other(own).machineName == "tower")
        _ = try await laptop.finish(own)
    }

    @Test func `one without a manifest is not taken over, and nothing of it is removed`() async throws {
        let process = try tower.start()
        let share = try await other(process)
        laptop.memory.lose(ShareKeys(id).manifest)
        let before = left
        await #expect(throws: ShareError.unseen(id)) { try await process.takeOver(share) }
        try await process.pass()
        #expect(left == before && before.count == 7)
        #expect(try process.ledger.share(id) == nil)
        _ = try await tower.finish(process)
        // Its own machine brings it back.
        let own = try laptop.start()
        #expect(try await own.share(Home.rome) == id)
        #expect(try await own.examine(id))
        try await own.pass()
        #expect(isWhole())
        _ = try await laptop.finish(own)
    }

    @Test func `as long as its machine is off, a third one lists it once, as the tower's`() async throws {
        try await takeOver()
        let third = try Home("third", beside: laptop)
        let process = try third.start()
        let found = try await process.otherShares()
        #expect(found.shares.map(\.id) == [id] && found.shares.first?.machineName == "tower")
        try await process.revokeOther(try #require(found.shares.first))
        #expect(left == [])
        _ = try await third.finish(process)
        let first = try tower.start()
        try await first.pass()
        #expect(try first.ledger.share(id)?.state == .revoked)
        _ = try await tower.finish(first)
    }

    @Test func `it is listed once, too, where the store does not tell now whose it is`() async throws {
        try await takeOver()
        let third = try Home("third", beside: laptop)
        let process = try third.start()
        let note = try KeyLayout.ana.shareOwner(id, 1)
        process.store.add(StoreFault(.get, key: note.rawValue, number: 1, .failBefore(.serverFailed)))
        let found = try await process.otherShares()
        #expect(found.shares.map(\.id) == [id] && found.problems.count == 1)
        #expect(try await process.otherShares().problems == [])
        _ = try await third.finish(process)
    }

    @Test func `it can be taken back, and from there again`() async throws {
        try await takeOver()
        let own = try laptop.start()
        try await own.pass()
        #expect(try await own.takeOver(try await other(own)) == nil)
        try await own.pass()
        #expect(try owner(2) == "laptop")
        #expect(try own.ledger.share(id)?.state == .live)
        let first = try tower.start()
        try await first.pass()
        #expect(try first.ledger.share(id) == nil)
        #expect(isWhole())
        #expect(try await first.takeOver(try await other(first)) == nil)
        #expect(try owner(3) == "tower")
        _ = try await tower.finish(first)
        try await own.pass()
        #expect(try own.ledger.share(id) == nil)
        _ = try await laptop.finish(own)
    }

    @Test(arguments: 1...16)
    func `killed at any request of it, one of the two goes on, and nothing of it is gone`(number: Int) async throws {
        try await takeOver(dyingAt: number)
        for _ in 0..<2 {
            for home in [tower, laptop] {
                let process = try home.start()
                try await process.pass()
                _ = try await home.finish(process)
            }
        }
        let (own, process) = (try laptop.start(), try tower.start())
        let states = [try own.ledger.share(id)?.state, try process.ledger.share(id)?.state]
        #expect(states.compactMap(\.self) == [.live])
        #expect(isWhole())
        _ = try await laptop.finish(own)
        _ = try await tower.finish(process)
    }

    @Test(arguments: 1...25)
    func `killed at any request of it and never seen again, somebody still knows the share and can take it back`(
        number: Int
    ) async throws {
        try await takeOver(dyingAt: number)

        let own = try laptop.start()
        try await own.pass()
        if try own.ledger.share(id) != nil {
            try await own.revoke(id)
        } else {
            try await own.revokeOther(try await other(own))
        }
        #expect(left == [])
        _ = try await laptop.finish(own)
    }

    @Test func `what its machine revokes before another one in its place has looked is not published again`()
        async throws
    {
        let process = try tower.start()
        try await process.rebuild()
        let own = try laptop.start()
        try await own.revoke(id)
        try await process.pass()
        #expect(try process.ledger.share(id)?.state == .revoked)
        #expect(left == [])
        _ = try await laptop.finish(own)
        _ = try await tower.finish(process)
    }

    @Test func `what its machine takes out before another one in its place has looked is not seen again`() async throws
    {
        let process = try tower.start()
        try await process.rebuild()
        let own = try laptop.start()
        laptop.disk.remove(Home.rome.appending("c.jpg"))
        try await own.pass()
        #expect(try await own.share(Home.rome) == id)
        #expect(left.count == 6)
        try await process.pass()
        #expect(left.count == 6)
        #expect(try process.ledger.sharePhotos(id).count { $0.position != nil } == 2)
        _ = try await laptop.finish(own)
        _ = try await tower.finish(process)
    }

    @Test func `what is revoked where nothing can be written then is told to the machine that had it all the same`()
        async throws
    {
        let isFull = Lock(true)
        let store = FaultyStore(laptop.memory) { call in
            isFull.withLock { $0 } && call.operation == .put ? [.failBefore(.noSpace)] : []
        }
        let process = try AgentProcess(tower, store: store, isAlive: { true })
        try await process.rebuild()
        await #expect(throws: StoreError.self) { try await process.revoke(id) }
        #expect(left == [])
        #expect(try process.ledger.share(id)?.state == .revoking)
        isFull.withLock { $0 = false }
        try await process.pass()
        #expect(try process.ledger.share(id)?.state == .revoked)
        _ = try await tower.finish(process)

        laptop.disk.write("photo d", to: Home.rome.appending("d.jpg"))
        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .revoked)
        #expect(try await own.share(Home.rome) != id)
        #expect(left == [])
        _ = try await laptop.finish(own)
    }

    @Test func `a machine that is replaced while it lives leaves its shares to the one in its place`() async throws {
        let process = try tower.start()
        try await process.rebuild()
        #expect(try process.ledger.share(id)?.ownership == nil)
        try await process.pass()
        #expect(try owner(1) == "tower")
        _ = try await tower.finish(process)
        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id) == nil)
        #expect(isWhole())
        _ = try await laptop.finish(own)
    }

    @Test func `a ledger of an earlier day knows it again by what the store tells`() async throws {
        try await takeOver()
        let process = try tower.start()
        try process.ledger.noteOwnership(0, ofShare: id)
        try await process.pass()
        #expect(try process.ledger.share(id)?.ownership == 1)
        #expect(isWhole())
        _ = try await tower.finish(process)
    }

    @Test func `one that is shared here already, and one that is over, are not taken`() async throws {
        let process = try tower.start()
        let share = try await other(process)
        try await process.revokeOther(share)
        let revoked = try await other(process)
        await #expect(throws: ShareError.over(id)) { try await process.takeOver(revoked) }
        // It was revoked after it was listed.
        await #expect(throws: ShareError.over(id)) { try await process.takeOver(share) }
        #expect(try owner(1) == nil)
        _ = try await tower.finish(process)
    }

    @Test func `after a hundred days, what tells whose it was goes with it, and not before`() async throws {
        try await takeOver()
        let keys = try KeyLayout.ana.shareOwner(id, 1)
        for (days, isThere) in [(99, true), (12, false)] {
            let process = try tower.start()
            laptop.clock.advance(by: .seconds(days * 86_400))
            try await process.pass()
            _ = try await process.doJobs()
            #expect((laptop.memory.content(keys) != nil) == isThere)
            _ = try await tower.finish(process)
        }
    }
}
