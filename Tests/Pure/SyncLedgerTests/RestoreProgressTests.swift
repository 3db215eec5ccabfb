import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncLedger

@Suite struct RestoreProgressTests {
    @Test(arguments: RestoreItemState.allCases, RestoreItemState.allCases)
    func `what is over is not opened again by a late answer`(before: RestoreItemState, told: RestoreItemState) throws {
        let archive = try Archive()
        _ = try archive.ask()
        try archive.move(1, to: before)
        try archive.ledger.note(RestoreOutcome(state: told), of: [1], at: archive.now)
        let accepts = before.isOpen || before == .restored && (told == .restored || told == .expired)
        #expect(try archive.items().map(\.state) == [accepts ? told : before])
        #expect(try archive.ledger.check() == [])
    }

    static let until = Date(timeIntervalSince1970: 1_000_500)

    @Test(
        arguments: [
            (.none, .planned, .none), (.none, .retrieving, .inProgress),
            (.none, .restored, .restored(until: until)), (.none, .failed, .none), (.none, .expired, .none),
            (.inProgress, .planned, .inProgress), (.inProgress, .retrieving, .inProgress),
            (.inProgress, .restored, .restored(until: until)), (.inProgress, .failed, .none),
            (.inProgress, .expired, .inProgress),
            // It can be read, and is asked for to stay so for longer.
            (.restored(until: until - 9), .retrieving, .restored(until: until - 9)),
            (.restored(until: until - 9), .restored, .restored(until: until)),
            (.restored(until: until - 9), .failed, .restored(until: until - 9)),
            (.restored(until: until - 9), .expired, .none),
            (.restored(until: Date(timeIntervalSince1970: 9)), .retrieving, .inProgress),
        ] as [(RestoreState, RestoreItemState, RestoreState)])
    func `an object's restore follows its item`(
        before: RestoreState, told: RestoreItemState, after: RestoreState
    ) throws {
        let archive = try Archive([])
        try archive.put("a", in: .deepArchive, restore: before)
        try archive.put("b", in: .deepArchive, restore: before)
        _ = try archive.ask(for: [archive.keys[0]])
        let outcome = RestoreOutcome(state: told, expiresAt: told == .restored ? Self.until : nil)
        try archive.ledger.note(outcome, of: [1], at: archive.now)
        #expect(try archive.restore() == after)
        #expect(try archive.restore(of: archive.keys[1]) == before)
    }

    @Test func `an item tells when it was asked for, how often, and when it came`() throws {
        let archive = try Archive()
        _ = try archive.ask(tier: .expedited)
        let asked = archive.now + 1
        try archive.ledger.note(
            RestoreOutcome(state: .retrieving, tier: .standard, note: "no capacity"), of: [1], at: asked)
        try archive.ledger.note(RestoreOutcome(state: .retrieving), of: [1], at: asked + 1)
        var item = try #require(try archive.items().first)
        #expect(item.requestedAt == asked)
        #expect(item.attempts == 1)
        #expect(item.tier == .standard)
        #expect(item.readyAt == nil)

        // Made faster: asked for again.
        try archive.ledger.note(RestoreOutcome(state: .planned, tier: .expedited), of: [1], at: asked + 2)
        try archive.ledger.note(RestoreOutcome(state: .retrieving), of: [1], at: asked + 3)
        try archive.ledger.note(RestoreOutcome(state: .restored, expiresAt: asked + 99), of: [1], at: asked + 4)
        try archive.ledger.note(RestoreOutcome(state: .restored, expiresAt: asked + 199), of: [1], at: asked + 5)
        item = try #require(try archive.items().first)
        #expect(item.requestedAt == asked + 3)
        #expect(item.attempts == 2)
        #expect(item.tier == .expedited)
        #expect(item.readyAt == asked + 4)
        #expect(item.expiresAt == asked + 199)
        #expect(item.note == "no capacity")
        #expect(item.error == nil)
    }

    @Test func `a failed item has an error, and the others of its job go on`() throws {
        let archive = try Archive(["a", "b", "c"])
        _ = try archive.ask()
        try archive.ledger.note(.failed("403"), of: [1, 3], at: archive.now)
        #expect(try archive.items().map(\.error) == ["403", nil, "403"])
        #expect(try archive.ledger.overview().restores == .init(inProgress: 1, ready: 0, failed: 2))
    }

    @Test func `an item is given to one process at a time, and to the next when that one is gone`() throws {
        let archive = try Archive(["a", "b", "c"])
        _ = try archive.ask(for: [archive.keys[0], archive.keys[1]])
        _ = try archive.ask(for: [archive.keys[2]])
        let claim = { (job: Int64?, limit: Int, time: Date) in
            try archive.ledger.claimPlannedItems(
                of: job.map(RestoreJobID.init), limit: limit, by: "me", at: time
            ).map(\.id)
        }
        let now = archive.now
        #expect(try claim(2, 9, now) == [3])
        #expect(try claim(nil, 1, now) == [1])
        #expect(try claim(nil, 9, now + 29) == [2])
        #expect(try claim(nil, 9, now + 29).isEmpty)
        try archive.ledger.releaseClaim(of: 3)
        #expect(try claim(1, 9, now + 29).isEmpty)
        #expect(try claim(nil, 9, now + 29) == [3])
        try archive.ledger.note(RestoreOutcome(state: .retrieving), of: [2], at: now + 29)
        #expect(try claim(nil, 9, now + 30) == [1])
        // The clock was set back.
        #expect(try claim(nil, 9, now - 1_000) == [1, 3])
    }

    @Test func `copies end by the clock, of items and of objects that others asked for`() throws {
        let archive = try Archive([])
        let end = archive.now + 50
        try archive.put("a", in: .deepArchive)
        try archive.put("b", in: .deepArchive, restore: .restored(until: end))
        try archive.put("c", in: .deepArchive, restore: .restored(until: nil))
        try archive.put("d", in: .deepArchive, restore: .inProgress)
        _ = try archive.ask(for: [archive.keys[0]])
        try archive.move(1, to: .restored, until: end)
        #expect(try archive.ledger.expireRestores(at: end - 0.001) == 0)
        #expect(try archive.restore() == .restored(until: end))
        #expect(try archive.ledger.expireRestores(at: end) == 2)
        #expect(try archive.items().map(\.state) == [.expired])
        let restores = try archive.keys.map { try archive.ledger.object($0)?.restore }
        #expect(restores == [RestoreState.none, RestoreState.none, .restored(until: nil), .inProgress])
        #expect(try archive.ledger.expireRestores(at: end) == 0)
        #expect(try archive.ledger.overview().restores == .init())
        #expect(try archive.ledger.check() == [])
    }

    @Test func `when the next copy ends is told, of an item or of an object that others asked for`() throws {
        let archive = try Archive([])
        let end = archive.now + 50
        try archive.put("a", in: .deepArchive)
        try archive.put("b", in: .deepArchive, restore: .restored(until: end + 10))
        try archive.put("c", in: .deepArchive, restore: .restored(until: nil))
        _ = try archive.ask(for: [archive.keys[0]])
        #expect(try archive.ledger.nextRestoreEnd() == end + 10)
        try archive.move(1, to: .restored, until: end)
        #expect(try archive.ledger.nextRestoreEnd() == end)
        try archive.ledger.expireRestores(at: end)
        #expect(try archive.ledger.nextRestoreEnd() == end + 10)
        try archive.ledger.expireRestores(at: end + 10)
        #expect(try archive.ledger.nextRestoreEnd() == nil)
    }

    @Test func `copies that have ended by a clock that was ahead can be read again when it is set back`() throws {
        let archive = try Archive(["a", "b"])
        let end = archive.now + 50
        _ = try archive.ask(output: "/out")
        try archive.move(1, to: .restored, until: end)
        try archive.move(2, to: .restored, until: archive.now + 5)
        #expect(try archive.ledger.expireRestores(at: archive.now + 300_000_000) == 2)
        #expect(try archive.items().map(\.state) == [.expired, .expired])
        // The second one has ended meanwhile.
        #expect(try archive.ledger.expireRestores(at: archive.now + 10) == 0)
        #expect(try archive.items().map(\.state) == [.restored, .expired])
        let restores = try archive.keys.map { try archive.ledger.object($0)?.restore }
        #expect(restores == [.restored(until: end), RestoreState.none])
        #expect(try archive.ledger.unsavedRestoredItems(after: nil, limit: 9).map(\.id) == [1])
        #expect(try archive.ledger.expireRestores(at: end) == 1)
        #expect(try archive.ledger.check() == [])
    }

    @Test func `copies of another store do not come back`() throws {
        let archive = try Archive(["a"])
        _ = try archive.ask()
        try archive.move(1, to: .restored, until: archive.now + 50)
        try archive.ledger.adopt(store: "s3://two", id: nil, isCopy: true)
        try archive.ledger.expireRestores(at: archive.now)
        #expect(try archive.items().map(\.state) == [.expired])
        #expect(try archive.restore() == RestoreState.none)
    }

    @Test func `what is readable and wanted on the disk is listed until it is saved`() throws {
        let archive = try Archive(["a", "b", "c", "d", "e"])
        _ = try archive.ask(for: [archive.keys[0]])
        _ = try archive.ask(for: [archive.keys[1], archive.keys[2]], output: "/out")
        _ = try archive.ask(for: [archive.keys[3], archive.keys[4]], output: "/out")
        for item in [1, 2, 3, 5] as [Int64] { try archive.move(item, to: .restored) }
        let list = { try archive.ledger.unsavedRestoredItems(after: $0, limit: $1).map(\.id) }
        #expect(try list(nil, 2) == [2, 3])
        #expect(try list(archive.items()[2], 2) == [5])
        try archive.ledger.noteSaved(3, at: archive.now)
        #expect(try list(nil, 9) == [2, 5])
        #expect(try archive.items().map(\.savedAt) == [nil, nil, archive.now, nil, nil])
        let ended = try archive.ledger.stopSaving(RestoreJobID(rawValue: 2))
        #expect(ended?.output == "/out" && ended?.left.map(\.id) == [2])
        for job in 1...2 as ClosedRange<Int64> {
            let again = try archive.ledger.stopSaving(RestoreJobID(rawValue: job))
            #expect(again?.output == nil)
        }
        #expect(try list(nil, 9) == [5])
        #expect(try archive.items().map(\.state) == [.restored, .restored, .restored, .planned, .restored])
    }

    @Test func `a job that was made before one with a lower number is listed behind it, page by page`() throws {
        let archive = try Archive(["a", "b", "c", "d"])
        // Its folder was slow: another job was made meanwhile, and has the lower items.
        let slow = try archive.ledger.reserveRestore(in: "/slow", makingFolders: 0, by: "me", at: archive.now)
        _ = try archive.ask(for: [archive.keys[0], archive.keys[1]], output: "/out")
        let items = [archive.keys[2], archive.keys[3]].map {
            RestoreJobDraft.Item(key: $0, size: 1_000, storageClass: .deepArchive, tier: .bulk)
        }
        let draft = RestoreJobDraft(requestedBy: "ana", tier: .bulk, days: 7, output: "/slow", items: items)
        _ = try archive.ledger.addRestoreJob(draft, as: slow, at: archive.now)
        for item in 1...4 as ClosedRange<Int64> { try archive.move(item, to: .restored) }
        var (listed, last): ([Int64], RestoreItem?) = ([], nil)
        while let item = try archive.ledger.unsavedRestoredItems(after: last, limit: 1).first {
            listed.append(item.id)
            last = item
        }
        #expect(listed == [3, 4, 1, 2])
    }

    @Test func `what is in hand when the saving is stopped is saved, and nothing else`() throws {
        let archive = try Archive(["a", "b", "c"])
        let job = try #require(try archive.ask(output: "/out").job).id
        #expect(try archive.ledger.noteMark(of: job, in: "/out"))
        for item in 1...3 as ClosedRange<Int64> { try archive.move(item, to: .restored) }
        #expect(try archive.ledger.beginSaving(1, by: "me"))
        #expect(try archive.ledger.beginSaving(2, by: "me"))
        // That it is readable is noted again, and takes it out of nobody's hand.
        try archive.move(1, to: .restored)
        let left = try #require(try archive.ledger.stopSaving(job)).left
        #expect(left.map(\.isBeingSaved) == [true, true, false])
        #expect(try archive.items().map(\.isGivenUp) == [false, false, true])
        #expect(try archive.ledger.endedRestoreMarks() == [], "what is in hand is held against the job's file")
        #expect(try archive.ledger.beginSaving(1, by: "me"))
        #expect(try !archive.ledger.beginSaving(2, by: "another") && !archive.ledger.beginSaving(3, by: "me"))
        #expect(try archive.ledger.noteSaved(1, at: archive.now) && !archive.ledger.noteSaved(3, at: archive.now))
        try archive.ledger.endSaving(of: [2], by: "another")
        #expect(try archive.items().map(\.isBeingSaved) == [false, true, false])
        #expect(try archive.ledger.endedRestoreMarks() == [])
        try archive.ledger.endSaving(of: [2], by: "me")
        #expect(try archive.ledger.endedRestoreMarks().map(\.job) == [job])
        #expect(try !archive.ledger.noteSaved(2, at: archive.now) && !archive.ledger.beginSaving(2, by: "me"))
        #expect(try archive.items().map(\.savedAt) == [archive.now, nil, nil])
        #expect(try archive.items().map(\.isBeingSaved) == [false, false, false])
        #expect(try archive.items().map(\.isGivenUp) == [false, true, true])
        #expect(try archive.ledger.check() == [])
    }

    @Test func `what was given up is told by a second look, with what else is to be told of it`() throws {
        let archive = try Archive(["a", "b", "c", "d"])
        let job = try #require(try archive.ask(output: "/out").job).id
        for item in 1...3 as ClosedRange<Int64> { try archive.move(item, to: .restored) }
        try archive.ledger.noteSaved(1, at: archive.now)
        let slower = RestoreOutcome(state: .restored, note: "in a slower tier")
        try archive.ledger.note(slower, of: [2], at: archive.now)
        #expect(try archive.items().map(\.remark) == [nil, "in a slower tier", nil, nil])
        try archive.ledger.stopSaving(job)
        let mark = "not saved: given up (--stop-saving)"
        #expect(try archive.items().map(\.remark) == [nil, "in a slower tier; \(mark)", mark, mark])
        try archive.ledger.note(.failed("no such object"), of: [4], at: archive.now)
        #expect(try archive.items()[3].remark == "no such object")
        try archive.ledger.stopSaving(job)
        #expect(try archive.items().map(\.isGivenUp) == [false, true, true, true])
    }

    @Test func `a ledger that is made anew tells which photos were still to be saved`() throws {
        let archive = try Archive(["a", "b", "c"])
        _ = try archive.ask(output: "/out")
        for item in 1...2 as ClosedRange<Int64> { try archive.move(item, to: .restored) }
        try archive.ledger.noteSaved(1, at: archive.now)
        var state = CatalogState()
        for line in try archive.ledger.catalogState() { _ = state.take(line) }
        #expect(state.restores.flatMap(\.items).map(\.unsaved) == [nil, true, true])
        let other = try Archive(["a", "b", "c"])
        #expect(try other.ledger.noteCatalog(state, in: [:], at: other.now) == 2)
        #expect(try other.items().map { $0.note?.contains("restore it with --output") } == [nil, true, true])
        // Known already.
        #expect(try other.ledger.noteCatalog(state, in: [:], at: other.now) == 0)
        #expect(try archive.ledger.noteCatalog(state, in: [:], at: archive.now) == 0)
    }

    @Test func `what a killed process had in hand is not waited for`() throws {
        let archive = try Archive(["a"])
        let job = try #require(try archive.ask(output: "/out").job).id
        try archive.move(1, to: .restored)
        #expect(try archive.ledger.beginSaving(1, by: "killed"))
        try archive.ledger.releaseClaim(of: 1)
        #expect(try archive.items().map(\.isBeingSaved) == [true], "that is for what was not asked for")
        try archive.ledger.stopSaving(job)
        #expect(try archive.items().map(\.isGivenUp) == [false])
        try archive.ledger.releaseRestoreClaims(of: { $0 == "killed" })
        #expect(try archive.items().map(\.isBeingSaved) == [false])
        #expect(try archive.items().map(\.isGivenUp) == [true])
    }

    @Test func `what a killed process had in hand is given up from the same transaction on`() throws {
        let archive = try Archive(["a", "b", "c"])
        let job = try #require(try archive.ask(output: "/out").job).id
        for item in 1...3 as ClosedRange<Int64> { try archive.move(item, to: .restored) }
        #expect(try archive.ledger.beginSaving(1, by: "killed") && archive.ledger.beginSaving(2, by: "me"))
        #expect(try archive.ledger.restoreJob(job)?.job.stoppedOutput == nil)
        let ended = try archive.ledger.stopSaving(job, releasing: { $0 == "killed" })
        #expect(ended?.left.map(\.isBeingSaved) == [false, true, false])
        #expect(try archive.items().map(\.isGivenUp) == [true, false, true])
        let stopped = try #require(try archive.ledger.restoreJob(job)).job
        #expect(stopped.output == nil && stopped.stoppedOutput == "/out")
    }

    @Test func `a copy with a later end stays readable until then, in every job that brought it`() throws {
        let archive = try Archive(["a", "b"])
        let (early, late) = (archive.now + 50, archive.now + 500)
        for _ in 1...2 {
            _ = try archive.ask()
            for item in try archive.items().filter(\.state.isOpen) {
                try archive.move(item.id, to: .restored, until: early)
            }
        }
        let info = ObjectInfo(
            key: archive.keys[0], size: 1_000, storageClass: .deepArchive, restore: .restored(until: late))
        #expect(try archive.ledger.mergeReport([info], tellsRestores: true, at: archive.now).changed == 1)
        try archive.ledger.noteExtended(archive.keys[0], until: late)
        #expect(try archive.ledger.expireRestores(at: early) == 1)
        #expect(try archive.items().map(\.state) == [.restored, .expired, .restored, .expired])
        #expect(try archive.restore() == .restored(until: late))
    }
}
