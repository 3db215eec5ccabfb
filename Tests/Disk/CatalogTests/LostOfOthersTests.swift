import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// What a rebuild has called lost of another machine, which says otherwise later.
@Suite struct LostOfOthersTests {
    private static let day = Duration.seconds(86_400)

    private let bench: CatalogBench
    private let tower: CatalogMachine
    private let laptop: CatalogMachine

    init() throws {
        (bench, tower, laptop) = try CatalogBench.withTwo()
    }

    private var lost: Int {
        get throws { try tower.ledger.overview().lost }
    }

    /// The laptop names a photo that the store does not have, and the tower takes that up as a loss.
    private func lose() async throws {
        try await laptop.see(["a.jpg": "sunset", "b.jpg": "another"])
        try await laptop.write()
        try await tower.see(["own.jpg": "own"])
        try await tower.write()
        bench.memory.lose(try bench.photoKey("sunset"))
        #expect(try await tower.rebuild().lost == 1)
        // Its catalogue names the photo still.
        try await expect(lost: 1)
    }

    /// What the tower tells after the next day's jobs.
    private func expect(lost count: Int) async throws {
        await bench.time.advance(by: Self.day)
        _ = try await bench.jobs(tower, percent: 0)
        #expect(try lost == count)
        try await tower.refresh()
        let overview = try tower.ledger.overview()
        #expect(overview.lost == count && overview.broken == count && overview.leftToOthers == 1 - count, "\(overview)")
        #expect(try tower.ledger.check() == [])
    }

    /// The laptop deletes the photo that is gone, as a person wants it.
    private func forget() async throws {
        try await laptop.see(["b.jpg": "another"])
        try await laptop.refresh()
        let photos = try laptop.ledger.lostPhotos(limit: 9).map(\.id)
        #expect(try laptop.ledger.forget(photos: photos, objects: []) == 1)
        try await laptop.write()
    }

    @Test func `what its machine has deleted on purpose is none any more`() async throws {
        try await lose()
        try await forget()
        try await expect(lost: 0)
        // It stays so.
        try await expect(lost: 0)
        #expect(try await tower.rebuild().lost == 0)
    }

    @Test func `what its machine has stored under another key is none any more`() async throws {
        try await lose()
        try await laptop.see(["a.jpg": "sunset, made anew", "b.jpg": "another"])
        try await laptop.write()
        try await expect(lost: 0)
    }

    @Test func `it stays one while the catalogue of its machine cannot be read`() async throws {
        try await lose()
        try await forget()
        let whole = bench.memory.copy()
        let segments = try await bench.keysOfSegments()
        for key in segments { bench.memory.damage(key) }
        try await expect(lost: 1)
        for key in segments { bench.memory.recover(key, from: whole) }
        try await expect(lost: 0)
    }

    @Test func `it stays one while the catalogue of its machine ends before what its note tells`() async throws {
        try await lose()
        try await forget()
        let status = try laptop.ledger.catalogStatus()
        try await bench.sign(of: status.machine, name: "laptop", catalogWrite: status.next)
        try await expect(lost: 1)
        try await bench.sign(of: status.machine, name: "laptop", catalogWrite: status.next - 1)
        try await expect(lost: 0)
    }
}
