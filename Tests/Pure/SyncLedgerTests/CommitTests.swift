import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct CommitTests {
    static let photo: FilePath = "/pictures/gallery/a.jpg"

    /// What happens to the file while it is in hand.
    enum Meanwhile: CaseIterable {
        case nothing, changed, gone, renamed, movedAway, goneAndBack
    }

    enum Work: CaseIterable {
        case uploaded, failed, skipped, postponed, released, vanished

        func outcome(of claim: Claim, in world: World) throws -> Outcome {
            switch self {
            case .uploaded: try world.stored(claim)
            case .failed: .failed("cut off", try World.digest(of: claim.stamp))
            case .skipped: .skipped("no photo")
            case .postponed: .postponed("away", until: world.now + 60)
            case .released: .released
            case .vanished: .vanished
            }
        }

        /// The state of the photo at its last name; `nil`: forgotten.
        func expected(_ meanwhile: Meanwhile) -> PhotoState? {
            switch (self, meanwhile) {
            case (.uploaded, .gone): .missing
            case (_, .gone): nil
            case (_, .changed), (_, .renamed), (_, .movedAway), (_, .goneAndBack): .pending
            case (.uploaded, .nothing): .uploaded
            case (.failed, .nothing): .failed
            case (.skipped, .nothing): .skipped
            case (.postponed, .nothing), (.released, .nothing): .pending
            case (.vanished, .nothing): nil
            }
        }
    }

    @Test(arguments: Work.allCases, Meanwhile.allCases)
    func `a commit is right whatever happened to the file meanwhile`(work: Work, meanwhile: Meanwhile) throws {
        let world = try World()
        let stamp = world.write(Self.photo)
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        var path = Self.photo
        switch meanwhile {
        case .nothing: break
        case .changed: world.write(path)
        case .gone: world.remove(path)
        case .renamed:
            path = "/pictures/gallery/b.jpg"
            world.rename(Self.photo, to: path)
        case .movedAway:
            path = "/pictures/trips/b.jpg"
            world.rename(Self.photo, to: path)
        case .goneAndBack:
            world.remove(path)
            try world.scan()
            world.put(stamp, at: path)
        }
        try world.scan()
        try world.ledger.commit(claim, outcome: work.outcome(of: claim, in: world), at: world.now)
        #expect(try world.state(path) == work.expected(meanwhile))
        #expect(try world.ledger.check() == [])
        #expect(try world.ledger.overview().totals[.uploading].files == 0)
        // Nothing is lost: what is on the disk and not stored is in the queue or has a reason.
        let left = try world.ledger.claim(limit: 9, at: world.now + 60).map(\.file)
        #expect(left == (work.expected(meanwhile) == .pending ? [path] : []))
    }

    @Test func `what is stored is known with all its facts`() throws {
        let world = try World()
        let stamp = world.write(Self.photo)
        try world.scan()
        world.now += 0.25
        try world.storeAll()
        let status = try #require(try world.status(Self.photo))
        let digest = try World.digest(of: stamp)
        #expect(status.md5 == digest.md5)
        #expect(status.sha256 == digest.sha256)
        #expect(status.key?.rawValue == "users/ana/photos/\(digest.md5).dat")
        #expect(status.uploadedAt == world.now)
        #expect(status.bytesLocal == 1_000)
        #expect(status.bytesStored == 500)
        #expect(status.storageClass == .standard)
        #expect(status.width == 2_048)
        #expect(status.height == 1_536)
        #expect(status.takenAt == CaptureTime(clock: 500_000, offset: 540))
        #expect(status.why == nil)
    }

    @Test(arguments: [
        RestoreState.none, .inProgress, .restored(until: nil), .restored(until: Date(timeIntervalSince1970: 77.5)),
    ])
    func `an object comes back as it was put`(restore: RestoreState) throws {
        let world = try World()
        world.write(Self.photo)
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        let object = ObjectRecord(
            key: try ObjectKey("users/ana/photos/x.dat"), size: 7, md5: nil, sha256: nil, contentType: "video/mp4",
            storageClass: StorageClass(rawValue: "ODD"), restore: restore, storedAt: Date(timeIntervalSince1970: 9.125))
        let digest = try World.digest(of: claim.stamp)
        try world.ledger.commit(claim, outcome: .uploaded(digest, object), at: world.now)
        #expect(try world.ledger.object(object.key) == object)
        #expect(try world.status(Self.photo)?.object == object)
        #expect(try world.ledger.object(ObjectKey("users/ana/photos/y.dat")) == nil)
    }

    @Test func `an object of which a listing tells first is known with all that it tells`() throws {
        let world = try World()
        let digest = try World.digest(of: world.write("/elsewhere/film.mp4"))
        let info = ObjectInfo(
            key: try ObjectKey("users/ana/photos/x.dat"), size: 8, md5: digest.md5, sha256: digest.sha256, etag: "e",
            storageClass: .glacier, restore: .inProgress, contentType: "video/mp4",
            metadata: [
                MetadataName.md5: "\(digest.md5)", MetadataName.width: "4", MetadataName.height: "3",
                MetadataName.duration: "9", MetadataName.takenAt: "2024-06-15T07:30:00+09:00",
                MetadataName.originalEncoding: "none",
            ], modified: Date(timeIntervalSince1970: 9))
        let record = ObjectRecord(info)
        try #require(record.encoding == OriginalEncoding.none && record.duration == .seconds(9))
        try #require(record.takenAt != nil && record.md5 == digest.md5 && record.width == 4 && record.height == 3)
        try world.ledger.noteListed([info], keys: KeyLayout(user: "ana"), tellsRestores: true, at: world.now)
        #expect(try world.ledger.object(info.key) == record)
    }

    @Test func `what is stored anew is known by its new facts alone`() throws {
        let world = try World()
        let key = try ObjectKey("users/ana/photos/x.dat")
        let digests = try [1, 2].map { try World.digest(of: world.write(FilePath("/elsewhere/\($0).jpg"))) }
        // As an older version has noted it.
        var old = ObjectRecord(
            key: key, size: 7, md5: digests[0].md5, sha256: digests[0].sha256, contentType: "video/mp4",
            storageClass: .glacier, restore: .restored(until: Date(timeIntervalSince1970: 77.5)), width: 4, height: 3,
            duration: .seconds(9), takenAt: CaptureTime(clock: 500_000, offset: nil),
            storedAt: Date(timeIntervalSince1970: 9), storedMD5: digests[0].md5, etag: "old", dropped: [.xmp],
            note: "old")
        old.isDatedBefore = true
        old.encoding = OriginalEncoding.none
        var new = ObjectRecord(
            key: key, size: 8, md5: digests[1].md5, sha256: digests[1].sha256, contentType: "image/jpeg",
            storageClass: .standard, restore: .none, width: 6, height: 5, duration: .seconds(8),
            takenAt: CaptureTime(clock: 600_000, offset: 540), storedAt: Date(timeIntervalSince1970: 10),
            storedMD5: digests[1].md5, etag: "new", dropped: [.exif, .iptc], note: "new")
        new.encoding = .jxl
        for (record, digest) in zip([old, new, old], digests + digests) {
            world.write(Self.photo)
            try world.scan()
            let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
            try world.ledger.commit(claim, outcome: .uploaded(digest, record), at: world.now)
            #expect(try world.ledger.object(key) == record)
        }
        #expect(try world.ledger.check() == [])
    }

    @Test func `a photo that is read again and found as it is stored keeps the time of its upload`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        let before = try #require(try world.status(Self.photo))
        var record = try #require(before.object)
        let digest = try World.digest(of: try #require(world.disk[Self.photo]))
        // Touched: the same bytes with another stamp. At last the store has lost them, and they are sent once more.
        for isSent in [false, true] {
            world.now += 60
            if isSent { record.storedAt = world.now }
            world.write(Self.photo)
            try world.scan()
            let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
            try world.ledger.commit(claim, outcome: .uploaded(digest, record), at: world.now)
            let after = try #require(try world.status(Self.photo))
            #expect(after.state == .uploaded)
            #expect(after.uploadedAt == (isSent ? world.now : before.uploadedAt))
        }
    }

    @Test func `two photos of one content have one object`() throws {
        let world = try World()
        world.put(world.write(Self.photo), at: "/pictures/gallery/copy.jpg")
        try world.scan()
        try world.storeAll()
        let overview = try world.ledger.overview()
        #expect(overview.totals[.uploaded] == Tally(files: 2, bytes: 2_000))
        #expect(overview.tiers == [ClassLoad(storageClass: .standard, objects: 1, bytes: 500)])
    }

    @Test func `a vanished photo of which an earlier content is stored is missing`() throws {
        let world = try World()
        try PhotoState.uploaded.prepare(Self.photo, in: world)
        world.write(Self.photo)
        try world.scan()
        let claim = try #require(try world.ledger.claim(limit: 1, at: world.now).first)
        try world.ledger.commit(claim, outcome: .vanished, at: world.now)
        let status = try #require(try world.status(Self.photo))
        #expect(status.state == .missing)
        #expect(status.bytesLocal == nil)
        #expect(status.md5 == status.object?.md5)
    }
}
