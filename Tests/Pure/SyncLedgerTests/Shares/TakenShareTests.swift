import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

/// Shares that are taken up from the catalogue of a machine whose folders are elsewhere.
@Suite struct TakenShareTests {
    private let ledger: Ledger
    private let places: [FilePath: FilePath] = ["/home/ana/Trips": "/pictures/trips"]

    init() throws {
        ledger = try Ledger.inMemory()
    }

    private func makeID() -> ShareID {
        var generator = SystemRandomNumberGenerator()
        return ShareID(using: &generator)
    }

    private func line(_ id: ShareID, path: FilePath = "/home/ana/Trips/Rome") -> CatalogShare {
        var photo = CatalogShare.Photo(
            slot: 0, md5: "9361b7c59dc8a383ecfa02da666d7b66", path: path.appending("a.jpg"), local: true)
        photo.position = 0
        return CatalogShare(
            share: "\(id)", path: path, selection: "", quality: "reduced", location: "Rome", start: "2025-05-01",
            end: "2025-05-09", createdAt: 1_000, expiresAt: 2_000, state: "preparing", step: "publish", nextSlot: 1,
            photos: [photo])
    }

    @Test func `its folder and photos are those of this machine, and the store has to be told whose it is`() throws {
        let id = makeID()
        #expect(try ledger.takeShareUp(line(id), movedTo: places))
        let share = try #require(try ledger.share(id))
        #expect(share.folder == "/pictures/trips/Rome" && share.ownership == nil)
        #expect(try ledger.sharePhotos(id).map(\.path) == ["/pictures/trips/Rome/a.jpg"])
        #expect(try ledger.openShare(of: "/pictures/trips/Rome", selection: nil, quality: .reduced)?.id == id)
    }

    @Test func `a size that no object has is none, and neither is a length that no film has`() throws {
        let (id, other) = (makeID(), makeID())
        var share = line(id)
        var film = share.photos[0]
        film.sha256 = String(repeating: "ab", count: 32)
        film.w = 4
        film.h = 3
        film.storedAt = 1_000
        film.film = "video/mp4"
        film.ms = .max
        film.size = .max
        share.photos = [film]
        #expect(try ledger.takeShareUp(share, movedTo: places))
        #expect(try ledger.sharePhotos(id).map(\.copy?.size) == [nil])
        share = line(other, path: "/home/ana/Trips/Oslo")
        film.size = 9
        share.photos = [film]
        #expect(try ledger.takeShareUp(share, movedTo: places))
        let copy = try #require(try ledger.sharePhotos(other).first?.copy)
        #expect(copy.size == 9 && copy.duration == nil)
    }

    @Test func `where the same photos are shared here already, it keeps its own folder, and both links live`() throws {
        let (own, first, second) = (makeID(), makeID(), makeID())
        #expect(try ledger.takeShareUp(line(own, path: "/pictures/trips/Rome"), movedTo: [:]))
        #expect(try ledger.takeShareUp(line(first), movedTo: places))
        #expect(try ledger.share(first)?.folder == "/home/ana/Trips/Rome")
        // There is no third place.
        #expect(try !ledger.takeShareUp(line(second), movedTo: places))
        #expect(try ledger.share(second) == nil)
        #expect(try ledger.share(own)?.folder == "/pictures/trips/Rome")
    }

    @Test func `of several of the same photos a rebuild keeps each, and each ends by itself`() throws {
        let (own, second, third) = (makeID(), makeID(), makeID())
        let (rome, now) = (FilePath("/pictures/trips/Rome"), Date(timeIntervalSince1970: 5))
        #expect(try ledger.takeShareUp(line(own, path: rome), movedTo: [:]))
        var state = CatalogState()
        state.shares = [own, second, third].map { line($0, path: rome) }
        for _ in 0..<2 { try ledger.noteCatalog(state, in: [:], at: now) }
        #expect(try ledger.unendedShares().map(\.id) == [own, second, third])
        for id in [own, second, third] {
            // Who shares the same again finds one of them.
            #expect(try ledger.openShare(of: rome, selection: nil, quality: .reduced)?.id == id)
            #expect(try ledger.endShare(id, .revoked))
        }
        #expect(try ledger.openShare(of: rome, selection: nil, quality: .reduced) == nil)
    }

    @Test func `what is below no watched folder stays where it was, and the deepest one counts`() throws {
        let (other, deep) = (makeID(), makeID())
        let deeper = places.merging(["/home/ana/Trips/more": "/mnt/more"]) { $1 }
        #expect(try ledger.takeShareUp(line(other, path: "/home/ana/Trips2/Rome"), movedTo: deeper))
        #expect(try ledger.share(other)?.folder == "/home/ana/Trips2/Rome")
        #expect(try ledger.takeShareUp(line(deep, path: "/home/ana/Trips/more/Oslo"), movedTo: deeper))
        #expect(try ledger.share(deep)?.folder == "/mnt/more/Oslo")
    }
}
