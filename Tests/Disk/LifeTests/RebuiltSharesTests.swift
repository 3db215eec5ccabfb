import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Shares that changed after the catalogue was written last, and whose ledger is gone.
@Suite struct RebuiltSharesTests {
    private let home: Home
    private let id: ShareID

    /// A share of three photos that the catalogue tells of.
    init() async throws {
        home = try Home()
        for name in ["a", "b", "c"] { home.disk.write("photo \(name)", to: Home.rome.appending("\(name).jpg")) }
        let process = try home.start()
        try await process.pass()
        id = try await process.share(Home.rome)
        try await process.pass()
        _ = try await home.finish(process)
    }

    private func rebuilt() async throws -> AgentProcess {
        home.loseLedger()
        let process = try home.start()
        try await process.rebuild()
        return process
    }

    @Test func `the first pass gives it a link again, and the second one has nothing to do`() async throws {
        let process = try await rebuilt()
        #expect(try process.ledger.share(id)?.link == nil)
        try await process.pass()
        let share = try #require(try process.ledger.share(id))
        #expect(share.link != nil && share.state == .live && share.step == .done)
        let puts = { process.store.calls.count { $0.operation == .put && $0.key.hasPrefix(ShareKeys(self.id).folder) } }
        let before = puts()
        try await process.pass()
        #expect(puts() == before)
        _ = try await home.finish(process)
    }

    @Test func `one that was revoked is over, and nothing of it is left`() async throws {
        let process = try home.start()
        try await process.revoke(id)
        _ = try await home.finish(process)
        // A put that was under way comes to its end.
        try await home.memory.store([1], at: ShareKeys(id).photo(1))
        let later = try await rebuilt()
        #expect(try later.ledger.share(id)?.state == .revoking)
        #expect(try later.ledger.rebuiltCounts().shares == 0)
        try await later.pass()
        #expect(try later.ledger.share(id)?.state == .revoked)
        #expect(!home.memory.keys.contains { $0.rawValue.hasPrefix(ShareKeys(id).folder) })
        _ = try await home.finish(later)
    }

    @Test func `one that was changed has the photos that its manifest names, and goes on from there`() async throws {
        home.disk.remove(Home.rome.appending("a.jpg"))
        home.disk.write("photo d", to: Home.rome.appending("d.jpg"))
        let process = try home.start()
        try await process.scanAndStore()
        #expect(try await process.share(Home.rome) == id)
        _ = try await home.finish(process)

        let later = try await rebuilt()
        let share = try #require(try later.ledger.share(id))
        #expect(share.state == .live && share.photoCount == 3 && share.storedCount == 3)
        try await later.pass()
        #expect(try await later.share(Home.rome) == id)
        let whole = try #require(try later.ledger.share(id))
        #expect(whole.photoCount == 3 && whole.storedCount == 3 && whole.step == .done)
        for photo in try later.ledger.sharePhotos(id) {
            let bytes = try #require(home.memory.content(whole.keys.photo(photo.slot)))
            #expect(photo.copy?.sha256 == ContentDigest(of: bytes).sha256)
        }
        _ = try await home.finish(later)
    }

    @Test func `what its machine adds before another one in its place has looked stays to be seen`() async throws {
        let tower = try Home("tower", beside: home)
        let process = try tower.start()
        try await process.rebuild()
        let own = try home.start()
        for name in ["d", "e"] { home.disk.write("photo \(name)", to: Home.rome.appending("\(name).jpg")) }
        try await own.scanAndStore()
        #expect(try await own.share(Home.rome) == id)
        func seen() throws -> [SHA256Digest] {
            let bytes = try #require(home.memory.content(ShareKeys(id).manifest))
            return try ShareManifestRules(asked: id).check(Array(bytes), foundAt: nil).photos.map(\.sha256)
        }
        let whole = try seen()
        #expect(whole.count == 5)
        try await process.pass()
        #expect(try process.ledger.share(id)?.ownership != nil)
        #expect(try seen() == whole)
        try await process.renew(id)
        #expect(try seen() == whole)
        #expect(try process.ledger.sharePhotos(id).allSatisfy { $0.copy != nil && $0.position != nil })
        #expect(try process.ledger.check() == [])
        _ = try await home.finish(own)
        _ = try await tower.finish(process)
    }

    @Test func `one whose manifest is listed, and not given, stays live`() async throws {
        home.loseLedger()
        let manifest = ShareKeys(id).manifest.rawValue
        let store = FaultyStore(home.memory, faults: [StoreFault(.get, key: manifest, .failBefore(.notFound))])
        let process = try AgentProcess(home, store: store, isAlive: { true })
        let problems = try await process.rebuild()
        #expect(problems.count == 1 && problems[0].contains("says that it does not have it"), "\(problems)")
        #expect(try process.ledger.share(id)?.state == .live)
        #expect(home.memory.keys.contains(ShareKeys(id).manifest))
        _ = try await home.finish(process)
    }

    @Test func `a manifest that cannot be read is told, and the share stays as it was known`() async throws {
        try await home.memory.delete(ShareKeys(id).manifest)
        try await home.memory.store(Array("nothing".utf8), at: ShareKeys(id).manifest)
        home.loseLedger()
        let process = try home.start()
        let problems = try await process.rebuild()
        #expect(problems.count == 1 && problems[0].contains("its manifest is none"), "\(problems)")
        #expect(try process.ledger.share(id)?.state == .live)
        _ = try await home.finish(process)
    }
}
