import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Files that belong to a photo, as the ledger finds them.
@Suite struct UnitLedgerTests {
    private let world: World
    private let rome: FilePath = "/pictures/trips/Rome"

    init() throws { world = try World() }

    private func unit(of path: FilePath) throws -> (photo: String?, companions: [String])? {
        guard let unit = try world.ledger.unit(of: try #require(try world.status(path))) else { return nil }
        func name(_ photo: PhotoStatus) -> String? { photo.relativePath.lastComponent?.string }
        return (name(unit.photo), unit.companions.compactMap { name($0.member) })
    }

    @Test func `all of its files know the unit, and no other file is in it`() throws {
        for name in ["IMG_1.HEIC", "IMG_1.MOV", "IMG_O1.AAE", "IMG_1.x.jpg", "IMG_10.HEIC", "IMG_1", "img_1.xmp"] {
            world.write(rome.appending(name))
        }
        world.write(rome.appending("day 2/IMG_1.xmp"))
        try world.scan()
        for name in ["IMG_1.HEIC", "IMG_1.MOV", "IMG_O1.AAE"] {
            let unit = try #require(try unit(of: rome.appending(name)))
            #expect(unit.photo == "IMG_1.HEIC" && unit.companions == ["IMG_1.MOV", "IMG_O1.AAE"])
        }
        for name in ["IMG_1.x.jpg", "IMG_10.HEIC", "IMG_1", "img_1.xmp", "day 2/IMG_1.xmp"] {
            #expect(try unit(of: rome.appending(name)) == nil)
        }
    }

    @Test func `a photo that is gone from the disk keeps what belongs to it`() throws {
        for name in ["a.jpg", "a.xmp"] { world.write(rome.appending(name)) }
        try world.scan()
        try world.storeAll()
        world.remove(rome.appending("a.jpg"))
        try world.scan()
        #expect(try unit(of: rome.appending("a.xmp"))?.photo == "a.jpg")
    }

    @Test func `a lost sidecar makes no vacation incomplete`() throws {
        for name in ["a.jpg", "a.xmp"] { world.write(rome.appending(name)) }
        try world.scan()
        try world.storeAll()
        let sidecar = try #require(try world.status(rome.appending("a.xmp"))?.object)
        for name in ["a.jpg", "a.xmp"] { world.remove(rome.appending(name)) }
        try world.scan()
        try world.ledger.markBroken([BrokenObject(sidecar, .missing)], at: world.now)
        #expect(try world.state(rome.appending("a.xmp")) == .lost)
        #expect(try world.ledger.vacations().map(\.lost) == [0])
    }

    @Test func `a vacation has photos and no sidecars, also where one is renamed or goes`() throws {
        for name in ["a.jpg", "a.xmp", "b.aae"] { world.write(rome.appending(name)) }
        try world.scan()
        func vacation() throws -> VacationRecord { try #require(try world.ledger.vacations().first) }
        #expect(try vacation().waiting == 1)
        try world.storeAll()
        #expect(try vacation().waiting == 0 && vacation().uploaded == 1)
        #expect(try world.ledger.vacationContent(vacation().id)?.photos.map(\.name) == ["a.jpg"])
        world.rename(rome.appending("a.xmp"), to: rome.appending("c.xmp"))
        world.remove(rome.appending("b.aae"))
        try world.scan()
        #expect(try vacation().uploaded == 1 && vacation().missing == 0)
        #expect(try world.ledger.check() == [])
    }
}
