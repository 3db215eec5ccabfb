import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Shares of photos that are only in the archive.
@Suite struct ShareArchiveTests {
    @Test func `photos in the archive are waited for, and then the share is published`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg")
        try await bench.add("b.jpg", in: .deepArchive, isLocal: false)
        let proposal = try await bench.planner().propose(bench.order())
        let key = try #require(proposal.items.last?.photo.object?.key)
        #expect(proposal.archived == [key])
        let share = try await bench.share()
        #expect(share.state == .waiting && share.storedCount == 1)
        #expect(bench.memory.info(share.keys.manifest) == nil)
        // As long as it is known to be away, nothing is asked for.
        let calls = bench.requests
        try await bench.service().round()
        #expect(bench.requests == calls)

        bench.memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        let item = RestoreJobDraft.Item(key: key, size: 5, storageClass: .deepArchive, tier: .bulk)
        _ = try bench.ledger.addRestoreJob(
            RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, items: [item]), at: bench.time.now)
        try bench.ledger.note(RestoreOutcome(state: .restored), of: [1], at: bench.time.now)
        try await bench.service().round()
        #expect(try bench.record(share.id).state == .live)
        #expect(try bench.seen(share.id) == "0:shared A.JPG 1:shared B.JPG")
        #expect(bench.memory.info(share.keys.photo(1))?.storageClass == .standard)
        // Whoever asked for it has gone home meanwhile.
        #expect(bench.listener.kinds == [.shareLive])
        #expect(bench.listener.notices.first?.facts["shareId"] == "\(share.id)")
        #expect(bench.listener.notices.allSatisfy { !"\($0)".contains("http") })
    }

    @Test func `who is to get the link is known for as long as the share is open`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", in: .deepArchive, isLocal: false)
        let share = try await bench.share()
        try bench.ledger.noteRecipient("email:bo@example.org", of: share.id)
        #expect(try bench.record(share.id).recipient == "email:bo@example.org")
        try await bench.remover().run(share.id, .revoked)
        #expect(try bench.record(share.id).recipient == nil)
    }

    @Test func `an archived photo whose file is here needs no restore`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", in: .deepArchive)
        #expect(try await bench.planner().propose(bench.order()).archived == [])
        let share = try await bench.share()
        #expect(share.state == .live)
        #expect(bench.store.count(.get) == 0 && bench.store.count(.restore) == 0)
    }

    /// Somebody has moved it in the store, and nobody asks for a restore: not even the agent, every five seconds.
    @Test func `a photo that is in the archive unknown to the ledger is asked for once, and then known`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", isLocal: false)
        let key = try #require(bench.memory.keys.first)
        bench.memory.setClass(.deepArchive, of: key)
        let share = try await bench.share()
        #expect(share.state == .waiting)
        #expect(share.problem?.contains("share the vacation again") == true)
        #expect(try bench.ledger.object(key)?.storageClass == .deepArchive)
        let calls = bench.requests
        try await bench.service().round()
        #expect(bench.requests == calls)
        // A restore is under way, and then it has failed: those who look are told.
        let item = RestoreJobDraft.Item(key: key, size: 5, storageClass: .deepArchive, tier: .bulk)
        let made = try bench.ledger.addRestoreJob(
            RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, items: [item]), at: bench.time.now)
        try bench.ledger.noteRestore(try #require(made.job).id, of: share.id)
        try await bench.service().round()
        #expect(try bench.record(share.id).problem == "1 of its photos has to come back from the archive first")
        try bench.ledger.note(RestoreOutcome(state: .failed, note: "no"), of: [1], at: bench.time.now)
        try await bench.service().round()
        #expect(try bench.record(share.id).problem?.contains("failed for 1") == true)
    }

    /// A file of another content is in its place, and the ledger cannot learn the class: each attempt would read both.
    @Test func `a share that waits rests for an hour, or until something else is to be had`() async throws {
        let bench = try ShareBench()
        try await bench.add("a.jpg", in: .deepArchive, isLocal: false)
        let share = try await bench.share()
        #expect(share.state == .waiting)
        bench.disk.write("other", to: ShareBench.folder.appending("a.jpg"))
        let service = bench.service()
        let run = Task { try await service.run() }
        // As long as the share is held, it is not the service that sleeps.
        try await eventually("the end of the attempt with the other file") {
            try bench.store.count(.get) == 2 && bench.record(share.id).holder == nil ? () : nil
        }
        for _ in 0..<20 {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(5))
        }
        await bench.time.waitForSleepers()
        // Once by the person, once for the other file.
        #expect(bench.store.count(.get) == 2)
        bench.disk.write("a.jpg", to: ShareBench.folder.appending("a.jpg"))
        let changedAt = bench.time.now
        while try bench.record(share.id).state != .live {
            await bench.time.waitForSleepers()
            await bench.time.advance(by: .seconds(1))
        }
        #expect(bench.time.now.timeIntervalSince(changedAt) < 1_800)
        run.cancel()
        try await run.value
    }
}
