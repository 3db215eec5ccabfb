import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Two machines of one user, and the shares of one of them.
@Suite struct OtherSharesTests {
    private let laptop: Home
    private let tower: Home
    private let id: ShareID

    /// The laptop has shared three photos, and its catalogue tells so.
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

    private func isLeft() -> Bool { laptop.memory.keys.contains { $0.rawValue.hasPrefix(ShareKeys(id).folder) } }
    private func isTold() throws -> Bool { laptop.memory.content(try KeyLayout.ana.shareEnd(id)) != nil }

    private func other(_ process: AgentProcess) async throws -> OtherShare {
        let found = try await process.otherShares()
        #expect(found.problems == [] && found.shares.count == 1)
        return try #require(found.shares.first)
    }

    @Test func `a machine knows what another one shares, and nobody lists a share twice`() async throws {
        let process = try tower.start()
        let share = try await other(process)
        #expect(share.id == id && share.machineName == "laptop" && share.state == .live && share.photoCount == 3)
        #expect(share.location == "Rome Italy" && share.endedBy == nil)
        let own = try laptop.start()
        #expect(try await own.otherShares().shares == [])
        // It goes on in the laptop's place.
        try await process.rebuild()
        #expect(try process.ledger.share(id) != nil)
        #expect(try await process.otherShares().shares == [])
        _ = try await tower.finish(process)
        _ = try await laptop.finish(own)
    }

    @Test func `what is revoked on another machine is gone at once, and stays so whatever its own machine does`()
        async throws
    {
        let process = try tower.start()
        try await process.revokeOther(try await other(process))
        #expect(!isLeft())
        #expect(try isTold())
        let listed = try await other(process)
        #expect(listed.state == .revoked && listed.endedBy == "tower" && listed.endedAt != nil)

        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .revoked)
        #expect(try own.ledger.share(id)?.endedBy == "tower")
        let second = try await own.share(Home.rome)
        #expect(second != id)
        #expect(!isLeft())
        // Its catalogue tells both by now.
        try await own.pass()
        let known = try await process.otherShares().shares
        #expect(known.first { $0.id == id }?.endedBy == "tower")
        let states = known.map { "\($0.id) \($0.state)" }
        #expect(Set(states) == ["\(second) live", "\(id) revoked"])
        _ = try await tower.finish(process)
        _ = try await laptop.finish(own)
    }

    @Test func `a photo that is there again makes it revoking, and the machine that has it removes that`() async throws
    {
        let process = try tower.start()
        try await process.revokeOther(try await other(process))
        try await laptop.memory.store([1], at: ShareKeys(id).photo(1))
        #expect(try await other(process).state == .revoking)
        let own = try laptop.start()
        try await own.pass()
        #expect(!isLeft())
        _ = try await tower.finish(process)
        _ = try await laptop.finish(own)
    }

    @Test func `one that has expired and is gone is asked for once, and stays as it was where nobody can tell`()
        async throws
    {
        let folder = ShareKeys(id).folder
        laptop.clock.advance(by: .seconds(86_400 * 12))
        for key in laptop.memory.keys where key.rawValue.hasPrefix(folder) { try await laptop.memory.delete(key) }
        let process = try tower.start()
        process.store.add(StoreFault(.list, key: folder, number: 1, .failBefore(.serverFailed)))
        let untold = try await process.otherShares()
        #expect(untold.shares.map(\.state) == [.live] && untold.problems.count == 1)
        #expect(untold.problems[0].contains(folder))
        for _ in 0..<2 {
            let share = try await other(process)
            #expect(share.state == .expired && share.endedAt == share.expiresAt)
        }
        #expect(process.store.calls.count { $0.operation == .list && $0.key == folder } == 2)
        // One whose end was put off is another.
        let share = try await other(process)
        #expect(try process.ledger.isShareGone(id, expiredAt: share.expiresAt))
        #expect(try !process.ledger.isShareGone(id, expiredAt: share.expiresAt + 1))
        _ = try await tower.finish(process)
    }

    @Test func `an end that the store does not give now is told, and keeps no other share from being listed`()
        async throws
    {
        let process = try tower.start()
        try await process.revokeOther(try await other(process))
        let end = try KeyLayout.ana.shareEnd(id)
        process.store.add(StoreFault(.get, key: end.rawValue, number: 1, .failBefore(.serverFailed)))
        let found = try await process.otherShares()
        #expect(found.shares.map(\.state) == [.revoking] && found.problems.count == 1)
        #expect(try await other(process).state == .revoked)
        _ = try await tower.finish(process)
    }

    @Test func `one that is over, and that two machines have so, is listed once by a third`() async throws {
        let own = try laptop.start()
        try await own.revoke(id)
        try await own.pass()
        let process = try tower.start()
        // The laptop goes on, though the tower has taken its place.
        try await process.rebuild()
        try await process.pass()
        laptop.disk.write("photo d", to: Home.rome.appending("d.jpg"))
        try await own.pass()
        _ = try await tower.finish(process)
        _ = try await laptop.finish(own)
        let third = try Home("third", beside: laptop)
        let observer = try third.start()
        #expect(try await observer.otherShares().shares.map { "\($0.id) \($0.state)" } == ["\(id) revoked"])
        _ = try await third.finish(observer)
    }

    @Test(arguments: 1...14)
    func `killed at any request of it, the next pass goes on, and nothing is removed that is not told`(number: Int)
        async throws
    {
        let count = Lock(0)
        let shareEnd = try KeyLayout.ana.shareEnd(id)
        let (memory, folder) = (laptop.memory, ShareKeys(id).folder)
        let first = try tower.start()
        let share = try await other(first)
        _ = try await tower.finish(first)
        let isUntold = Lock(false)
        let store = FaultyStore(memory) { call in
            if [.delete, .deleteMany].contains(call.operation), memory.content(shareEnd) == nil {
                isUntold.withLock { $0 = true }
            }
            let isDead = count.withLock { count in
                count += 1
                return count >= number
            }
            return isDead ? [.failBefore(.unreachable)] : []
        }
        let process = try AgentProcess(tower, store: store, isAlive: { true })
        _ = try? await process.revokeOther(share)
        _ = try await tower.finish(process)
        #expect(!isUntold.withLock { $0 })

        let next = try tower.start()
        #expect(try await other(next).state != .live)
        try await next.pass()
        #expect(!memory.keys.contains { $0.rawValue.hasPrefix(folder) })
        #expect(memory.content(shareEnd) != nil)
        #expect(try next.ledger.shareRemovals(goneAfter: .distantPast).map(\.goneAt).allSatisfy { $0 != nil })
        _ = try await tower.finish(next)
        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .revoked)
        _ = try await laptop.finish(own)
    }

    @Test func `a ledger that is rebuilt does not take up what was revoked elsewhere`() async throws {
        let process = try tower.start()
        try await process.revokeOther(try await other(process))
        // The manifest was written again by a machine that is gone now.
        try await laptop.memory.store(Array("manifest".utf8), at: ShareKeys(id).manifest)
        laptop.loseLedger()
        let own = try laptop.start()
        #expect(try await own.rebuild() == [])
        #expect(try own.ledger.share(id)?.state == .revoking)
        #expect(try own.ledger.rebuiltCounts().shares == 0)
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .revoked)
        #expect(!isLeft())
        _ = try await laptop.finish(own)
        _ = try await tower.finish(process)
    }

    @Test(arguments: [false, true])
    func `a catalogue that cannot be read is told, and a share of it can be taken back by its id`(
        manifestIsGone: Bool
    ) async throws {
        let key = try #require(laptop.memory.keys.first { $0.rawValue.hasPrefix(KeyLayout.ana.catalog) })
        for key in laptop.memory.keys where key.rawValue.hasPrefix(KeyLayout.ana.catalog) {
            try await laptop.memory.delete(key)
        }
        try await laptop.memory.store(Array("ruin".utf8), at: key)
        let process = try tower.start()
        let found = try await process.otherShares()
        #expect(found.shares == [] && found.problems.count == 1 && found.problems[0].contains("cannot be unpacked"))
        if manifestIsGone { laptop.memory.lose(ShareKeys(id).manifest) }
        let stray = try #require(try await process.stray(id))
        #expect(stray.location == (manifestIsGone ? nil : "Rome Italy") && stray.expiresAt > laptop.clock.now)
        #expect(try await process.revokeStray(id, stray))
        #expect(try !isLeft() && isTold())
        #expect(try await process.stray(id) == nil)
        let own = try laptop.start()
        try await own.pass()
        #expect(try own.ledger.share(id)?.state == .revoked)
        #expect(!isLeft())
        _ = try await laptop.finish(own)
        _ = try await tower.finish(process)
    }

    @Test(arguments: [StoreError.Code.accessDenied, .notFound, .serverFailed])
    func `a catalogue that the store does not give is told, and what the others share is listed`(
        code: StoreError.Code
    ) async throws {
        let strange = try CatalogSegment(machine: "w", from: 1, to: 1).key(KeyLayout.ana)
        try await laptop.memory.store([1], at: strange)
        let store = FaultyStore(laptop.memory) { call in
            call.operation == .get && call.key == strange.rawValue ? [.failBefore(code)] : []
        }
        let process = try AgentProcess(tower, store: store, isAlive: { true })
        let found = try await process.otherShares()
        #expect(found.shares.map(\.id) == [id])
        #expect(found.problems.count == 1, "\(found.problems)")
        #expect(found.problems.first?.hasPrefix("the catalogue of machine w: ") == true)
        _ = try await tower.finish(process)
    }
}
