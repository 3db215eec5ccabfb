import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage
import Testing

@testable import SyncCLI

/// What `status` tells of a photo that was restored.
@Suite struct RestoredPhotoTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let ledger: Ledger

    init() throws {
        ledger = try Ledger.inMemory()
    }

    private func restored(until end: Date) throws -> PhotoStatus {
        let folder = try #require(try ledger.register([WatchedFolder(kind: .gallery, path: "/pictures")]).first)
        let file = ScannedFile(name: "a.jpg", stamp: FileStamp(device: 1, inode: 1, size: 9, modified: 1))
        _ = try ledger.reconcile(
            folder.id, directory: "", files: [file], settled: { _ in true }, stillThere: { _ in true }, at: now)
        let md5 = try #require(MD5Digest(bytes: [UInt8](repeating: 1, count: 16)))
        let sha256 = try #require(SHA256Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let object = ObjectRecord(
            key: try ObjectKey("users/ana/photos/a.dat"), size: 9, md5: md5, sha256: sha256,
            contentType: "image/jpeg", storageClass: .glacier, restore: .restored(until: end), storedAt: now)
        let claim = try #require(try ledger.claim(limit: 1, at: now).first)
        try ledger.commit(claim, outcome: .uploaded(ContentDigest(md5: md5, sha256: sha256), object), at: now)
        var found: PhotoStatus?
        try ledger.photos(at: "/pictures") { found = $0 }
        return try #require(found)
    }

    @Test func `a restore whose time is over is told no more, though nothing has noted that yet`() throws {
        let end = now.addingTimeInterval(60)
        let photo = try restored(until: end)
        let policy = TierPolicy(
            user: "ana", mode: .off, archiveAfterDays: 0, originalsAfterDays: 0,
            floor: ArchiveFloor(configured: 0, prices: nil), shareExpireDays: 30)
        let view = PhotoListView(terminal: .standardOutput(["TERM": "dumb"]))
        let before = try PhotoStatusText(photo, policy: policy, in: ledger, now: now)
        #expect(before.badge == .restored && before.restoredUntil == end)
        #expect(view.lines(before).joined().contains("until "))
        let after = try PhotoStatusText(photo, policy: policy, in: ledger, now: end)
        #expect(after.badge == .archived && after.restoredUntil == nil)
        #expect(!view.lines(after).joined().contains("until "))
    }
}
