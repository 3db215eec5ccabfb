import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// What guests send to a share, from the store to a file of the vacation.
@Suite struct GuestIntakeTests {
    private let tree: TemporaryTree
    private let time = ManualTime()
    private let store: LocalStore
    private let ledger: LedgerQueue
    private let folder: FilePath
    private let workshop: ShareWorkshop
    private let desk: GuestDesk

    init() throws {
        tree = try TemporaryTree()
        let clock = time
        store = LocalStore(root: tree.path("store"), now: { clock.now }, restoreDuration: .seconds(5))
        ledger = LedgerQueue(try Ledger.inMemory())
        folder = try tree.makeFolder("trips/Paris")
        try tree.write(TellingPhotos.small, to: "trips/Paris/small.jpg")
        let box = GuestIntake.Box(tree.path("state/guests"))
        workshop = ShareWorkshop(store: store, ledger: ledger, time: time, guestBox: box)
        desk = GuestDesk(
            ledger: ledger, box: box, disk: BlockingPool(name: "disk", threads: 1), time: time.source)
    }

    /// A share that guests may add to.
    private func share(takesGuests: Bool = true) async throws -> ShareID {
        var order = try workshop.order(["small.jpg"], in: folder, taken: "2024-06-16")
        order.takesGuests = takesGuests
        let made = try await workshop.share(order)
        guard case .live = made.result else { throw NotLive() }
        return made.id
    }

    private struct NotLive: Error {}

    private func send(_ bytes: [UInt8], to share: ShareID, _ slot: Int, as type: String = "image/jpeg") async throws {
        _ = try await store.put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: ShareKeys(share).guest(slot),
            attributes: ObjectAttributes(contentType: type), condition: .overwrite)
    }

    private func photos(_ share: ShareID) async throws -> [GuestPhoto] {
        try await ledger { try $0.guestPhotos(of: share) }
    }

    @Test func `what guests send waits on this machine, and its place in the store is taken`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 4)
        try await send(Array("<script>alert(1)</script>".utf8), to: id, 7)
        try await send(Array(TellingPhotos.wide.prefix(900)), to: id, 8)
        try await workshop.service.round()
        let all = try await photos(id)
        #expect(all.map(\.slot) == [4, 7, 8] && all.map(\.state) == [.waiting, .refused, .refused])
        #expect(all.allSatisfy { ($0.reason == nil) == ($0.state == .waiting) })
        let waiting = try #require(all.first)
        let kept = desk.box.file(of: waiting)
        #expect(try kept.bytes == TellingPhotos.wide)
        #expect(FileStamp.ofFile(desk.box.thumbnail(of: waiting)) != nil)
        for slot in [4, 7, 8] { #expect(try await store.head(ShareKeys(id).guest(slot))?.size == 0) }
        // Nothing is left of what is no photo.
        #expect(try Folder.names(in: kept.removingLastComponent())?.count == 2)
        // What comes to a place that is taken has come for nothing.
        try await send(TellingPhotos.small, to: id, 4)
        try await workshop.service.round()
        #expect(try await photos(id) == all)
        #expect(try kept.bytes == TellingPhotos.wide)
        #expect(try await store.head(ShareKeys(id).guest(4))?.size == 0)
    }

    @Test func `what is accepted is a file of the vacation, once, byte for byte`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await send(TellingPhotos.small, to: id, 1)
        try await workshop.service.round()
        let waiting = try await photos(id)
        let files = try await desk.accept([waiting[0]], into: folder)
        #expect(files.map { try? $0.bytes } == [TellingPhotos.wide])
        #expect(try await photos(id).map(\.state) == [.accepted, .waiting])
        #expect(try await photos(id).first?.path == files.first)
        #expect(FileStamp.ofFile(desk.box.file(of: waiting[0])) == nil)
        // Whoever was killed between the file and the ledger makes no second one.
        let again = try await desk.accept([waiting[1]], into: folder)
        let names = Set(try #require(try Folder.names(in: folder)))
        #expect(names.count == 3 && again.count == 1)
        try await desk.refuse(waiting)
        #expect(try await photos(id).map(\.state) == [.accepted, .accepted])
        #expect(try Set(Folder.names(in: folder) ?? []) == names)
    }

    @Test func `a kill between the file and the ledger makes no second file`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.service.round()
        let waiting = try await photos(id)
        try tree.write(TellingPhotos.wide, to: "trips/Paris/guest-\("\(id)".prefix(8))-0.jpg")
        _ = try await desk.accept(waiting, into: folder)
        #expect(try Folder.names(in: folder)?.count == 2)
        #expect(try await photos(id).map(\.state) == [.accepted])
    }

    @Test func `what cannot be put where it belongs goes on waiting`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.service.round()
        let waiting = try await photos(id)
        let gone = tree.path("unmounted/Paris")
        await #expect(throws: GuestDesk.Failure.noFolder(gone)) { _ = try await desk.accept(waiting, into: gone) }
        let name = "guest-\("\(id)".prefix(8))-0.jpg"
        try tree.write("another photo", to: "trips/Paris/\(name)")
        await #expect(throws: GuestDesk.Failure.noName(folder.appending(name))) {
            _ = try await desk.accept(waiting, into: folder)
        }
        #expect(try folder.appending(name).bytes == Array("another photo".utf8))
        #expect(try await photos(id) == waiting)
        try tree.write("no longer what was sent", to: "state/guests/\(id)/0.jpg")
        try folder.appending(name).unlink()
        await #expect(throws: GuestDesk.Failure.lost(desk.box.file(of: waiting[0]))) {
            _ = try await desk.accept(waiting, into: folder)
        }
        try await desk.refuse(waiting)
        #expect(try await photos(id).map(\.state) == [.refused])
    }

    @Test func `a share that ends keeps what nobody has looked at`() async throws {
        let id = try await share()
        try await workshop.service.round()
        try await send(TellingPhotos.wide, to: id, 2)
        try await workshop.ender.run(id, .revoked)
        let waiting = try await photos(id)
        #expect(waiting.map(\.state) == [.waiting])
        let kept = desk.box.file(of: try #require(waiting.first))
        #expect(try kept.bytes == TellingPhotos.wide)
        #expect(try await store.list(prefix: ShareKeys(id).folder, after: nil, limit: 10).objects.isEmpty)
        #expect(try await ledger { try $0.share(id) }?.state == .revoked)
        _ = try await desk.accept(waiting, into: folder)
        #expect(try Folder.names(in: folder)?.count == 2)
    }

    @Test func `a look at what is stored of a share leaves alone what guests have sent`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 2)
        #expect(try await !workshop.publisher.examine(id))
        #expect(try await store.head(ShareKeys(id).guest(2))?.size == Int64(TellingPhotos.wide.count))
        // Nobody asks for guests there.
        let other = try await ShareKeys(share(takesGuests: false)).id
        #expect(other == id)
    }
}
