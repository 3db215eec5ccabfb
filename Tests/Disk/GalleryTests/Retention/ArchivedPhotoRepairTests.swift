import Foundation
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Photos of events whose elements are gone from the disk, and of which the archive or the pool has lost the copy.
@Suite struct ArchivedPhotoRepairTests {
    private let bench: RetentionBench

    init() throws {
        bench = try RetentionBench()
    }

    private var queue: LedgerQueue { LedgerQueue(bench.ledger) }

    private func verify() async throws {
        await bench.time.advance(by: .seconds(60))
        _ = try await Verifier(
            store: bench.store, ledger: queue, cost: VerificationCost(prices: nil), time: bench.time.source
        ).run(.percent(100), costingAtMost: nil)
    }

    private func repair() async throws -> Int {
        try await StoredCopyRepair(
            store: bench.store, ledger: queue, keys: try KeyLayout(user: "ana"), time: bench.time.source
        ).run()
    }

    private func archive() async throws {
        try bench.write(bench.event("e1", photo: try RetentionBench.photo(1)), to: "one.json")
        try await bench.sync()
        try await bench.cleanUp()
        try #require(try bench.isArchived("e1"))
    }

    @Test func `an archived photo that is gone comes back from the pool, with what was told of it`() async throws {
        try await archive()
        try await bench.memory.delete(try bench.key("e1"))
        try await verify()
        #expect(try bench.ledger.overview().lost == 1)
        #expect(try await repair() == 1)
        #expect(try bench.isArchived("e1"))
        #expect(bench.memory.info(try bench.key("e1"))?.metadata["event-id"] == "e1")
        #expect(try bench.ledger.overview().lost == 0)
        try await verify()
        #expect(try bench.ledger.overview().lost == 0)
    }

    @Test(arguments: [true, false], [true, false])
    func `what the pool had of an archived photo comes back from the archive, and was not lost`(
        isAlone: Bool, isGone: Bool
    ) async throws {
        let old = bench.event("e1", photo: try RetentionBench.photo(1))
        let young = bench.event("e2", age: 1, photo: try RetentionBench.photo(2, of: "size-7x9.jpg"))
        try bench.write(isAlone ? "[\(old)]" : "[\(old), \(young)]", to: "events.json")
        try await bench.sync()
        try await bench.cleanUp()
        try #require(try bench.isArchived("e1"))
        #expect(bench.exists("events.json") != isAlone)
        let key = try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: try RetentionBench.jpeg(1)).md5))
        let bytes = try #require(bench.memory.content(key))
        if isGone { try await bench.memory.delete(key) } else { bench.memory.damage(key) }
        try await verify()
        try await bench.sync()
        #expect(try bench.ledger.object(key)?.problem != nil)
        #expect(try bench.ledger.overview().lost == 0)
        #expect(try await repair() == 1)
        #expect(bench.memory.content(key) == bytes)
        #expect(try bench.ledger.overview().broken == 0)
        #expect(try await repair() == 0)
    }

    @Test func `one that is known as damaged is replaced, whatever the store tells of it`() async throws {
        try await archive()
        let key = try bench.key("e1")
        let bytes = try #require(bench.memory.content(key))
        let md5 = try #require(bench.memory.info(key)?.photoMD5)
        bench.memory.damage(key)
        try await verify()
        let digest = ContentDigest(of: bytes)
        let photo = PreparedPhoto(
            bytes,
            examined: PhotoFacts(
                stamp: FileStamp(device: 0, inode: 0, size: 0, modified: 0), type: .jpeg,
                digest: ContentDigest(md5: md5, sha256: digest.sha256)),
            plan: PlannedUpload(key: key, condition: .ifAbsent, type: .jpeg),
            copy: StoredCopy(
                content: .unchanged, type: .jpeg, digest: digest, width: nil, height: nil, takenAt: nil))
        _ = try await Uploader(ledger: queue, store: bench.store, now: bench.time.source.now).put(photo)
        #expect(bench.memory.content(key) == bytes)
    }

    @Test func `an archived photo of which nothing else is left is lost, until somebody forgets it`() async throws {
        try await archive()
        for key in bench.memory.keys { try await bench.memory.delete(key) }
        try await verify()
        #expect(try await repair() == 0)
        let lost = try bench.ledger.overview().lost
        #expect(lost >= 1)
        let metrics = MetricsReport(
            retention: RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90), prices: nil)
        #expect(try metrics.text(bench.ledger, at: bench.time.now).contains("\nsync_agent_lost_photos \(lost)\n"))
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).map(\.key) == [bench.key("e1")])
        #expect(try bench.ledger.overview().bytesStored == 0)
        _ = try bench.ledger.forget(photos: [], objects: [try bench.key("e1")])
        #expect(try bench.ledger.lostBesidePhotos(limit: 9).isEmpty)
    }
}
