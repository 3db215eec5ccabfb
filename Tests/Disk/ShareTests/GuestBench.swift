import SyncCore
import SyncDigest
import SyncLedger
import SyncTestSupport
import SystemPackage

@testable import SyncEngine

/// A machine that shares one photo, and its store, to which guests send theirs.
struct GuestBench: Sendable {
    let tree: TemporaryTree
    let time = ManualTime()
    let memory: InMemoryStore
    let store: FaultyStore
    let ledger: LedgerQueue
    let folder: FilePath
    let box: GuestIntake.Box
    let workshop: ShareWorkshop

    init() throws {
        tree = try TemporaryTree()
        let clock = time
        memory = InMemoryStore(now: { clock.now })
        store = FaultyStore(memory)
        ledger = LedgerQueue(try Ledger.inMemory())
        folder = try tree.makeFolder("trips/Paris")
        try tree.write(TellingPhotos.small, to: "trips/Paris/small.jpg")
        box = GuestIntake.Box(tree.path("state/guests"), freeBytes: { _ in 2 << 30 })
        workshop = ShareWorkshop(store: store, ledger: ledger, time: time, guestBox: box)
    }
}

/// A suite of what becomes of what guests send: each of its tests has a bench of its own.
protocol GuestSuite {
    var bench: GuestBench { get }
}

extension GuestSuite {
    var tree: TemporaryTree { bench.tree }
    var time: ManualTime { bench.time }
    var memory: InMemoryStore { bench.memory }
    var store: FaultyStore { bench.store }
    var ledger: LedgerQueue { bench.ledger }
    var folder: FilePath { bench.folder }
    var box: GuestIntake.Box { bench.box }
    var workshop: ShareWorkshop { bench.workshop }

    /// A share that guests may add to.
    func share() async throws -> ShareID {
        var order = try workshop.order(["small.jpg"], in: folder, taken: "2024-06-16")
        order.takesGuests = true
        return try await workshop.share(order).id
    }

    /// - Parameter other: in place of the store, from which they come there later.
    func send(_ bytes: [UInt8], to share: ShareID, _ slot: Int, in other: InMemoryStore? = nil) async throws {
        _ = try await (other ?? memory).put(
            ObjectBody(bytes: bytes, digest: ContentDigest(of: bytes)), at: ShareKeys(share).guest(slot),
            attributes: ObjectAttributes(contentType: "image/jpeg"), condition: .overwrite)
    }

    func photos(_ share: ShareID) async throws -> [GuestPhoto] {
        try await ledger { try $0.guestPhotos(of: share) }
    }
}
