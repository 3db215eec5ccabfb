import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What one machine a day does for all, where something of it fails as nobody expects.
@Suite struct FailingJobTests {
    private let bench: CatalogBench
    private let tower: CatalogMachine

    init() throws {
        bench = try CatalogBench()
        tower = try bench.machine("tower")
    }

    /// The laptop has written its catalogue, and is off for three days.
    private func laptopIsGone(sharing share: CatalogShare? = nil) async throws {
        let laptop = try bench.machine("laptop")
        try await laptop.see(["a.jpg": "sunset"])
        if let share { _ = try laptop.ledger.takeShareUp(share, movedTo: [:]) }
        try await laptop.write()
        try await bench.sign(of: try laptop.ledger.catalogStatus().machine, catalogWrite: 1)
        await bench.time.advance(by: .seconds(3 * 86_400))
    }

    @Test func `an error that no store should throw keeps no other job from being done`() async throws {
        try await laptopIsGone()
        let result = try await bench.jobs(tower, through: OddStore(base: bench.store))
        #expect(result.problems.contains { $0.hasPrefix("cannot take back uploads") }, "\(result.problems)")
        #expect(result.done.contains { $0.hasPrefix("verified for machines that are silent") }, "\(result.done)")
    }

    @Test func `a claim of an old day that cannot be deleted is told`() async throws {
        try await bench.memory.store([1], at: bench.keys.jobClaim(CalendarDay(bench.time.now)))
        await bench.time.advance(by: .seconds(7 * 86_400))
        try await laptopIsGone()
        let result = try await bench.jobs(tower, through: KeepingStore(base: bench.store))
        #expect(
            result.problems.contains { $0.hasPrefix("claims of old days cannot be removed") }, "\(result.problems)")
    }

    @Test func `a share whose guests' photos cannot be kept here stays, and is named`() async throws {
        var generator = SystemRandomNumberGenerator()
        let id = ShareID(using: &generator)
        var photo = CatalogShare.Photo(
            slot: 0, md5: "9361b7c59dc8a383ecfa02da666d7b66", path: "/pictures/Rome/a.jpg", local: true)
        photo.position = 0
        try await laptopIsGone(
            sharing: CatalogShare(
                share: "\(id)", path: "/pictures/Rome", selection: "", quality: "reduced", location: "Rome",
                start: "2025-05-01", end: "2025-05-09", createdAt: 1_000, expiresAt: 2_000, state: "preparing",
                step: "publish", nextSlot: 1, photos: [photo]))
        let (key, bytes) = (ShareKeys(id).guest(0), [UInt8](repeating: 7, count: 100))
        _ = try await bench.memory.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: key,
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
        let guests = GuestIntake(
            store: bench.store, ledger: LedgerQueue(tower.ledger),
            box: GuestIntake.Box(bench.tree.path("guests"), freeBytes: { _ in 1 << 30 }), reducer: tower.disk,
            maker: FakeCopyMaker(disk: tower.disk), pool: bench.pool, disk: bench.pool, time: bench.time.source,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let result = try await bench.jobs(tower, guests: guests)
        #expect(result.problems.contains { $0.contains("\(id)") && $0.contains("make room") }, "\(result.problems)")
        #expect(bench.memory.info(key) != nil)
    }
}

/// A store that lets nobody delete.
private struct KeepingStore: WrappedStore {
    let base: any ObjectStore

    func delete(_ keys: [ObjectKey]) async throws -> [ObjectKey: StoreError] {
        let failures = keys.map { key in
            (key, StoreError(.accessDenied, operation: "delete", key: key.rawValue, message: "it is denied"))
        }
        return Dictionary(failures, uniquingKeysWith: { first, _ in first })
    }
}

/// A store that fails otherwise than stores do.
private struct OddStore: WrappedStore {
    struct Oddity: Error {}

    let base: any ObjectStore

    func takeBackUploads(below prefix: String) async throws { throw Oddity() }
}
