import FoundationEssentials
import Logging
import SyncCore
import SyncDigest
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What guests send to a share, from the store to a file of the vacation.
@Suite struct GuestIntakeTests {
    private let tree: TemporaryTree
    private let time = ManualTime()
    private let store: LocalStore
    private let ledger: LedgerQueue
    private let folder: FilePath
    private let workshop: ShareWorkshop
    private let decisions: GuestDecisions

    init() throws {
        tree = try TemporaryTree()
        let clock = time
        store = LocalStore(root: tree.path("store"), now: { clock.now }, restoreDuration: .seconds(5))
        ledger = LedgerQueue(try Ledger.inMemory())
        folder = try tree.makeFolder("trips/Paris")
        try tree.write(TellingPhotos.small, to: "trips/Paris/small.jpg")
        let box = GuestIntake.Box(tree.path("state/guests"), freeBytes: { _ in 2 << 30 })
        workshop = ShareWorkshop(store: store, ledger: ledger, time: time, guestBox: box)
        decisions = GuestDecisions(
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

    private func content(_ file: FilePath) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: file.string)))
    }

    private func photos(_ share: ShareID) async throws -> [GuestPhoto] {
        try await ledger { try $0.guestPhotos(of: share) }
    }

    @Test func `what guests send waits on this machine, and its place in the store is taken`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 4)
        try await send(
            Array("<script>alert(\"a page of more than 64 bytes, which is no photo\")</script>".utf8), to: id, 7)
        try await send(Array(TellingPhotos.wide.prefix(900)), to: id, 8)
        try await workshop.service.round()
        let all = try await photos(id)
        #expect(all.map(\.slot) == [4, 7, 8] && all.map(\.state) == [.waiting, .refused, .refused])
        #expect(all.allSatisfy { ($0.reason == nil) == ($0.state == .waiting) })
        let waiting = try #require(all.first)
        let kept = decisions.box.file(of: waiting)
        #expect(try content(kept) == TellingPhotos.wide)
        #expect(FileStamp.ofFile(decisions.box.thumbnail(of: waiting)) != nil)
        // Until the owner has decided, the store has the only other copy.
        #expect(try await store.bytes(of: ShareKeys(id).guest(4)) == TellingPhotos.wide)
        #expect(try await store.list(prefix: ShareKeys(id).guestFolder, after: nil, limit: 10).objects.count == 3)
        // Nothing is left of what is no photo.
        #expect(try Folder.names(in: kept.removingLastComponent())?.count == 2)
        // Again, as after a kill, it is the same photo; another one at the same place gets another number.
        try await send(TellingPhotos.wide, to: id, 4)
        try await workshop.service.round()
        #expect(try await photos(id).map(\.sha256) == all.map(\.sha256))
        try await send(TellingPhotos.small, to: id, 4)
        try await workshop.service.round()
        #expect(try await photos(id).map(\.slot) == [4, 7, 8, 100])
        #expect(try content(kept) == TellingPhotos.wide)
        #expect(try await store.bytes(of: ShareKeys(id).guest(4)) == TellingPhotos.small)
        let later = try await photos(id)
        try await workshop.service.round()
        #expect(try await photos(id) == later)
    }

    @Test func `a place that a page has reserved is left alone, and is free again when the photo does not come`()
        async throws
    {
        let id = try await share()
        let claim = [UInt8](repeating: 7, count: 32)
        try await send(claim, to: id, 0)
        try await workshop.service.round()
        #expect(try await photos(id).isEmpty)
        #expect(try await store.bytes(of: ShareKeys(id).guest(0)) == claim)
        await time.advance(by: .seconds(4_000))
        try await workshop.service.round()
        #expect(try await store.head(ShareKeys(id).guest(0)) == nil)
    }

    @Test func `one photo that cannot be kept now keeps no other from being kept`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await send(TellingPhotos.small, to: id, 1)
        // Its own name cannot be had.
        let box = tree.path("state/guests/\(id)")
        try tree.makeFolder("state/guests/\(id)/.0.new.sync-agent-part")
        await #expect(throws: (any Error).self) { try await workshop.guests?.take(id) }
        #expect(try await photos(id).map(\.slot) == [1])
        #expect(try await store.head(ShareKeys(id).guest(0))?.size == Int64(TellingPhotos.wide.count))
        try box.appending(".0.new.sync-agent-part").removeFolder()
        #expect(try await workshop.guests?.take(id) == 1)
        #expect(try await photos(id).map(\.state) == [.waiting, .waiting])
    }

    @Test func `what is kept and cannot be read keeps no other from being kept`() async throws {
        let id = try await share()
        try await send(TellingPhotos.small, to: id, 1)
        try tree.makeFolder("state/guests/\(id)/0.jpg")
        await #expect(throws: GuestIntake.KeptFault.self) { try await workshop.guests?.take(id) }
        #expect(try await photos(id).map(\.slot) == [1])
    }

    @Test func `what is kept and cannot be read keeps its number`() async throws {
        let id = try await share()
        let kept = try tree.makeFolder("state/guests/\(id)/100.jpg")
        try await send(TellingPhotos.wide, to: id, 4)
        await #expect(throws: GuestIntake.KeptFault.self) { try await workshop.guests?.take(id) }
        // Over it: what is refused, and another photo.
        try await send(Array(TellingPhotos.wide.prefix(900)), to: id, 4)
        await #expect(throws: GuestIntake.KeptFault.self) { try await workshop.guests?.take(id) }
        try await send(TellingPhotos.small, to: id, 4)
        await #expect(throws: GuestIntake.KeptFault.self) { try await workshop.guests?.take(id) }
        #expect(try await photos(id).map(\.slot) == [4, 101, 102])
        #expect(try await photos(id).map(\.state) == [.waiting, .refused, .waiting])
        // It can be read again.
        let only = TellingPhotos.wide + [7]
        try kept.removeFolder()
        try tree.write(only, to: "state/guests/\(id)/100.jpg")
        _ = try await workshop.guests?.take(id)
        let all = try await photos(id)
        #expect(all.map(\.slot) == [4, 100, 101, 102])
        #expect(all.first { $0.slot == 100 }?.sha256 == SHA256Digest(of: only))
        #expect(try content(kept) == only)
    }

    @Test func `on a disk that is all but full nothing is taken in`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        let box = GuestIntake.Box(tree.path("full/guests"), freeBytes: { _ in 1 << 30 })
        let full = ShareWorkshop(store: store, ledger: ledger, time: time, guestBox: box)
        await #expect(throws: GuestIntake.NoRoom.self) { try await full.guests?.take(id) }
        #expect(try await ledger { try $0.guestProblems() }.map(\.share) == [id])
        #expect(try await photos(id).isEmpty)
        #expect(try await store.head(ShareKeys(id).guest(0))?.size == Int64(TellingPhotos.wide.count))
        #expect(try await workshop.guests?.take(id) == 1)
        #expect(try await ledger { try $0.guestProblems() }.isEmpty)
    }

    @Test func `what was lost here while it waited is fetched again`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.service.round()
        let waiting = try #require(try await photos(id).first)
        try decisions.box.file(of: waiting).unlink()
        #expect(try await decisions.accept([waiting], into: folder).map(\.photo.slot) == [0])
        try await workshop.service.round()
        #expect(try content(decisions.box.file(of: waiting)) == TellingPhotos.wide)
        // As on another machine, whose ledger knows nothing of it.
        let box = GuestIntake.Box(tree.path("other/guests"), freeBytes: { _ in nil })
        let other = ShareWorkshop(
            store: store, ledger: LedgerQueue(try Ledger.inMemory()), time: time, guestBox: box)
        #expect(try await other.guests?.take(id) == 1)
        #expect(try await decisions.accept([waiting], into: folder).isEmpty)
    }

    @Test func `what is kept and no longer noted waits again`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.service.round()
        let other = ShareWorkshop(
            store: store, ledger: LedgerQueue(try Ledger.inMemory()), time: time, guestBox: decisions.box)
        try await send(TellingPhotos.small, to: id, 1)
        #expect(try await other.guests?.take(id) == 1)
        let found = try await other.ledger { try $0.guestPhotos(of: id) }
        #expect(found.map(\.slot) == [0, 1] && found.first?.sha256 == SHA256Digest(of: TellingPhotos.wide))
    }

    @Test func `when guests are not asked for any more, what they have sent is kept all the same`() async throws {
        let id = try await share()
        var order = try workshop.order(["small.jpg"], in: folder, taken: "2024-06-16")
        order.takesGuests = false
        #expect(try await workshop.share(order).id == id)
        #expect(try await ledger { try $0.share(id) }?.takesGuests == false)
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.remover.run(id, .expired)
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `another machine that takes the share back keeps what guests have sent`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        let box = GuestIntake.Box(tree.path("desktop/guests"), freeBytes: { _ in nil })
        let desktop = ShareWorkshop(
            store: store, ledger: LedgerQueue(try Ledger.inMemory()), time: time, owner: "desktop", guestBox: box)
        let found = try #require(try await desktop.others.stray(id))
        #expect(try await desktop.otherRemover.run(id, found))
        #expect(try await store.list(prefix: ShareKeys(id).folder, after: nil, limit: 10).objects.isEmpty)
        let waiting = try await desktop.ledger { try $0.waitingGuestPhotos() }
        #expect(try content(box.file(of: try #require(waiting.first))) == TellingPhotos.wide)
    }

    @Test func `what is accepted is a file of the vacation, once, byte for byte`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await send(TellingPhotos.small, to: id, 1)
        try await workshop.service.round()
        let waiting = try await photos(id)
        #expect(try await decisions.accept([waiting[0]], into: folder).isEmpty)
        #expect(try await photos(id).map(\.state) == [.accepted, .waiting])
        let file = try #require(try await photos(id).first?.path)
        #expect(try file.removingLastComponent() == folder && content(file) == TellingPhotos.wide)
        #expect(FileStamp.ofFile(decisions.box.file(of: waiting[0])) == nil)
        #expect(try await decisions.accept([waiting[1]], into: folder).isEmpty)
        let names = Set(try #require(try Folder.names(in: folder)))
        #expect(names.count == 3)
        try await decisions.refuse(waiting)
        #expect(try await photos(id).map(\.state) == [.accepted, .accepted])
        #expect(try Set(Folder.names(in: folder) ?? []) == names)
    }

    @Test func `a kill between the file and the ledger makes no second file`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await workshop.service.round()
        let waiting = try await photos(id)
        try tree.write(TellingPhotos.wide, to: "trips/Paris/guest-\("\(id)".prefix(8))-0.jpg")
        _ = try await decisions.accept(waiting, into: folder)
        #expect(try Folder.names(in: folder)?.count == 2)
        #expect(try await photos(id).map(\.state) == [.accepted])
    }

    @Test func `what cannot be put where it belongs goes on waiting, and keeps no other from it`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        try await send(TellingPhotos.small, to: id, 1)
        try await workshop.service.round()
        let waiting = try await photos(id)
        let gone = tree.path("unmounted/Paris")
        await #expect(throws: GuestDecisions.NoFolder(folder: gone, isChosen: true)) {
            _ = try await decisions.accept(waiting, into: gone, isChosen: true)
        }
        try folder.appending("small.jpg").rename(to: folder.appending("away.jpg"))
        await #expect(throws: GuestDecisions.NoFolder(folder: folder, isChosen: false)) {
            _ = try await decisions.accept(waiting, into: folder)
        }
        try folder.appending("away.jpg").rename(to: folder.appending("small.jpg"))
        #expect(try await photos(id) == waiting)
        // Another photo has the name.
        let name = "guest-\("\(id)".prefix(8))-1"
        try tree.write("another photo", to: "trips/Paris/\(name).jpg")
        try tree.write("no longer what was sent", to: "state/guests/\(id)/0.jpg")
        let problems = try await decisions.accept(waiting, into: folder)
        #expect(problems.map(\.photo.slot) == [0] && problems.allSatisfy { $0.reason.contains("--refresh") })
        #expect(try await photos(id).map(\.state) == [.waiting, .accepted])
        #expect(try content(folder.appending("\(name).jpg")) == Array("another photo".utf8))
        #expect(try content(folder.appending("\(name)-2.jpg")) == TellingPhotos.small)
        try await decisions.refuse(waiting)
        #expect(try await photos(id).map(\.state) == [.refused, .accepted])
    }

    @Test func `a share that ends keeps what nobody has looked at`() async throws {
        let id = try await share()
        try await workshop.service.round()
        try await send(TellingPhotos.wide, to: id, 2)
        try await workshop.remover.run(id, .revoked)
        let waiting = try await photos(id)
        #expect(waiting.map(\.state) == [.waiting])
        let kept = decisions.box.file(of: try #require(waiting.first))
        #expect(try content(kept) == TellingPhotos.wide)
        #expect(try await store.list(prefix: ShareKeys(id).folder, after: nil, limit: 10).objects.isEmpty)
        #expect(try await ledger { try $0.share(id) }?.state == .revoked)
        _ = try await decisions.accept(waiting, into: folder)
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
