import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct RestoreJobTests {
    @Test func `a job and its items come back as they were drafted`() throws {
        let archive = try Archive([])
        let digest = SHA256Digest(bytes: [UInt8](repeating: 7, count: 32))
        let first = RestoreJobDraft.Item(
            key: try ObjectKey("users/ana/photos/b.dat"), path: "/pictures/b.jpg", destination: "rome/b.jpg", size: 5,
            sha256: digest, storageClass: .glacier, tier: .expedited)
        let second = RestoreJobDraft.Item(
            key: try ObjectKey("users/ana/photos/a.dat"), size: 6, storageClass: .deepArchive, tier: .standard)
        let draft = RestoreJobDraft(
            requestedBy: "ana", tier: .standard, days: 3, output: "/home/ana/back", estimatedCostUSD: 0.25,
            estimatedHours: 12, items: [first, second])
        let job = try #require(try archive.ledger.addRestoreJob(draft, at: archive.now).job)
        #expect(job.id == RestoreJobID(rawValue: 1))
        #expect(job.requestedAt == archive.now)
        #expect(job.requestedBy == "ana")
        #expect(job.tier == .standard)
        #expect(job.days == 3)
        #expect(job.output == "/home/ana/back")
        #expect(job.estimatedCostUSD == 0.25)
        #expect(job.estimatedHours == 12)
        #expect(job.finishedAt == nil && !job.isAnnounced && !job.isExpiryAnnounced)
        let items = try archive.items()
        #expect(items.map(\.key) == [first.key, second.key])
        #expect(items.map(\.path) == ["/pictures/b.jpg", nil])
        #expect(items.map(\.destination) == ["rome/b.jpg", nil])
        #expect(items.map(\.size) == [5, 6])
        #expect(items.map(\.sha256) == [digest, nil])
        #expect(items.map(\.storageClass) == [.glacier, .deepArchive])
        #expect(items.map(\.tier) == [.expedited, .standard])
        #expect(items.map(\.days) == [3, 3])
        #expect(items.allSatisfy { $0.state == .planned && $0.attempts == 0 && $0.requestedAt == nil })
        #expect(try archive.ledger.restoreItems(of: job.id, after: items[0].id, limit: 5) == [items[1]])
        #expect(try archive.ledger.restoreJob(RestoreJobID(rawValue: 2)) == nil)
    }

    @Test func `what is in another open item is left out and told, and a job of nothing is not made`() throws {
        let archive = try Archive(["a", "b", "c"])
        let first = try archive.ask(for: [archive.keys[0], archive.keys[1], archive.keys[0]])
        #expect(first.job?.id.description == "1")
        #expect(first.collided == [archive.keys[0]])
        let none = try archive.ask(for: [archive.keys[1], archive.keys[0]])
        #expect(none.job == nil)
        #expect(none.collided == [archive.keys[1], archive.keys[0]])
        let second = try archive.ask()
        #expect(second.job?.id.description == "2")
        #expect(second.collided == [archive.keys[0], archive.keys[1]])
        #expect(try archive.items().map(\.key) == archive.keys)
        #expect(try archive.ledger.openRestoreItem(for: archive.keys[2])?.job == second.job?.id)
        #expect(try archive.ledger.check() == [])
    }

    @Test(arguments: [
        (RestoreItemState.planned, false), (.retrieving, false), (.restored, true), (.failed, true), (.expired, true),
    ])
    func `an object can be asked for again when its item is over`(state: RestoreItemState, isFree: Bool) throws {
        let archive = try Archive()
        _ = try archive.ask()
        try archive.move(1, to: state)
        #expect(try (archive.ledger.openRestoreItem(for: archive.keys[0]) == nil) == isFree)
        #expect(try (archive.ask().job != nil) == isFree)
    }

    @Test func `the newest job comes first, with what became of its items`() throws {
        let archive = try Archive(["a", "b", "c", "d", "e"])
        _ = try archive.ask(for: [archive.keys[0]])
        _ = try archive.ask(for: Array(archive.keys.dropFirst()), output: "/out")
        let (soon, late) = (archive.now + 100, archive.now + 200)
        try archive.move(2, to: .restored, until: late)
        archive.world.now += 10
        try archive.move(3, to: .restored, until: soon)
        try archive.move(4, to: .failed)
        try archive.ledger.noteSaved(3, at: archive.now)
        let jobs = try archive.ledger.restoreJobs(limit: 5)
        #expect(jobs.map(\.job.id.rawValue) == [2, 1])
        #expect(jobs[0].counts == [.planned: 1, .restored: 2, .failed: 1])
        #expect(jobs[0].saved == 1)
        #expect(jobs[0].bytes == 4_000)
        #expect(jobs[0].earliestExpiry == soon)
        #expect(jobs[0].readableUnsaved == 1 && jobs[0].firstUnsavedExpiry == late)
        #expect(jobs[0].endedUnsaved == 0)
        #expect(jobs[0].latestReadyAt == archive.now)
        #expect(jobs[1].counts == [.planned: 1])
        #expect(jobs[1].earliestExpiry == nil)
        #expect(try archive.ledger.restoreJobs(limit: 1) == [jobs[0]])
        #expect(try archive.ledger.restoreJobs(before: jobs[0].job.id, limit: 5) == [jobs[1]])
        #expect(try archive.ledger.restoreJobs(before: jobs[1].job.id, limit: 5) == [])
        #expect(try archive.ledger.restoreJob(jobs[1].job.id) == jobs[1])
    }

    @Test func `a job has a file of its own for its folder, until nothing more is to be saved there`() throws {
        let archive = try Archive(["a", "b", "c"])
        let ids = try [[0, 1], [2]].map { try archive.ask(for: $0.map { archive.keys[$0] }, output: "/out").job?.id }
        let (job, other) = (try #require(ids[0]), try #require(ids[1]))
        let summary = { try #require(try archive.ledger.restoreJob(job)).job }
        let mark = try #require(try summary().mark)
        let names = try archive.ledger.restoreJobs(limit: 5).compactMap { $0.job.mark?.string }
        #expect(Set(names).count == 2 && names[1].hasPrefix(".sync-agent-restore-1-"))
        #expect(try !summary().isMarked && archive.ledger.endedRestoreMarks() == [])
        for id in [job, other] { #expect(try archive.ledger.noteMark(of: id, in: "/out")) }
        #expect(try summary().isMarked && summary().mark == mark)
        // One is saved, and one is to come.
        try archive.move(1, to: .restored)
        try archive.ledger.noteSaved(1, at: archive.now)
        #expect(try archive.ledger.endedRestoreMarks() == [])
        try archive.move(2, to: .restored)
        #expect(try archive.ledger.endedRestoreMarks() == [])
        try archive.move(2, to: .expired)
        let ended = EndedRestoreMark(job: job, file: FilePath("/out").appending(mark), madeFolders: 0)
        #expect(try archive.ledger.endedRestoreMarks() == [ended])
        #expect(try !archive.ledger.noteMark(of: job, in: "/out"))
        try archive.ledger.noteMarkRemoved(of: job)
        #expect(try summary().mark == nil && !summary().isMarked && archive.ledger.endedRestoreMarks() == [])
        // Nobody wants the other one saved any more.
        try archive.ledger.stopSaving(other)
        #expect(try archive.ledger.endedRestoreMarks().map(\.job) == [other])
        #expect(try archive.ledger.check() == [])
    }

    @Test func `a job of a reserved number has its file from its beginning, and others get other numbers`() throws {
        let archive = try Archive(["a", "b", "c"])
        let reserve = { try archive.ledger.reserveRestore(in: "/out", makingFolders: $0, by: $1, at: archive.now) }
        let abandoned = { (hasEnded: (String) -> Bool) in
            try archive.ledger.abandonedReservations(of: hasEnded, at: archive.now)
        }
        let first = try reserve(2, "one")
        #expect(first.job == RestoreJobID(rawValue: 1) && first.folder == "/out" && first.madeFolders == 2)
        #expect(try archive.ask(for: [archive.keys[0]]).job?.id == RestoreJobID(rawValue: 2))
        let draft = RestoreJobDraft(
            requestedBy: "ana", tier: .bulk, days: 7, output: "/out",
            items: [.init(key: archive.keys[1], size: 1_000, storageClass: .deepArchive, tier: .bulk)])
        let job = try #require(try archive.ledger.addRestoreJob(draft, as: first, at: archive.now).job)
        #expect(job.id == first.job && job.mark == first.mark && job.isMarked)
        #expect(try !archive.ledger.isReserved(first))
        // Nothing is left of it: the objects are on their way.
        let second = try reserve(0, "two")
        #expect(try archive.ledger.addRestoreJob(draft, as: second, at: archive.now).job == nil)
        #expect(try archive.ledger.isReserved(second))
        #expect(try abandoned { $0 == "one" } == [])
        #expect(try abandoned { $0 == "two" } == [second])
        // Nobody knows of a process without a lock whether it has ended.
        archive.world.now += Ledger.restoreReservationSeconds - 1
        #expect(try abandoned { _ in false } == [])
        archive.world.now += 1
        #expect(try abandoned { _ in false } == [second])
        for _ in 1...2 { try archive.ledger.cancel(second) }
        // Without its file there is no job.
        let jobs = try archive.ledger.restoreJobs(limit: 9)
        var late = draft
        late.items = [.init(key: archive.keys[2], size: 1_000, storageClass: .deepArchive, tier: .bulk)]
        let told = #expect(throws: LedgerError.self) {
            try archive.ledger.addRestoreJob(late, as: second, at: archive.now)
        }
        #expect(told?.message.contains("given up") == true)
        #expect(try archive.ledger.restoreJobs(limit: 9) == jobs)
        // Nor by the number, which another has taken since.
        let third = try reserve(0, "three")
        #expect(third.job == second.job)
        #expect(throws: LedgerError.self) { try archive.ledger.addRestoreJob(late, as: second, at: archive.now) }
        try archive.ledger.cancel(second)
        #expect(try archive.ledger.isReserved(third) && archive.ledger.restoreJobs(limit: 9) == jobs)
        try archive.ledger.cancel(third)
        #expect(try abandoned { _ in true } == [])
        #expect(try archive.ask(for: [archive.keys[2]]).job?.id == second.job)
        #expect(try archive.ledger.check() == [])
    }

    @Test func `what is not given of a job stays as it was`() throws {
        let archive = try Archive()
        let id = try #require(try archive.ask().job?.id)
        let job = { try archive.ledger.restoreJob(id)?.job }
        try archive.ledger.noteJob(id, finishedAt: archive.now)
        try archive.ledger.noteJob(id, announced: true)
        #expect(try job()?.finishedAt == archive.now)
        #expect(try job()?.isAnnounced == true)
        #expect(try job()?.isExpiryAnnounced == false)
        try archive.ledger.noteJob(id, announced: false, expiryAnnounced: true)
        #expect(try job()?.isAnnounced == false)
        #expect(try job()?.isExpiryAnnounced == true)
    }

    @Test func `an open job tells when to look at it`() throws {
        let archive = try Archive(["a", "b", "c"])
        _ = try archive.ask(for: [archive.keys[0]], tier: .standard)
        archive.world.now += 5
        let made = archive.now
        _ = try archive.ask(for: [archive.keys[1], archive.keys[2]], tier: .bulk)
        try archive.move(1, to: .retrieving)
        archive.world.now += 5
        let id = RestoreJobID(rawValue: 2)
        #expect(try archive.ledger.openRestoreJobs().map(\.claimableAt) == [nil, .distantPast])
        #expect(try archive.ledger.openRestoreJobs().map(\.requestedAt) == [made, made])

        #expect(try archive.ledger.claimPlannedItems(of: id, limit: 5, by: "me", at: archive.now).count == 2)
        let lapse = archive.now + Ledger.restoreClaimSeconds
        #expect(try archive.ledger.openRestoreJobs().map(\.claimableAt) == [nil, lapse])
        // The second item was answered to be faster to have than the first.
        try archive.ledger.note(RestoreOutcome(state: .retrieving, tier: .standard), of: [2], at: archive.now)
        try archive.ledger.notePoll(at: id, made + 20)
        try archive.ledger.notePoll(at: id, made + 30)
        let job = try #require(try archive.ledger.openRestoreJobs().last)
        #expect(job.slowest.storageClass == .deepArchive)
        #expect(job.slowest.tier == .bulk)
        #expect(job.requestedAt == archive.now)
        #expect(job.polledAt == made + 30)
        #expect(job.polls == 2)
        #expect(job.claimableAt == lapse)

        try archive.move(1, to: .restored)
        #expect(try archive.ledger.openRestoreJobs().map(\.id) == [id])
        #expect(try archive.ledger.retrievingItems(of: id).map(\.id) == [2])
    }
}
