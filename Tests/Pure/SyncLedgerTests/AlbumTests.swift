import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@Suite struct AlbumTests {
    private let world: World
    private let rome: FilePath = "/pictures/trips/Rome"
    private let oslo: FilePath = "/pictures/trips/Oslo"

    init() throws { world = try World() }

    /// Stores photos of an album, archived.
    @discardableResult
    private func fill(
        _ folder: FilePath, _ count: Int, takenAt: Date = Date(timeIntervalSince1970: 500),
        in storageClass: StorageClass = .deepArchive
    ) throws -> [ObjectKey] {
        for index in 0..<count { world.write(folder.appending("\(index).jpg")) }
        try world.scan()
        return try world.ledger.claim(limit: .max, at: world.now).map { claim in
            let name = claim.relativePath.string.split(separator: "/").joined(separator: "-")
            let key = try ObjectKey("users/ana/photos/\(name).dat")
            let object = ObjectRecord(
                key: key, size: 100, md5: nil, sha256: nil, contentType: "image/jpeg", storageClass: storageClass,
                takenAt: CaptureTime(takenAt, offset: 0), storedAt: world.now)
            try world.ledger.commit(claim, outcome: .uploaded(World.digest(of: claim.stamp), object), at: world.now)
            return key
        }
    }

    private func ask(for keys: ArraySlice<ObjectKey>, isRush: Bool = false) throws -> [RestoreItem] {
        let items = keys.map {
            RestoreJobDraft.Item(key: $0, size: 100, storageClass: .deepArchive, tier: .standard)
        }
        let draft = RestoreJobDraft(
            requestedBy: "ana", tier: .standard, isRush: isRush, days: 7, items: Array(items))
        let job = try #require(try world.ledger.addRestoreJob(draft, at: world.now).job)
        let made = try world.ledger.restoreItems(of: job.id, after: 0, limit: .max)
        try world.ledger.note(RestoreOutcome(state: .retrieving), of: made.map(\.id), at: world.now)
        return try world.ledger.restoreItems(of: job.id, after: 0, limit: .max)
    }

    private func opened() throws -> [AlbumSighting] {
        try world.ledger.recentlyRestoredAlbums(since: world.now - 30 * 86_400, limit: 9)
    }

    @Test func `an album of which some photos were asked for is told with what is still cold`() throws {
        let keys = try fill(rome, 5)
        try fill(oslo, 2)
        _ = try ask(for: keys.prefix(2))
        let sightings = try opened()
        #expect(sightings.map(\.album.folder) == [rome])
        #expect(sightings.map(\.objects) == [2])
        #expect(sightings.first?.album.cold == [ClassLoad(storageClass: .deepArchive, objects: 3, bytes: 300)])
    }

    @Test func `what was asked for long ago counts no more`() throws {
        _ = try ask(for: try fill(rome, 3).prefix(1))
        world.now += 31 * 86_400
        #expect(try opened() == [])
    }

    @Test func `an album that is back as a whole is not told`() throws {
        _ = try ask(for: try fill(rome, 2)[...])
        #expect(try opened() == [])
    }

    @Test func `the watched folder itself is no album`() throws {
        _ = try ask(for: try fill("/pictures/trips", 3).prefix(1))
        #expect(try opened() == [])
    }

    @Test func `albums of a time are found by when their photos were taken, those with most at the head`() throws {
        let taken = Date(timeIntervalSince1970: 1_000_000_000)
        try fill(rome, 2, takenAt: taken)
        try fill(oslo, 3, takenAt: taken)
        try fill("/pictures/trips/Bonn", 4, takenAt: taken - 86_400)
        try fill("/pictures/trips/Here", 5, takenAt: taken, in: .standard)
        let found = try world.ledger.archivedAlbums(takenFrom: taken, to: taken + 1, limit: 9)
        #expect(found.map(\.album.folder) == [oslo, rome])
        #expect(try world.ledger.archivedAlbums(takenFrom: taken, to: taken + 1, limit: 1).map(\.objects) == [3])
    }

    @Test(arguments: [true, false])
    func `a restore in a hurry is remembered as one`(isRush: Bool) throws {
        #expect(try ask(for: try fill(rome, 1)[...], isRush: isRush).map(\.isRush) == [isRush])
        #expect(try world.ledger.restoreJobs(limit: 1).map(\.job.isRush) == [isRush])
    }
}
