import Foundation
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

/// What becomes of photos when the store no longer has what was stored of them.
@Suite struct BrokenObjectTests {
    private let world: World
    private let path: FilePath = "/pictures/gallery/a.jpg"
    private let twin: FilePath = "/pictures/gallery/old/a.jpg"

    init() throws {
        world = try World()
    }

    /// Stores a photo that has a twin of the same bytes, whose file is removed afterwards.
    private func storeTwins() throws -> ObjectRecord {
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        let record = try #require(try world.ledger.object(World.key(of: stamp)))
        world.write(twin)
        try world.scan()
        for claim in try world.ledger.claim(limit: 1, at: world.now) {
            try world.ledger.commit(
                claim, outcome: .uploaded(World.digest(of: stamp), record), at: world.now)
        }
        world.remove(twin)
        try world.scan()
        return try #require(try world.ledger.object(record.key))
    }

    @Test(arguments: [ObjectFault.missing, .damaged("it has 1 bytes, and 500 were stored")])
    func `a photo is pending again where its file is, and lost where it is not`(problem: ObjectFault) throws {
        let record = try storeTwins()
        #expect(try world.state(path) == .uploaded)
        #expect(try world.state(twin) == .missing)
        let count = try world.ledger.markBroken([BrokenObject(record, problem)], at: world.now)
        // The name that is gone comes back with the one that is here.
        #expect(count.objects == 1 && count.pending == 1 && count.lost == 0)
        #expect(try world.state(path) == .pending)
        #expect(try world.status(path)?.why?.contains("what was stored of it is") == true)
        #expect(try world.state(twin) == .lost)
        #expect(try world.ledger.lostPhotos(limit: 9).map(\.path) == [twin])
        #expect(try world.ledger.object(record.key)?.problem == problem)
        #expect(try world.ledger.check() == [])
        // Told twice, it is the same.
        #expect(try world.ledger.markBroken([BrokenObject(record, problem)], at: world.now) == BrokenCount())
    }

    @Test func `a broken version of a photo that is here can be forgotten, and nothing else of it`() throws {
        func store() throws -> ObjectRecord {
            let stamp = world.write(path)
            try world.scan()
            try world.storeAll()
            return try #require(try world.ledger.object(World.key(of: stamp)))
        }
        let (version, current) = (try store(), try store())
        #expect(try world.ledger.lostVersion(version.key) == nil, "it is whole")
        try world.ledger.markBroken([BrokenObject(version, .missing)], at: world.now)
        #expect(try world.ledger.overview().brokenBesideLost == 1)
        #expect(try world.ledger.lostVersion(version.key)?.key == version.key)
        #expect(try world.ledger.forget(photos: [], objects: [version.key]) == 1)
        #expect(try world.ledger.overview().broken == 0)
        #expect(try world.status(path)?.object?.key == current.key)
        try world.ledger.markBroken([BrokenObject(current, .missing)], at: world.now)
        #expect(try world.ledger.lostVersion(current.key) == nil, "its file brings it back")
        #expect(try world.ledger.check() == [])
    }

    @Test func `what is stored anew brings a lost photo back as one that is stored`() throws {
        let record = try storeTwins()
        try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        try world.storeAll()
        #expect(try world.state(path) == .uploaded)
        #expect(try world.state(twin) == .missing)
        #expect(try world.ledger.object(record.key)?.problem == nil)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a proof does the same, and the file that waits is found as stored later`() throws {
        let record = try storeTwins()
        try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        var proven = try #require(try world.ledger.object(record.key))
        proven.etag = "tag"
        try world.ledger.noteProof(proven, isRead: true, at: world.now)
        #expect(try world.state(twin) == .missing)
        #expect(try world.ledger.object(record.key)?.problem == nil)
        #expect(try world.ledger.object(record.key)?.etag == "tag")
    }

    @Test func `a file that goes away while nothing is stored of it is lost, and pending when it is back`() throws {
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        let record = try #require(try world.ledger.object(World.key(of: stamp)))
        try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        world.remove(path)
        try world.scan()
        #expect(try world.state(path) == .lost)
        world.put(stamp, at: path)
        try world.scan()
        #expect(try world.state(path) == .pending)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [true, false])
    func `a photo whose folder is no longer watched is lost with what was stored of it`(
        isUnwatchedBefore: Bool
    ) throws {
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        let record = try #require(try world.ledger.object(World.key(of: stamp)))
        if isUnwatchedBefore { try world.register([World.trips]) }
        let count = try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        #expect(count.objects == 1)
        #expect(count.lost == (isUnwatchedBefore ? 1 : 0) && count.pending == (isUnwatchedBefore ? 0 : 1))
        if !isUnwatchedBefore { try world.register([World.trips]) }
        let overview = try world.ledger.overview()
        #expect(overview.lost == 1 && overview.lostHere == 1 && overview.lostUnwatched == 1)
        let lost = try world.ledger.lostPhotos(limit: 9)
        #expect(lost.map(\.path) == [path])
        #expect(lost.first?.why?.hasPrefix("its folder is no longer watched, and what was stored of it is") == true)
        #expect(try world.ledger.check() == [])
        // Its file is where it was.
        try world.register([World.gallery, World.trips])
        try world.scan()
        #expect(try world.state(path) == .pending)
        try world.storeAll()
        #expect(try world.state(path) == .uploaded)
        #expect(try world.ledger.overview().lost == 0)
        #expect(try world.ledger.check() == [])
    }

    @Test func `of a folder that is no longer watched, what stays as it is is not looked at again`() throws {
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        let record = try #require(try world.ledger.object(World.key(of: stamp)))
        var original = record
        original.key = try #require(record.key.original)
        try world.ledger.noteStoredAgain(original)
        try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        try world.register([World.trips])
        #expect(try world.ledger.lostPhotos(limit: 9).isEmpty, "its original is there")
        let looked = try world.ledger.read("list broken copies") { try $0.numbers(LedgerQuery.brokenOfUnwatched) }
        #expect(looked.isEmpty)
        try world.ledger.markBroken([BrokenObject(original, .missing)], at: world.now)
        #expect(try world.ledger.lostPhotos(limit: 9).map(\.path) == [path])
        #expect(try world.ledger.check() == [])
    }

    @Test func `an object that was stored anew since it was looked at is left alone`() throws {
        var record = try storeTwins()
        record.storedAt -= 1
        #expect(try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now) == BrokenCount())
        #expect(try world.state(path) == .uploaded)
    }

    @Test func `a vacation that is gone from the disk is incomplete when one of its photos is lost`() throws {
        let path: FilePath = "/pictures/trips/Rome_2024-05-01/a.jpg"
        let stamp = world.write(path)
        try world.scan()
        try world.storeAll()
        world.remove(path)
        try world.scan()
        let before = try #require(try world.ledger.vacations().first)
        #expect(before.missing == 1 && before.lost == 0)
        let record = try #require(try world.ledger.object(World.key(of: stamp)))
        try world.ledger.markBroken([BrokenObject(record, .missing)], at: world.now)
        let vacation = try #require(try world.ledger.vacations().first)
        #expect(vacation.isKnown && vacation.missing == 1 && vacation.lost == 1)
        #expect(vacation.state(isShared: false) == .incomplete)
        #expect(try world.ledger.check() == [])
    }
}
