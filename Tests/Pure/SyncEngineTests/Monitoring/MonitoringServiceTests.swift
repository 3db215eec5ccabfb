import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct MonitoringServiceTests {
    private struct Silence: Error {}

    private let bench: Bench
    private let passes = Wakeup()
    private let beats = Lock(0)
    private let isHeard = Lock(true)
    private let lines = LogLines()

    init() throws { bench = try Bench() }

    private var service: MonitoringService {
        let (beats, isHeard) = (beats, isHeard)
        return MonitoringService(
            file: nil,
            troubles: TroubleAnnouncer(
                ledger: LedgerQueue(bench.ledger), notifiers: Notifiers([], logger: bench.logger),
                retention: RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90), disks: [],
                pool: BlockingPool(name: "test", threads: 1), time: bench.time.source),
            beat: {
                beats.withLock { $0 += 1 }
                if !isHeard.withLock({ $0 }) { throw Silence() }
            },
            passes: passes, ledger: LedgerQueue(bench.ledger), keys: .ana, patience: bench.patience,
            time: bench.time.source, logger: lines.logger)
    }

    @Test func `a pass that was not good is nobody's to hear`() async throws {
        #expect(try await service.reportPass(isGood: false))
        #expect(beats.withLock { $0 } == 0)
    }

    @Test func `a call that fails is a warning, once until one is heard`() async throws {
        let service = service
        for (hears, count) in [(false, 1), (false, 1), (true, 1), (false, 2)] {
            isHeard.withLock { $0 = hears }
            #expect(try await service.reportPass(isGood: true) == hears)
            #expect(lines.all.count == count)
        }
        #expect(lines.lines.first?.text == "warning: the heartbeat is not heard: Silence()")
    }

    @Test func `a pass that could not read a folder, or after which a share stays that is over, is none to hear of`()
        async throws
    {
        try bench.ledger.noteSync(at: bench.time.now)
        let service = service
        let run = Task { try await service.run() }
        await bench.time.waitForSleepers()
        var generator = SystemRandomNumberGenerator()
        let id = ShareID(using: &generator)
        func end(_ seconds: TimeInterval) async throws {
            try bench.ledger.noteSync(at: bench.time.now + seconds)
            await bench.time.advance(by: .seconds(60))
            await bench.time.waitForSleepers()
        }
        try bench.ledger.noteScan(bench.folders[0].id, problem: "it is not there", at: bench.time.now)
        try await end(1)
        #expect(beats.withLock { $0 } == 0)
        try bench.ledger.noteScan(bench.folders[0].id, problem: nil, at: bench.time.now)
        try bench.ledger.beginShareRemoval(
            id, location: "Rome", machine: "tower", expiresAt: bench.time.now, at: bench.time.now)
        try bench.ledger.noteShareRemoval(id, problem: "it is denied", at: bench.time.now)
        try await end(2)
        #expect(beats.withLock { $0 } == 0)
        try bench.ledger.noteShareRemovalTold(id, at: bench.time.now)
        try bench.ledger.noteShareRemoval(id, problem: nil, at: bench.time.now)
        try await end(3)
        #expect(beats.withLock { $0 } == 1)
        run.cancel()
        try await run.value
    }

    @Test func `an older ledger, and damage of silent machines, keep a pass from being heard of`() throws {
        let (ledger, now) = (bench.ledger, bench.time.now)
        func isWell(at moment: Date) throws -> Bool { try ledger.isAllWell(try ledger.overview(), .ana, at: moment) }
        #expect(try isWell(at: now))
        try ledger.noteCatalogProblem("the store is away")
        #expect(try isWell(at: now), "the next pass makes up for it")
        try ledger.noteCatalogProblem(OlderLedger().description)
        #expect(try !isWell(at: now))
        try ledger.restartCatalog(from: 9)
        #expect(try isWell(at: now))
        let key = try ObjectKey("users/ana/photos/a")
        let damage = OtherDamage(key: key, machine: "tower", path: nil, problem: .missing, foundAt: now, seenAt: now)
        try ledger.noteOtherDamage([damage])
        #expect(try !isWell(at: now) && isWell(at: now + 2 * 86_400))
        try ledger.forgetOtherDamage([key])
        try ledger.noteClassesRefreshed(at: now, unclear: [key])
        #expect(try isWell(at: now), "it is another machine's")
    }

    @Test func `damage in the store keeps a pass from being heard of, also where no photo is lost by it`() throws {
        let (ledger, now) = (bench.ledger, bench.time.now)
        let overview = try ledger.overview()
        #expect(try ledger.isAllWell(overview, .ana, at: now))
        var damaged = overview
        damaged.brokenTiers = [ClassLoad(storageClass: .standard, objects: 1, bytes: 500)]
        #expect(damaged.lost == 0)
        #expect(try !ledger.isAllWell(damaged, .ana, at: now))
    }

    @Test func `each pass that ends while it runs is told, a minute later when nobody has heard`() async throws {
        try bench.ledger.noteSync(at: bench.time.now)
        let service = service
        let run = Task { try await service.run() }
        await bench.time.waitForSleepers()
        #expect(beats.withLock { $0 } == 0)
        isHeard.withLock { $0 = false }
        try bench.ledger.noteSync(at: bench.time.now + 1)
        passes.signal()
        try await eventually("a call") { beats.withLock { $0 } == 1 ? () : nil }
        await bench.time.waitForSleepers()
        isHeard.withLock { $0 = true }
        await bench.time.advance(by: .seconds(60))
        try await eventually("the call again") { beats.withLock { $0 } == 2 ? () : nil }
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(60))
        await bench.time.waitForSleepers()
        #expect(beats.withLock { $0 } == 2)
        run.cancel()
        try await run.value
    }
}
