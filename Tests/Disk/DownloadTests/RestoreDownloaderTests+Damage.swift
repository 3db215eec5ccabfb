import FoundationEssentials
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

extension RestoreDownloaderTests {
    private var quickDelivery: RestoreDownloader {
        let time = TimeSource(
            now: { Date(timeIntervalSince1970: 0) }, monotonic: { .zero }, sleep: { _ in }, random: { 0 })
        return RestoreDownloader(
            store: store, ledger: LedgerQueue(ledger), owner: owner,
            pool: BlockingPool(name: "disk", threads: 3), time: time)
    }

    /// A job of one object that can be read, and of which other bytes are expected than are there.
    /// - Parameter isThere: whether there are any.
    private func restoreRuined(_ key: ObjectKey, isThere: Bool = true) async throws -> RestoreJobID {
        if isThere {
            try await memory.store(Array("another photo".utf8), at: key)
            memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        }
        let item = RestoreJobDraft.Item(
            key: key, path: nil, destination: "1.jpg", size: 5, sha256: SHA256Digest(of: bytes("1.jpg")),
            storageClass: .deepArchive, tier: .bulk)
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, output: output, items: [item])
        let job = try #require(try ledger.addRestoreJob(draft, as: nil, at: time.now).job)
        try finishRestores(job.id)
        return job.id
    }

    @Test func `an archived object that is whole when it is read again stays asked for, and is saved by the next look`()
        async throws
    {
        let (name, digest) = ("1.jpg", ContentDigest(of: bytes("1.jpg")))
        let trips = try #require(try ledger.watchedFolder(at: "/pictures/trips"))
        let stamp = FileStamp(device: 1, inode: 1, size: 1, modified: 1)
        _ = try ledger.observe(trips.id, file: "1.jpg", stamp: stamp, stillThere: { _ in true }, at: time.now)
        for claim in try ledger.claim(limit: 1, at: time.now) {
            let object = ObjectRecord(
                key: try key(name), size: Int64(bytes(name).count), md5: digest.md5, sha256: digest.sha256,
                contentType: "image/jpeg", storageClass: .deepArchive, takenAt: nil, storedAt: time.now)
            try ledger.commit(claim, outcome: .uploaded(digest, object), at: time.now)
        }
        let job = try await restore([name], output: output)
        // As often as a download begins anew.
        store.add(StoreFault(.get, key: try key(name).rawValue, numbers: 1...2, .failBefore(.badDigest)))
        #expect(try await quickDelivery.run().saved == 0)
        let item = try #require(try ledger.restoreItems(of: job, after: 0, limit: .max).first)
        #expect(item.state == .restored)
        #expect(try ledger.object(key(name))?.problem == nil)
        #expect(try await quickDelivery.run().saved == 1)
        #expect(try tree.read("out/\(name)") == bytes(name))
    }

    @Test(arguments: [true, false], [true, false])
    func `what is not what was asked for ends its restore, and the next step is told`(
        isOriginal: Bool, isThere: Bool
    ) async throws {
        let copy = try key("1.jpg")
        let original = try #require(copy.original)
        let job = try await restoreRuined(isOriginal ? original : copy, isThere: isThere)
        let result = try await quickDelivery.run()
        let item = try #require(try ledger.restoreItems(of: job, after: 0, limit: .max).first)
        #expect(result.saved == 0 && result.unsaved == [job: [item.id]])
        #expect(item.state == .failed)
        let step = isOriginal ? "restore the stored copy (without --original)" : "any copy of the photo"
        #expect(item.error?.contains(step) == true)
        #expect(result.problems.map(\.reason) == [item.error])
        #expect(try ledger.restoreJob(job)?.isOver == true)
        #expect(try tree.photos().filter { !$0.contains("part") } == [])
        // It is over: nobody asks for it again.
        let calls = store.calls.count
        #expect(try await quickDelivery.run().problems == [])
        #expect(store.calls.count == calls)
    }

    @Test func `where the store's record of a photo cannot be read, its restore ends with what the store says`()
        async throws
    {
        let copy = try key("1.jpg")
        let job = try await restoreRuined(copy)
        for operation in [StoreOperation.get, .head] {
            store.add(StoreFault(operation, key: copy.rawValue, .failBefore(.badDigest, isOfRecord: true)))
        }
        #expect(try await quickDelivery.run().saved == 0)
        let item = try #require(try ledger.restoreItems(of: job, after: 0, limit: .max).first)
        #expect(item.state == .failed && item.error?.contains("scripted by the test") == true)
    }
}
