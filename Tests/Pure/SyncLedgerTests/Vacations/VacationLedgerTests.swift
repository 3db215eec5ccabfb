import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct VacationLedgerTests {
    private let rome: FilePath = "/pictures/trips/Rome_2024-06-15_2024-06-22"

    private func record(_ name: String, in world: World) throws -> VacationRecord? {
        try world.ledger.vacations().first { $0.folderName == name }
    }

    private func stored(_ key: String, photos: Int = 1, isOwn: Bool = true) throws -> VacationRecord.Stored {
        let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: UInt8(key.utf8.count), count: 32)))
        return VacationRecord.Stored(
            cacheKey: key, photoCount: photos, fingerprint: digest, manifest: digest, isOwn: isOwn,
            at: Date(timeIntervalSince1970: 5))
    }

    private func noteStored(_ record: VacationRecord, as key: String, isOwn: Bool = true, in world: World) throws {
        let content = try #require(try world.ledger.vacationContent(record.id))
        let day = try #require(CalendarDay("2024-06-15"))
        let photos = content.photos.compactMap(\.md5)
        try world.ledger.noteStored(
            record.id, revision: content.record.revision,
            details: VacationDetails(location: "Rome", startDate: day, endDate: day),
            as: stored(key, photos: photos.count, isOwn: isOwn), photos: photos)
    }

    @Test func `the folders directly below a vacations folder are vacations, with all below them`() throws {
        let world = try World()
        for path in ["a.jpg", "Rome/a.jpg", "Rome/day 1/b.jpg", "Rome/day 1/deep/c.jpg", "Rome-2/a.jpg", "Ro/a.jpg"] {
            world.write(FilePath("/pictures/trips/\(path)"))
        }
        world.write("/pictures/gallery/Rome/x.jpg")
        try world.scan()
        let vacations = try world.ledger.vacations()
        #expect(vacations.map(\.folderName) == ["Ro", "Rome", "Rome-2"])
        #expect(vacations.map(\.waiting) == [1, 3, 1])
        #expect(vacations[1].folder == "/pictures/trips/Rome")
        let content = try #require(try world.ledger.vacationContent(vacations[1].id))
        #expect(content.photos.map(\.name).sorted() == ["a.jpg", "day 1/b.jpg", "day 1/deep/c.jpg"])
        #expect(content.photos.allSatisfy { $0.path.starts(with: "/pictures/trips/Rome") && $0.md5 == nil })
        #expect(try world.ledger.check() == [])
    }

    @Test func `names are bytes, whatever they spell`() throws {
        let world = try World()
        let latin = [CChar](arrayLiteral: 0x5A, CChar(bitPattern: 0xFC), 0x72, 0)
        let names = [FilePath("Zu\u{308}rich"), FilePath("Z\u{FC}rich"), FilePath(platformString: latin)]
        let folder = try #require(world.folders.first { $0.kind == .vacations })
        for (number, name) in names.enumerated() {
            let stamp = FileStamp(device: 1, inode: UInt64(number), size: 9, modified: 1)
            let isQueued = try world.ledger.observe(
                folder.id, file: name.pushing("day 1/a.jpg"), stamp: stamp, stillThere: { _ in false }, at: world.now)
            #expect(isQueued)
        }
        let folders = try world.ledger.vacations().map(\.folder)
        #expect(Set(folders) == Set(names.map { World.trips.path.pushing($0) }))
        #expect(try world.ledger.vacations().map(\.waiting) == [1, 1, 1])
    }

    @Test func `a description is no photo, and a change of it is seen`() throws {
        let world = try World()
        world.write(rome.appending("a.jpg"))
        try world.scan()
        try world.storeAll()
        let before = try #require(try world.ledger.vacations().first)
        try noteStored(before, as: "Rome_1", in: world)
        #expect(try world.ledger.vacationsToCheck().isEmpty)
        world.write(rome.appending("vacation.json"))
        try world.scan()
        let after = try #require(try world.ledger.vacations().first)
        #expect(after.photoCount == 1 && after.waiting == 0 && after.isChanged)
        #expect(try world.ledger.vacationContent(after.id)?.photos.map(\.name) == ["a.jpg"])
        #expect(try world.ledger.vacationsToCheck().map(\.id) == [after.id])
        #expect(try world.ledger.check() == [])
    }

    @Test func `states follow the photos`() throws {
        let world = try World()
        func state(isShared: Bool = false) throws -> VacationState? {
            try world.ledger.vacations().first?.state(isShared: isShared)
        }
        world.write(rome.appending("a.jpg"))
        world.write(rome.appending("b.jpg"))
        try world.scan()
        #expect(try state() == .pending)
        for claim in try world.ledger.claim(limit: 1, at: world.now) {
            try world.ledger.commit(claim, outcome: world.stored(claim), at: world.now)
        }
        #expect(try state() == .uploading)
        try world.storeAll()
        #expect(try state() == .uploading)
        try noteStored(try #require(try world.ledger.vacations().first), as: "Rome_2", in: world)
        #expect(try state() == .stored)
        #expect(try state(isShared: true) == .shared)
        #expect(try world.ledger.vacations().first?.cacheKey == "Rome_2")
        // A file of the same name and another content: as many photos as before.
        world.write(rome.appending("b.jpg"), size: 2_000)
        try world.scan()
        #expect(try state(isShared: true) == .changed)
        for claim in try world.ledger.claim(limit: 1, at: world.now) {
            try world.ledger.commit(claim, outcome: .failed("cut off", nil), at: world.now)
        }
        #expect(try state() == .incomplete)
        #expect(try world.ledger.vacations().first?.photoCount == 1)
        for path in world.disk.keys { world.remove(path) }
        try world.scan()
        #expect(try state() == .stored)
        #expect(try world.ledger.vacations().first?.memberCount == 2)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a renamed folder is another vacation, which the old one knows`() throws {
        let world = try World()
        for name in ["a.jpg", "b.jpg"] { world.write(rome.appending(name)) }
        try world.scan()
        try world.storeAll()
        try noteStored(try #require(try world.ledger.vacations().first), as: "Rome_2", in: world)
        for name in ["a.jpg", "b.jpg"] {
            world.move(rome.appending(name), to: FilePath("/pictures/trips/Roma/\(name)"))
        }
        try world.scan()
        #expect(try world.ledger.claim(limit: 9, at: world.now).isEmpty)
        let new = try #require(try record("Roma", in: world))
        let old = try #require(try record(rome.lastComponent?.string ?? "", in: world))
        #expect(new.uploaded == 2 && new.isChanged && new.stored == nil)
        #expect(!old.isKnown && old.successor == new.id && old.stored?.cacheKey == "Rome_2")
        try world.ledger.noteMoved(old.id, revision: old.revision)
        #expect(try world.ledger.staleManifests().map(\.cacheKey) == ["Rome_2"])
        try world.ledger.forgetEmptyVacation(old.id)
        #expect(try world.ledger.vacations().map(\.folderName) == ["Roma"])
        #expect(try world.ledger.check() == [])
    }

    @Test func `a manifest is stale when its vacation is stored under another key, and not when it is in use again`()
        throws
    {
        let world = try World()
        world.write(rome.appending("a.jpg"))
        try world.scan()
        try world.storeAll()
        let vacation = try #require(try world.ledger.vacations().first)
        try noteStored(vacation, as: "one", in: world)
        try noteStored(vacation, as: "three", isOwn: false, in: world)
        #expect(try world.ledger.staleManifests().map(\.cacheKey) == ["one"])
        // The one of another machine is left to it.
        try noteStored(vacation, as: "four4", in: world)
        #expect(try world.ledger.staleManifests().map(\.cacheKey) == ["one"])
        try noteStored(vacation, as: "one", in: world)
        #expect(try world.ledger.staleManifests().map(\.cacheKey) == ["four4"])
        for manifest in try world.ledger.staleManifests() { try world.ledger.forget(manifest) }
        #expect(try world.ledger.staleManifests().isEmpty)
        let digest = try stored("one").manifest
        #expect(try world.ledger.manifestsWritten(as: "one") == [digest])
    }

    @Test func `a look that was overtaken by a change is followed by another`() throws {
        let world = try World()
        world.write(rome.appending("a.jpg"))
        try world.scan()
        try world.storeAll()
        let seen = try #require(try world.ledger.vacationsToCheck().first)
        world.remove(rome.appending("a.jpg"))
        try world.scan()
        try world.ledger.noteChecked(seen.id, revision: seen.revision, details: nil)
        #expect(try world.ledger.vacationsToCheck().map(\.id) == [seen.id])
    }

    @Test func `a folder that turns into one of vacations brings its vacations along`() throws {
        let folder = WatchedFolder(kind: .gallery, path: World.trips.path)
        let world = try World([folder])
        for name in ["a.jpg", "vacation.json"] { world.write(rome.appending(name)) }
        world.write("/pictures/trips/top.jpg")
        try world.scan()
        try world.storeAll()
        #expect(try world.ledger.vacations().isEmpty)
        try world.register([World.trips])
        #expect(try world.ledger.vacations().map(\.uploaded) == [1])
        #expect(try world.ledger.check() == [])
        try world.register([folder])
        #expect(try world.ledger.vacations().filter(\.isKnown).isEmpty)
        #expect(try world.ledger.check() == [])
        try world.register([])
        #expect(try world.ledger.vacations().isEmpty)
    }

    @Test func `changed vacations are found by their index`() throws {
        let steps = try Ledger.inMemory().plan(of: LedgerQuery.changedVacations)
        #expect(steps.contains { $0.contains("vacations_changed (folder_id=?)") }, "\(steps)")
        for query in [LedgerQuery.vacationsOfFolder, LedgerQuery.vacation, LedgerQuery.vacationsOfKey] {
            #expect(try Ledger.inMemory().plan(of: query).contains { $0.hasPrefix("SEARCH vacations") })
        }
    }
}
