import FoundationEssentials
import GRDB
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct FolderTests {
    @Test func `folders keep their id, and have the order of the configuration`() throws {
        let ledger = try Ledger.inMemory()
        let first = try ledger.register([World.gallery, World.trips])
        let second = try ledger.register([World.projects, World.trips, World.gallery])
        #expect(first.map(\.folder) == [World.gallery, World.trips])
        #expect(second.map(\.folder) == [World.projects, World.trips, World.gallery])
        #expect(second[2].id == first[0].id)
        #expect(second[1].id == first[1].id)
        #expect(try ledger.register([]) == [])
        #expect(try ledger.register([World.trips]).map(\.id) == [first[1].id])
    }

    @Test func `how a folder is watched and when it was scanned is remembered`() throws {
        let world = try World()
        let id = world.folders[1].id
        let untold = UntoldFile(path: "2024/a.jpg", found: 1_700_000_000_123_456_789)
        let report = WatchReport(root: World.trips.path, mode: .polling, note: "too few watches", untold: untold)
        try world.ledger.noteWatching(id, report)
        try world.ledger.noteScan(id, problem: "not mounted", at: world.now)
        try world.register([World.trips])
        #expect(world.folders[0].watching == .polling)
        #expect(world.folders[0].note == "too few watches")
        #expect(world.folders[0].problem == "not mounted")
        #expect(world.folders[0].scannedAt == world.now)
        #expect(world.folders[0].untold == untold)
        let day = 86_400.0
        let found = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(world.folders.untold(at: found + 29 * day) == [World.trips.path: untold])
        #expect(world.folders.untold(at: found + 31 * day) == [:])
        try world.ledger.noteWatching(id, WatchReport(root: World.trips.path, mode: .inotify))
        try world.register([World.trips])
        #expect(world.folders[0].untold == nil)
        #expect(world.folders[0].note == nil)
    }

    @Test func `why a folder cannot be looked at is written when it is news`() throws {
        let world = try World()
        let id = world.folders[0].id
        try world.ledger.noteObstacle(id, problem: "no answer")
        let changes = try world.ledger.database.read { $0.totalChangesCount }
        func written() throws -> Int { try world.ledger.database.read { $0.totalChangesCount } - changes }
        try world.ledger.noteObstacle(id, problem: "no answer")
        #expect(try written() == 0)
        try world.ledger.noteObstacle(id, problem: "still none")
        #expect(try written() > 0)
        #expect(try world.ledger.overview().folders[0].record.problem == "still none")
    }

    @Test func `a folder that was not watched, or by other rules, counts as not looked at until it is scanned again`()
        throws
    {
        let world = try World([World.gallery, World.trips])
        func scanAll() throws {
            for folder in world.folders { try world.ledger.noteScan(folder.id, problem: "not mounted", at: world.now) }
        }
        try scanAll()
        try world.register([World.trips])
        #expect(world.folders.map(\.scannedAt) == [world.now])
        try world.register([World.trips, World.gallery])
        #expect(world.folders.map(\.scannedAt) == [world.now, nil])
        #expect(world.folders.map(\.problem) == ["not mounted", nil])
        for (kind, rules) in [(WatchedFolder.Kind.gallery, ["- raw/"]), (.vacations, [])] {
            try scanAll()
            let other = WatchedFolder(
                kind: kind, path: World.gallery.path, profile: "grandma", filter: try PathFilter(rules))
            try world.register([World.trips, other])
            #expect(world.folders.map(\.scannedAt) == [world.now, nil])
            try scanAll()
            try world.register([World.trips, other])
            #expect(world.folders.map(\.scannedAt) == [world.now, world.now])
        }
    }

    @Test(arguments: [
        (WatchedFolder.Kind.vacations, PhotoState.uploaded), (.projects, .pending),
    ])
    func `a folder that becomes one of projects has its photos stored again`(
        kind: WatchedFolder.Kind, state: PhotoState
    ) throws {
        let world = try World([World.gallery])
        try PhotoState.uploaded.prepare("/pictures/gallery/a.jpg", in: world)
        try world.register([WatchedFolder(kind: kind, path: World.gallery.path)])
        #expect(try world.state("/pictures/gallery/a.jpg") == state)
        #expect(try world.ledger.check() == [])
    }

    @Test(arguments: [
        WatchedFolder(kind: .gallery, path: World.gallery.path, profile: "grandpa"),
        WatchedFolder(kind: .vacations, path: World.gallery.path, profile: "grandma"),
    ])
    func `a folder that gets another profile, or another kind, has its JSON read again`(folder: WatchedFolder) throws {
        let world = try World([World.gallery])
        try PhotoState.uploaded.prepare("/pictures/gallery/a.jpg", in: world)
        try PhotoState.skipped.prepare("/pictures/gallery/a.json", in: world)
        try world.register([World.gallery])
        #expect(try world.state("/pictures/gallery/a.json") == .skipped)
        try world.register([folder])
        #expect(try world.state("/pictures/gallery/a.json") == .pending)
        #expect(try world.state("/pictures/gallery/a.jpg") == .uploaded)
        #expect(try world.ledger.check() == [])
    }

    @Test func `a tree that moves to a new folder keeps its uploads`() throws {
        let world = try World([World.gallery])
        try PhotoState.uploaded.prepare("/pictures/gallery/a.jpg", in: world)
        world.move("/pictures/gallery/a.jpg", to: "/pictures/trips/a.jpg")
        try world.register([World.trips])
        #expect(try world.scan().map(\.moved) == [1])
        #expect(try world.state("/pictures/trips/a.jpg") == .uploaded)
    }
}
