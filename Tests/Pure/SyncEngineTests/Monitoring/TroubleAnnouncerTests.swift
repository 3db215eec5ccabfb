import FoundationEssentials
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCore

@Suite struct TroubleAnnouncerTests {
    private let bench: Bench
    private let listener = RestoreBench.Listener()
    private let free = Lock<Int64?>(10 << 30)

    init() throws { bench = try Bench() }

    /// A new one for each round, as after a restart.
    private func round(
        _ kinds: Set<Notice.Kind> = Set(Notice.Kind.allCases), isOfLedger: Bool = true
    ) async throws {
        let free = free
        try await TroubleAnnouncer(
            ledger: LedgerQueue(bench.ledger),
            notifiers: Notifiers([listener], kinds: kinds, logger: bench.logger),
            retention: RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90),
            disks: [TroubleAnnouncer.Disk("/state", isOfLedger: isOfLedger) { free.withLock { $0 } }],
            pool: BlockingPool(name: "test", threads: 1), time: bench.time.source
        ).run()
    }

    private var told: [String] {
        listener.notices.map { "\($0.kind.rawValue) \($0.facts["over"] ?? "")" }
    }

    @Test func `while all is well nothing is told`() async throws {
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        try await round()
        #expect(told.isEmpty)
    }

    @Test func `photos that fail are told once, and once more when none does, whatever restarts between`() async throws
    {
        bench.disk.write("broken", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        try await round()
        try await round()
        #expect(told == ["photoFailed false"])
        #expect(listener.notices.first?.title == "1 photo cannot be stored")
        #expect(
            listener.notices.first?.message.contains("/pictures/gallery/a.jpg: Premature end of JPEG file.") == true)
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        try await round()
        try await round()
        #expect(told == ["photoFailed false", "photoFailed true"])
    }

    @Test func `a store that is away for some minutes is told, and that it is back`() async throws {
        try bench.ledger.noteStore(error: "no route", at: bench.time.now)
        try await round()
        #expect(told.isEmpty)
        await bench.time.advance(by: .seconds(300))
        try await round()
        #expect(told == ["storeAway false"])
        try bench.ledger.noteStore(error: nil, at: bench.time.now)
        try await round()
        #expect(told == ["storeAway false", "storeAway true"])
    }

    @Test func `a cleanup that kept something is told, until one keeps nothing`() async throws {
        try bench.ledger.noteRetentionRun(RetentionRun(finishedAt: bench.time.now, skipped: 1, failed: 1))
        try await round()
        #expect(listener.notices.first?.facts == ["failed": "1", "skipped": "1", "over": "false"])
        try bench.ledger.noteRetentionRun(RetentionRun(finishedAt: bench.time.now, deleted: 2))
        try await round()
        #expect(told == ["retentionFailed false", "retentionFailed true"])
    }

    @Test func `a cleanup that the store has ended is no end of what an earlier one has kept`() async throws {
        try bench.ledger.noteRetentionRun(RetentionRun(finishedAt: bench.time.now, skipped: 1))
        try await round()
        let now = bench.time.now
        try bench.ledger.noteRetentionRun(RetentionRun(scheduledAt: now, finishedAt: now, waiting: 3))
        try await round()
        #expect(told == ["retentionFailed false"])
        try bench.ledger.noteRetentionRun(RetentionRun(scheduledAt: now, finishedAt: now + 60, deleted: 3))
        try await round()
        #expect(told == ["retentionFailed false", "retentionFailed true"])
    }

    @Test func `a cleanup by hand, of older events alone, is no end of what an earlier one has kept`() async throws {
        bench.disk.write("events", to: Bench.gallery.appending("events.json"))
        try bench.scan()
        let claim = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
        let event = GalleryEvent(
            index: 0, id: "e1", userID: "u1", profileID: "p1", type: .taskResponse,
            createdAt: bench.time.now - 100 * 86_400, photo: .none, isBare: false)
        let record = try #require(try bench.ledger.noteEvents([event], of: claim).first)
        try bench.ledger.noteRetention([(record, "its profile is unknown")], at: bench.time.now)
        try bench.ledger.noteRetentionRun(RetentionRun(finishedAt: bench.time.now, skipped: 1))
        try await round([.retentionFailed])
        try bench.ledger.noteRetentionRun(RetentionRun(finishedAt: bench.time.now))
        try await round([.retentionFailed])
        #expect(told == ["retentionFailed false"])
        let due = try #require(try bench.ledger.dueEvents(createdBefore: bench.time.now, after: nil, limit: 1).first)
        let files = try zip(due.places, bench.ledger.generations(of: due.places)).map {
            CleanedEventFile(place: $0, generation: $1, events: [record])
        }
        #expect(try bench.ledger.noteClean(files) == [true])
        let done = ArchivedEvent(event: record, profile: "p1", object: nil)
        #expect(try bench.ledger.signOff([done], user: "ana", at: bench.time.now) == [true])
        try await round([.retentionFailed])
        #expect(told == ["retentionFailed false", "retentionFailed true"])
    }

    @Test func `what is damaged in the store is told, until it is stored again`() async throws {
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("sunset", to: path)
        try await bench.pass()
        let key = try #require(bench.memory.keys.first)
        let object = try #require(try bench.ledger.object(key))
        _ = try bench.ledger.markBroken([BrokenObject(object, .missing)], at: bench.time.now)
        try await round()
        #expect(told == ["damageFound false"])
        try await bench.pass()
        try await round()
        #expect(told == ["damageFound false", "damageFound true"])
    }

    @Test(arguments: [true, false])
    func `a full disk is told, and has room only when it has some to spare`(isOfLedger: Bool) async throws {
        for (bytes, count) in [(255, 1), (300, 1), (nil, 1), (513, 2), (300, 2), (nil, 2), (255, 3)] as [(Int64?, Int)]
        {
            free.withLock { $0 = bytes.map { $0 << 20 } }
            try await round(isOfLedger: isOfLedger)
            #expect(told.count == count, "\(bytes ?? -1)")
        }
        #expect(told == ["diskFull false", "diskFull true", "diskFull false"])
        #expect(listener.notices.map(\.facts["place"]) == ["/state", "/state", "/state"])
    }

    @Test func `a kind that is not to be told is news when it is`() async throws {
        bench.disk.write("broken", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        try await round([.storeAway])
        #expect(told.isEmpty)
        try await round()
        #expect(told == ["photoFailed false"])
    }

    private func round(_ bench: ShareBench) async throws {
        try await TroubleAnnouncer(
            ledger: bench.queue, notifiers: Notifiers([listener], logger: bench.logger),
            retention: RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90), disks: [],
            pool: BlockingPool(name: "test", threads: 1), time: bench.time.source
        ).run()
    }

    @Test func `a share that is over and cannot be removed is told, and has not ended before it is`() async throws {
        let bench = try ShareBench(givesLinks: true)
        try await bench.add("a.jpg")
        let share = try await bench.share()
        await bench.time.advance(by: .seconds(share.expiresAt.timeIntervalSince(bench.time.now) - 60))
        try await round(bench)
        #expect(told == ["shareEnds false"])
        await bench.time.advance(by: .seconds(60))
        bench.store.add(StoreFault(.delete, key: share.keys.manifest.rawValue, number: 1, .failBefore(.accessDenied)))
        try await bench.service().round()
        try await round(bench)
        try await round(bench)
        #expect(told == ["shareEnds false", "shareEnds false"])
        let notice = try #require(listener.notices.last)
        #expect(notice.title == "The share of Paris is over, and cannot be removed")
        #expect(notice.message.contains("scripted by the test") && notice.facts["shareId"] == "\(share.id)")
        try await bench.service().round()
        try await round(bench)
        #expect(told == ["shareEnds false", "shareEnds false", "shareEnds true", "shareEnds true"])
        #expect(
            Set(listener.notices.suffix(2).map(\.title))
                == ["The share of Paris is removed", "The share of Paris has ended"])
        #expect(listener.notices.allSatisfy { $0.facts["shareId"] == "\(share.id)" })
    }

    @Test func `of a share that only its guests keep in the store nobody is told that it is removed`() async throws {
        let bench = try ShareBench(givesLinks: true)
        try await bench.add("a.jpg")
        let share = try await bench.share()
        try bench.ledger.endShare(share.id, .revoked)
        bench.store.add(StoreFault(.delete, key: share.keys.manifest.rawValue, number: 1, .failBefore(.accessDenied)))
        try await bench.service().round()
        try await round(bench)
        #expect(told == ["shareEnds false"])
        let problem = try #require(try bench.record(share.id).problem)
        try bench.ledger.noteGuestProblem(problem, of: share.id)
        #expect(try bench.ledger.shareTroubles().map(\.kind) == [.guests])
        try await round(bench)
        #expect(told == ["shareEnds false"])
        try bench.ledger.noteGuestProblem(nil, of: share.id)
        try await bench.service().round()
        try await round(bench)
        #expect(told == ["shareEnds false", "shareEnds true"])
    }

    @Test func `a share is told of a day before its end, and when it has ended`() async throws {
        let bench = try ShareBench(givesLinks: true)
        try await bench.add("a.jpg")
        let id = try await bench.share().id
        func round() async throws { try await self.round(bench) }
        let life = try bench.record(id).expiresAt.timeIntervalSince(bench.time.now)
        await bench.time.advance(by: .seconds(life - 86_401))
        try await round()
        #expect(told.isEmpty)
        await bench.time.advance(by: .seconds(2))
        try await round()
        try await round()
        #expect(told == ["shareEnds false"])
        #expect(listener.notices.first?.title == "The share of Paris ends soon")
        await bench.time.advance(by: .seconds(86_400))
        try await bench.service().round()
        try await round()
        #expect(told == ["shareEnds false", "shareEnds true"])
        #expect(listener.notices.last?.title == "The share of Paris has ended")
        #expect(listener.notices.last?.facts["shareId"] == "\(id)")
    }
}
