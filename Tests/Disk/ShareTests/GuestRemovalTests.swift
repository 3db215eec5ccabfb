import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// What becomes of what guests have sent when a share is removed.
@Suite struct GuestRemovalTests: GuestSuite {
    let bench: GuestBench

    init() throws {
        bench = try GuestBench()
    }

    /// The same machine, on whose disk there is no room.
    private var full: ShareWorkshop {
        ShareWorkshop(
            store: store, ledger: ledger, time: time,
            guestBox: GuestIntake.Box(tree.path("state/guests"), freeBytes: { _ in 1 << 30 }))
    }

    /// Another machine of the user.
    private func desktop(_ ledger: LedgerQueue, freeBytes: Int64? = nil) -> ShareWorkshop {
        ShareWorkshop(
            store: store, ledger: ledger, time: time, owner: "desktop",
            guestBox: GuestIntake.Box(tree.path("desktop/guests"), freeBytes: { _ in freeBytes }))
    }

    /// A move of this machine to another store.
    private func leaving(_ share: ShareID) -> StoreCopy {
        StoreCopy(
            from: store, to: InMemoryStore(), prefixes: [ShareKeys(share).folder], folder: tree.path("state"),
            pool: BlockingPool(name: "copy", threads: 1), time: time.source)
    }

    /// Photos whose bytes differ.
    private func photo(_ number: Int) -> [UInt8] { TellingPhotos.wide + [UInt8](repeating: 7, count: number) }

    private func send(
        _ number: Int, to share: ShareID, _ slot: Int, in other: InMemoryStore? = nil
    ) async throws {
        try await send(photo(number), to: share, slot, in: other)
    }

    /// The names of what the store has of a share.
    private func left(_ share: ShareID) -> [String] {
        memory.keys.map(\.rawValue).filter { $0.hasPrefix(ShareKeys(share).folder) }
            .map { String($0.dropFirst(ShareKeys(share).folder.count)) }
    }

    @Test func `what guests send while the share is removed is taken in, too`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        try await send(1, to: id, 1)
        let gate = Gate()
        store.add(StoreFault(.get, key: ShareKeys(id).guest(1).rawValue, number: 1, .hold(gate)))
        async let removal: Void = workshop.remover.run(id, .revoked)
        await gate.waitForArrivals(1)
        // One lies over what was taken in a moment ago, one is at a place of its own.
        try await send(2, to: id, 0)
        try await send(3, to: id, 7)
        gate.open()
        try await removal
        let kept = try await photos(id)
        #expect(kept.allSatisfy { $0.state == .waiting })
        #expect(Set(kept.map(\.sha256)) == Set((0..<4).map { SHA256Digest(of: photo($0)) }))
        #expect(left(id) == [])
        #expect(try await ledger { try $0.share(id) }?.state == .revoked)
    }

    @Test(arguments: [true, false])
    func `a kept photo whose bytes are others is fetched again before its object goes`(isAsked: Bool) async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let guests = try #require(workshop.guests)
        _ = try await guests.take(id)
        let kept = try #require(try await photos(id).first)
        let file = "state/guests/\(id)/\(kept.slot).jpg"
        #expect(try tree.read(file) == photo(0))
        // Of the same length.
        try tree.write([UInt8](repeating: 0, count: photo(0).count), to: file)
        if isAsked {
            _ = try await guests.take(id, .asked)
        } else {
            try await workshop.remover.run(id, .revoked)
        }
        #expect(try tree.read(file) == photo(0))
        #expect(left(id).isEmpty != isAsked)
    }

    @Test func `while guests go on sending, the share goes on ending, and nothing is lost`() async throws {
        let id = try await share()
        let (memory, keys) = (memory, ShareKeys(id))
        try await send(0, to: id, 0)
        let sent = Lock(0)
        let clock = time
        let outbox = InMemoryStore(now: { clock.now })
        for number in 1...20 { try await send(number, to: id, number, in: outbox) }
        // After each photo that is read another one comes.
        let busy = FaultyStore(store) { call in
            guard call.operation == .get, call.key.hasPrefix(keys.guestFolder) else { return [] }
            return [
                .meanwhile {
                    let number = sent.withLock { count in
                        count += 1
                        return count
                    }
                    memory.recover(keys.guest(number), from: outbox)
                }
            ]
        }
        let box = GuestIntake.Box(tree.path("state/guests"), freeBytes: { _ in nil })
        let interrupted = ShareWorkshop(store: busy, ledger: ledger, time: time, guestBox: box)
        await #expect(throws: StoreError.self) { try await interrupted.remover.run(id, .revoked) }
        #expect(try await ledger { try $0.share(id) }?.state == .revoking)
        try await workshop.remover.run(id, .revoked)
        let wanted = Set((0...sent.withLock { $0 }).map { SHA256Digest(of: photo($0)) })
        #expect(try await Set(photos(id).map(\.sha256)) == wanted)
        #expect(left(id) == [])
    }

    @Test(arguments: [StoreError.Code.badDigest, .archived, .accessDenied])
    func `what the store gives nobody any more is refused, with the reason, and the share ends`(
        code: StoreError.Code
    ) async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        try await send(1, to: id, 1)
        store.add(StoreFault(.get, key: ShareKeys(id).guest(0).rawValue, .failBefore(code)))
        // As long as the share lasts it may be mended.
        await #expect(throws: StoreError.self) { try await workshop.guests?.take(id) }
        #expect(try await photos(id).map(\.slot) == [1])
        try await workshop.remover.run(id, .expired)
        let all = try await photos(id)
        #expect(all.map(\.state) == [.refused, .waiting] && all.map(\.slot) == [0, 1])
        #expect(all.first?.reason?.contains("scripted by the test") == true)
        #expect(left(id) == [])
        #expect(try await ledger { try $0.share(id) }?.state == .expired)
        #expect(try await ledger { try $0.guestProblems() }.isEmpty)
    }

    @Test func `so is what the store cannot even look at`() async throws {
        let id = try await share()
        try await send(0, to: id, 3)
        memory.makeUnreadable(ShareKeys(id).guest(3))
        try await workshop.remover.run(id, .revoked)
        #expect(try await photos(id).map(\.state) == [.refused])
        #expect(left(id) == [])
    }

    @Test func `where the store lets nothing be read, nothing that guests have sent is deleted`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let key = ShareKeys(id).guest(0).rawValue
        store.add(StoreFault(.get, key: key, number: 1, .failBefore(.accessDenied)))
        store.add(StoreFault(.head, key: ShareKeys(id).manifest.rawValue, .failBefore(.accessDenied)))
        await #expect(throws: StoreError.self) { try await workshop.remover.run(id, .revoked) }
        #expect(left(id) == ["guests/0"])
        #expect(try await photos(id).isEmpty)
        try await workshop.remover.run(id, .revoked)
        #expect(try await photos(id).map(\.state) == [.waiting])
        #expect(left(id) == [])
    }

    @Test func `what this machine cannot keep stays, and only that`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        try await send(1, to: id, 1)
        try tree.makeFolder("state/guests/\(id)/.0.new.sync-agent-part")
        await #expect(throws: (any Error).self) { try await workshop.remover.run(id, .revoked) }
        #expect(left(id) == ["guests/0"])
        #expect(try await photos(id).map(\.slot) == [1])
        try tree.path("state/guests/\(id)/.0.new.sync-agent-part").removeFolder()
        try await workshop.remover.run(id, .revoked)
        #expect(try await photos(id).map(\.state) == [.waiting, .waiting])
        #expect(left(id) == [])
    }

    @Test func `a disk without room ends no round, neither at the end of a share nor after it`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        await #expect(throws: GuestIntake.NoRoom.self) { try await full.remover.run(id, .revoked) }
        try await full.service.round()
        #expect(left(id) == ["guests/0"])
        #expect(try await ledger { try $0.share(id) }?.state == .revoking)
        try await workshop.service.round()
        #expect(try await ledger { try $0.share(id) }?.state == .revoked)
        // From a page that was open still.
        try await send(1, to: id, 1)
        await time.advance(by: .seconds(400))
        try await full.service.round()
        #expect(left(id) == ["guests/1"])
        #expect(try await ledger { try $0.guestProblems() }.map(\.share) == [id])
        // Nothing was sent here for that.
        #expect(!store.calls.contains { $0.operation == .get && $0.key == ShareKeys(id).guest(1).rawValue })
        try await workshop.service.round()
        #expect(left(id) == [])
        #expect(try await photos(id).map(\.state) == [.waiting, .waiting])
        #expect(try await ledger { try $0.guestProblems() }.isEmpty)
    }

    @Test func `what comes after the end and cannot be kept is tried until it can, however long that takes`()
        async throws
    {
        let id = try await share()
        try await workshop.remover.run(id, .revoked)
        try await send(0, to: id, 0)
        await time.advance(by: .seconds(400))
        try await full.service.round()
        #expect(try await ledger { try $0.guestProblems() }.map(\.share) == [id])
        await time.advance(by: .seconds(80_000))
        try await workshop.service.round()
        #expect(left(id) == [])
        #expect(try await photos(id).map(\.state) == [.waiting])
        #expect(try await ledger { try $0.guestProblems() }.isEmpty)
    }

    @Test func `so is what comes to another machine's share`() async throws {
        let id = try await share()
        let other = LedgerQueue(try Ledger.inMemory())
        let found = try #require(try await desktop(other).others.stray(id))
        _ = try await desktop(other).otherRemover.run(id, found)
        try await send(0, to: id, 0)
        await time.advance(by: .seconds(400))
        try await desktop(other, freeBytes: 1 << 30).service.round()
        #expect(try await other { try $0.guestProblems() }.map(\.share) == [id])
        await time.advance(by: .seconds(80_000))
        try await desktop(other).service.round()
        #expect(left(id) == [])
        #expect(try await other { try $0.waitingGuestPhotos() }.count == 1)
        #expect(try await other { try $0.guestProblems() }.isEmpty)
    }

    @Test func `what keeps another machine's share from going is told, and ends no round`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let other = LedgerQueue(try Ledger.inMemory())
        let cramped = desktop(other, freeBytes: 1 << 30)
        let found = try #require(try await cramped.others.stray(id))
        await #expect(throws: GuestIntake.NoRoom.self) { _ = try await cramped.otherRemover.run(id, found) }
        try await cramped.service.round()
        let problem = try #require(try await other { try $0.guestProblems() }.first)
        #expect(problem.share == id && problem.problem.contains("make room"))
        #expect(left(id) == ["guests/0"])
        try await desktop(other).service.round()
        #expect(left(id) == [])
        #expect(try await other { try $0.guestProblems() }.isEmpty)
        #expect(try await other { try $0.waitingGuestPhotos() }.count == 1)
    }

    @Test func `two processes that remove another machine's share do not end one another`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let other = LedgerQueue(try Ledger.inMemory())
        let machine = desktop(other)
        let found = try #require(try await machine.others.stray(id))
        let lock = try #require(try machine.guestBox?.lock(id))
        await #expect(throws: ShareError.inOtherHands(id)) { _ = try await machine.otherRemover.run(id, found) }
        try await machine.service.round()
        // It is nothing to tell.
        #expect(try await other { try $0.guestProblems() }.isEmpty)
        #expect(left(id) == ["guests/0"])
        try lock.close()
        try await machine.service.round()
        #expect(left(id) == [])
    }

    @Test func `what guests send to a store that this machine leaves is taken in`() async throws {
        let id = try await share()
        let guests = try #require(workshop.guests)
        try await send(0, to: id, 0)
        let copy = leaving(id)
        let removal = try await copy.removeOld([id], guests)
        #expect(removal.left.isEmpty && removal.failures.isEmpty)
        #expect(left(id) == [])
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `one share whose guests' photos cannot be kept keeps no other from its end in a store that is left`()
        async throws
    {
        let id = try await share()
        try await send(0, to: id, 0)
        let other = try #require(ShareID("5f0c2a8e-7d0b-4c1e-9a57-0d6f3f1f2b11"))
        let empty = Array("{}".utf8)
        _ = try await memory.put(
            ObjectBody(bytes: empty, digest: ContentDigest(of: empty)), at: ShareKeys(other).manifest,
            attributes: ObjectAttributes(contentType: "application/json"), condition: .overwrite)
        let copy = leaving(id)
        let guests = try #require(full.guests)
        let removal = try await copy.removeOld([id, other], guests)
        #expect(removal.failures.map(\.share) == [id] && removal.failures.allSatisfy { $0.error is GuestIntake.NoRoom })
        #expect(removal.left.isEmpty && removal.failures.allSatisfy { !$0.isInOtherHands })
        #expect(left(other) == [])
        #expect(left(id) == ["guests/0"])
    }

    @Test(arguments: [StoreError.Code.serverFailed, .accessDenied], [true, false])
    func `what guests have sent, and a store that is left does not give, is not left there unsaid`(
        code: StoreError.Code, isManifestKept: Bool
    ) async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let guests = try #require(workshop.guests)
        let keys = ShareKeys(id)
        store.add(StoreFault(.get, key: keys.guest(0).rawValue, numbers: 1...2, .failBefore(code)))
        // Its end fails before it comes to what guests have sent.
        if isManifestKept { store.add(StoreFault(.delete, key: keys.manifest.rawValue, .failBefore(code))) }
        let removal = try await leaving(id).removeOld([id], guests)
        if code == .accessDenied, !isManifestKept {
            // Nobody gets it from there any more, and that is noted.
            #expect(removal.failures.isEmpty && removal.left.isEmpty)
            #expect(try await photos(id).map(\.state) == [.refused])
            return
        }
        #expect(removal.failures.map(\.share) == [id] && removal.left.isEmpty)
        #expect(left(id).contains("guests/0"))
        #expect(try await photos(id).isEmpty)
        // Then it is kept here, whatever else stays there.
        for _ in 0..<2 { _ = try await leaving(id).removeOld([id], guests) }
        let last = try await leaving(id).removeOld([id], guests)
        #expect(last.failures.isEmpty && last.left.isEmpty != isManifestKept)
        #expect(try await photos(id).map(\.state) == [.waiting])
    }

    @Test func `what is kept here and cannot be read keeps no store from being left`() async throws {
        let id = try await share()
        try tree.makeFolder("state/guests/\(id)/0.jpg")
        store.add(StoreFault(.delete, key: ShareKeys(id).manifest.rawValue, .failBefore(.accessDenied)))
        let guests = try #require(workshop.guests)
        let removal = try await leaving(id).removeOld([id], guests)
        #expect(removal.failures.isEmpty && removal.left.first.map(\.key) == [ShareKeys(id).manifest])
        #expect(try await ledger { try $0.guestProblems() }.count == 1)
    }

    @Test func `of a store that is left, all that did not end is told, also what is in other hands`() async throws {
        let id = try await share()
        try await send(0, to: id, 0)
        let other = try #require(ShareID("5f0c2a8e-7d0b-4c1e-9a57-0d6f3f1f2b11"))
        store.add(StoreFault(.delete, key: ShareKeys(other).manifest.rawValue, .failBefore(.accessDenied)))
        let copy = leaving(id)
        let guests = try #require(workshop.guests)
        let lock = try #require(try workshop.guestBox?.lock(id))
        let removal = try await copy.removeOld([id, other], guests)
        #expect(removal.left.first.map(\.key) == [ShareKeys(other).manifest])
        #expect(removal.failures.map(\.share) == [id] && removal.failures.allSatisfy { $0.isInOtherHands })
        try lock.close()
        #expect(try await copy.removeOld([id], guests).failures.isEmpty)
        #expect(left(id) == [])
    }

    @Test func `what was refused for a reason takes no number from the photos`() async throws {
        let id = try await share()
        let mark = GuestRules.mostPhotos
        for number in 0..<mark {
            let photo = GuestPhoto(
                share: id, slot: mark + number, sha256: SHA256Digest(of: [UInt8(number)]), size: 1,
                contentType: "image/jpeg", receivedAt: time.now, state: .refused, reason: "it is no photo")
            _ = try await ledger { try $0.addGuestPhoto(photo) }
        }
        for number in 0...1 {
            try await send(number, to: id, 0)
            #expect(try await workshop.guests?.take(id) == 1)
        }
        let last = try #require(try await photos(id).last)
        #expect(last.slot == 2 * mark && last.state == .waiting)
    }

    @Test func `more photos over one another than are kept are refused, and read once`() async throws {
        let id = try await share()
        let mark = GuestRules.mostPhotos
        for number in 0..<mark {
            let photo = GuestPhoto(
                share: id, slot: mark + number, sha256: SHA256Digest(of: [UInt8(number)]), size: 1,
                contentType: "image/jpeg", receivedAt: time.now, state: .refused)
            _ = try await ledger { try $0.addGuestPhoto(photo) }
        }
        try await send(0, to: id, 0)
        #expect(try await workshop.guests?.take(id) == 1)
        try await send(1, to: id, 0)
        for _ in 0..<2 { #expect(try await workshop.guests?.take(id) == 0) }
        let last = try #require(try await photos(id).last)
        #expect(last.slot == 2 * mark && last.state == .refused && last.reason != nil)
        #expect(store.calls.count { $0.operation == .get && $0.key == ShareKeys(id).guest(0).rawValue } == 2)
    }
}
