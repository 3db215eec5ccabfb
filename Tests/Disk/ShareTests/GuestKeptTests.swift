import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What this machine knows of photos of guests: those that it keeps, and those that it was sent.
@Suite struct GuestKeptTests: GuestSuite {
    let bench: GuestBench

    init() throws {
        bench = try GuestBench()
    }

    private func problems() async throws -> [String] { try await ledger { try $0.guestProblems().map(\.problem) } }

    /// What the store has of a share.
    private func left(_ share: ShareID) -> [ObjectKey] {
        memory.keys.filter { $0.rawValue.hasPrefix(ShareKeys(share).folder) }
    }

    private func reads(of key: ObjectKey) -> Int {
        store.calls.count { $0.operation == .get && $0.key == key.rawValue }
    }

    // MARK: Objects

    @Test func `a photo that was sent twice is fetched once from each place`() async throws {
        let id = try await share()
        let keys = ShareKeys(id)
        for slot in [4, 5] { try await send(TellingPhotos.wide, to: id, slot) }
        let guests = try #require(workshop.guests)
        #expect(try await guests.take(id) == 1)
        for _ in 0..<3 { #expect(try await guests.take(id) == 0) }
        #expect(try await photos(id).map(\.slot) == [4])
        #expect(reads(of: keys.guest(4)) == 1 && reads(of: keys.guest(5)) == 1)
        // What comes to its place later is another one.
        try await send(TellingPhotos.small, to: id, 5)
        #expect(try await guests.take(id) == 1)
        #expect(try await photos(id).map(\.slot) == [4, 5])
        #expect(reads(of: keys.guest(4)) == 1 && reads(of: keys.guest(5)) == 2)
        try await workshop.remover.run(id, .revoked)
        #expect(left(id).isEmpty)
        #expect(reads(of: keys.guest(4)) == 1 && reads(of: keys.guest(5)) == 2)
    }

    @Test func `a photo that comes to a place while its reservation is removed stays`() async throws {
        let id = try await share()
        let (memory, key, clock) = (memory, ShareKeys(id).guest(0), time)
        try await send([UInt8](repeating: 7, count: 32), to: id, 0)
        await time.advance(by: .seconds(4_000))
        let page = InMemoryStore(now: { clock.now })
        try await send(TellingPhotos.wide, to: id, 0, in: page)
        store.add(StoreFault(.head, key: key.rawValue, number: 1, .meanwhile { memory.recover(key, from: page) }))
        let guests = try #require(workshop.guests)
        #expect(try await guests.take(id) == 0)
        #expect(try await guests.take(id) == 1)
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `where the store does not tell what guests have sent, that is a problem until it does`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        store.add(StoreFault(.list, key: ShareKeys(id).guestFolder, number: 1, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await workshop.guests?.take(id) }
        #expect(try await problems().count == 1)
        #expect(try await workshop.guests?.take(id) == 1)
        #expect(try await problems().isEmpty)
    }

    @Test func `what keeps photos back is looked at again, also when guests are not asked for any more`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        store.add(StoreFault(.get, key: ShareKeys(id).guest(0).rawValue, numbers: 1...2, .failBefore(.badDigest)))
        await #expect(throws: StoreError.self) { try await workshop.guests?.take(id) }
        var order = try workshop.order(["small.jpg"], in: folder, taken: "2024-06-16")
        order.takesGuests = false
        _ = try await workshop.share(order)
        #expect(try await problems().count == 1)
        try await workshop.service.round()
        #expect(try await photos(id).map(\.state) == [.waiting])
        #expect(try await problems().isEmpty)
    }

    @Test func `what guests have sent to a share that is over is taken in before a store that is moved to loses it`()
        async throws
    {
        let id = try await share()
        let guests = try #require(workshop.guests)
        try await workshop.remover.run(id, .revoked)
        try await send(TellingPhotos.wide, to: id, 0)
        try await OverShares(in: store, ledger: ledger, guests: guests).remove()
        #expect(left(id).isEmpty)
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `nobody sees a share that is over in a store that is moved to, whatever keeps it from its end`()
        async throws
    {
        let guests = try #require(workshop.guests)
        var (ids, locks): ([ShareID], [FileDescriptor]) = ([], [])
        for _ in 0..<2 {
            let id = try await share()
            try await workshop.remover.run(id, .revoked)
            ids.append(id)
        }
        for id in ids {
            for key in [ShareKeys(id).manifest, ShareKeys(id).page] { try await memory.store([1], at: key) }
            try await send(TellingPhotos.wide, to: id, 0)
            locks.append(try #require(try box.lock(id)))
        }
        let over = OverShares(in: store, ledger: ledger, guests: guests)
        await #expect(throws: ShareError.self) { try await over.remove() }
        #expect(ids.map { left($0) } == ids.map { [ShareKeys($0).guest(0)] })
        for lock in locks { try lock.close() }
        try await over.remove()
        #expect(ids.allSatisfy { left($0).isEmpty })
    }

    // MARK: Files

    @Test func `what waits here of a share that is over waits after a rebuild, too`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 3)
        try await workshop.remover.run(id, .revoked)
        let rebuilt = ShareWorkshop(
            store: store, ledger: LedgerQueue(try Ledger.inMemory()), time: time, guestBox: box)
        try await rebuilt.service.round()
        let waiting = try await rebuilt.ledger { try $0.waitingGuestPhotos() }
        #expect(waiting.map(\.share) == [id] && waiting.map(\.slot) == [3])
        #expect(waiting.map(\.sha256) == [SHA256Digest(of: TellingPhotos.wide)])
    }

    @Test func `a kept file that is no whole photo is named and left alone, and is no problem`() async throws {
        let id = try await share()
        let half = try tree.write(Array(TellingPhotos.wide.prefix(900)), to: "state/guests/\(id)/3.jpg")
        let text = try tree.write("somebody's note", to: "state/guests/\(id)/4.txt")
        // Names that are none of ours.
        for name in [".5.jpg", "+6.jpg", "-7.jpg", "008.jpg", "notes", "9.jpg.part"] {
            try tree.write("something else", to: "state/guests/\(id)/\(name)")
        }
        for _ in 0..<2 { #expect(try await workshop.guests?.take(id) == 0) }
        let all = try await photos(id)
        #expect(all.map(\.slot) == [3, 4] && all.map(\.state) == [.refused, .refused])
        for (photo, file) in zip(all, [half, text]) { #expect(photo.reason?.hasPrefix("\(file.string): ") == true) }
        #expect(try await problems().isEmpty)
        #expect(try tree.read("state/guests/\(id)/3.jpg").count == 900)
        // Its number is not given again.
        try await send(TellingPhotos.wide, to: id, 3)
        #expect(try await workshop.guests?.take(id) == 1)
        #expect(try await photos(id).map(\.slot) == [3, 4, 100])
    }

    @Test func `a kept file that cannot be read is named until somebody has seen to it, and the share ends`()
        async throws
    {
        let id = try await share()
        let file = try tree.makeFolder("state/guests/\(id)/0.jpg")
        try await send(TellingPhotos.wide, to: id, 1)
        try await workshop.remover.run(id, .revoked)
        #expect(left(id).isEmpty)
        #expect(try await ledger { try $0.share(id) }?.state == .revoked)
        #expect(try await photos(id).map(\.slot) == [1])
        let problem = try #require(try await problems().first)
        #expect(problem.hasPrefix(file.string) && problem.contains("move it"))
        // However late.
        await time.advance(by: .seconds(80_000))
        try await workshop.service.round()
        #expect(try await problems() == [problem])
        try file.removeFolder()
        await time.advance(by: .seconds(400))
        try await workshop.service.round()
        #expect(try await problems().isEmpty)
    }

    @Test func `who tells of photos that have come hears of them also where something keeps others back`()
        async throws
    {
        let id = try await share()
        try tree.makeFolder("state/guests/\(id)/0.jpg")
        try await send(TellingPhotos.wide, to: id, 1)
        let received = try #require(try await workshop.guests?.receive(id))
        #expect(received.count == 1 && received.problem is GuestIntake.KeptFault)
    }

    // MARK: Other processes

    @Test func `that another process takes a share's photos in just now is no problem of its removal`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        let lock = try #require(try box.lock(id))
        await #expect(throws: ShareError.inOtherHands(id)) { try await workshop.remover.run(id, .revoked) }
        let ending = try #require(try await ledger { try $0.share(id) })
        #expect(ending.state == .revoking && ending.problem == nil)
        try lock.close()
        try await workshop.remover.run(id, .revoked)
        #expect(left(id).isEmpty)
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `who decides on the last photo takes no lock away from who takes others in`() async throws {
        let id = try await share()
        try await send(TellingPhotos.wide, to: id, 0)
        _ = try await workshop.guests?.take(id)
        let decisions = GuestDecisions(
            ledger: ledger, box: box, disk: BlockingPool(name: "disk", threads: 1), time: time.source)
        let lock = try #require(try box.lock(id))
        try await decisions.refuse(try await photos(id))
        #expect(try Folder.names(in: box.place(of: id)) == [])
        #expect(try box.lock(id) == nil)
        try lock.close()
        try box.removeIfEmpty(id)
        #expect(try Folder.names(in: box.place(of: id)) == nil)
        try #require(try box.lock(id)).close()
    }
}
