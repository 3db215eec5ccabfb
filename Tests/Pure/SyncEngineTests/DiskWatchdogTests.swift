import Dispatch
import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct DiskWatchdogTests {
    private let bench: Bench
    private let watchdog: DiskWatchdog
    private let lines = LogLines()

    init() throws {
        bench = try Bench()
        watchdog = DiskWatchdog(time: bench.time.source)
    }

    private var service: DiskWatchdogService {
        DiskWatchdogService(
            watchdog, every: .seconds(60), ledger: LedgerQueue(bench.ledger), patience: bench.patience,
            time: bench.time.source, logger: lines.logger)
    }

    private func problem(of index: Int) throws -> String? { try bench.ledger.overview().folders[index].record.problem }

    @Test func `a folder that cannot be looked at for minutes is not called safe, and is told once`() async throws {
        let (service, folder) = (service, bench.folders[0])
        watchdog.begin(folder)
        await bench.time.advance(by: DiskWatchdog.patience - .seconds(1))
        try await service.report()
        #expect(try problem(of: 0) == nil)
        await bench.time.advance(by: .seconds(1))
        for _ in 0..<2 { try await service.report() }
        #expect(try problem(of: 0)?.hasPrefix("\(Bench.gallery): it could not be looked at since ") == true)
        #expect(try !bench.ledger.isAllWell(bench.ledger.overview(), .ana, at: bench.time.now))
        #expect(lines.all.count == 1)
        watchdog.note(folder)
        #expect(watchdog.takeHeard().map(\.id) == [folder.id])
        #expect(watchdog.takeHeard().isEmpty)
        watchdog.end(folder)
        await bench.time.advance(by: DiskWatchdog.patience)
        #expect(watchdog.silences().isEmpty)
    }

    @Test func `a folder that cannot be looked at is told in the same words when the clock is set meanwhile`()
        async throws
    {
        let (source, shift) = (bench.time.source, Lock(TimeInterval.zero))
        let time = TimeSource(
            now: { source.now() + shift.withLock { $0 } }, monotonic: source.monotonic, sleep: source.sleep,
            random: source.random)
        let watchdog = DiskWatchdog(time: time)
        watchdog.begin(bench.folders[0])
        await bench.time.advance(by: DiskWatchdog.patience)
        let words = try #require(watchdog.silences().first?.words)
        shift.withLock { $0 = 3_600 }
        #expect(watchdog.silences().map(\.words) == [words])
    }

    @Test func `only the folder that does not answer is told`() async {
        watchdog.begin(bench.folders[0])
        watchdog.begin(bench.folders[1])
        await bench.time.advance(by: DiskWatchdog.patience - .seconds(1))
        // It comes on: that is none.
        watchdog.note(bench.folders[1])
        await bench.time.advance(by: .seconds(1))
        #expect(watchdog.silences().map(\.folder.id) == [bench.folders[0].id])
        watchdog.note(bench.folders[0])
        await bench.time.advance(by: DiskWatchdog.patience - .seconds(1))
        #expect(watchdog.silences().map(\.folder.id) == [bench.folders[1].id])
    }

    @Test func `setting many watches is no silence, and the root at which it stops is told`() async {
        await watchdog.during(bench.folders) {
            for _ in 0..<3 {
                await bench.time.advance(by: DiskWatchdog.patience - .seconds(1))
                watchdog.noteWatching(Bench.gallery)
                #expect(watchdog.silences().isEmpty)
            }
            watchdog.noteWatching(Bench.projects)
            await bench.time.advance(by: DiskWatchdog.patience)
            #expect(watchdog.silences().map(\.folder.path) == [Bench.projects])
            // Its photos wait, too.
            #expect(watchdog.silentFolders().map(\.path) == [Bench.projects])
        }
        #expect(watchdog.silent().isEmpty)
        #expect(watchdog.takeHeard().map(\.path) == [Bench.projects])
        await bench.time.advance(by: DiskWatchdog.patience)
        #expect(watchdog.silences().isEmpty)
    }

    @Test func `what gives signs of life is no silence`() async throws {
        let (folder, lanes) = (bench.folders[0], DiskLanes(sharing: BlockingPool(name: "looks", threads: 1)))
        let (hasBegun, gate, end) = (Lock(false), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let look: Void = watchdog.run(at: folder, on: lanes) {
            hasBegun.withLock { $0 = true }
            gate.wait()
            SignOfLife.give()
            end.wait()
        }
        try await eventually("the look") { hasBegun.withLock { $0 } ? () : nil }
        await bench.time.advance(by: DiskWatchdog.patience)
        #expect(watchdog.isQuiet(folder, for: DiskWatchdog.patience))
        gate.signal()
        try await eventually("a sign") { watchdog.isQuiet(folder, for: .seconds(1)) ? nil : () }
        #expect(watchdog.silences().isEmpty)
        end.signal()
        try await look
    }

    @Test func `a pass goes on with the others, and ends when the folder that does not answer has had its time`()
        async throws
    {
        let (service, gate, isAsked) = (service, DispatchSemaphore(value: 0), Lock(false))
        defer { gate.signal() }
        let (photo, note) = (Bench.gallery.appending("a.jpg"), Bench.projects.appending("readme"))
        bench.disk.write("sunset", to: photo)
        try bench.scan()
        bench.disk.remove(photo)
        bench.disk.write("text", to: note)
        bench.disk.onScan { folder in
            guard folder == Bench.gallery else { return }
            isAsked.withLock { $0 = true }
            gate.wait()
        }
        let lanes = DiskLanes(name: "pass")
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk, disks: lanes,
            settle: .zero, watchdog: watchdog, time: bench.time.source)
        async let scanned = pass.takeIn()
        try await eventually("the look") { isAsked.withLock { $0 } ? () : nil }
        await bench.time.advance(by: DiskWatchdog.turn)
        try await service.report()
        // To its end: it would have no answer for as long as the first one.
        try await eventually("the look at the other") {
            try bench.states()[note.string] == .pending && !watchdog.isBusy(Bench.projects) ? () : nil
        }
        await bench.time.advance(by: DiskWatchdog.patience)
        try await service.report()
        let result = try await scanned
        #expect(result.silent == [Bench.gallery] && result.problems.map(\.path) == [Bench.gallery])
        #expect(result.queued == 1)
        // Nobody waits for its photos, either.
        #expect(watchdog.silent() == [bench.folders[0].id])
        let claim = try bench.ledger.claimNext(leavingOut: watchdog.silent(), at: bench.time.now)
        guard case .photos(let claims) = claim else { throw NothingDue() }
        #expect(claims.map(\.file) == [note])
        #expect(
            try bench.ledger.claimNext(leavingOut: watchdog.silent(), at: bench.time.now) == .nothing(until: nil))
        // The look that was given up comes back, and changes nothing.
        gate.signal()
        await lanes.shutDown()
        #expect(try problem(of: 0)?.contains("could not be looked at") == true)
        #expect(try bench.states()[photo.string] == .pending)
        #expect(try !bench.ledger.isAllWell(bench.ledger.overview(), .ana, at: bench.time.now))
    }

    @Test func `what the other folders have brought in can be stored while a pass waits for one that does not answer`()
        async throws
    {
        let (service, gate, isAsked) = (service, DispatchSemaphore(value: 0), Lock(false))
        let photo = Bench.vacations.appending("Rome/1.jpg")
        bench.disk.write("sunset", to: photo)
        bench.disk.onScan { folder in
            guard folder == Bench.gallery else { return }
            isAsked.withLock { $0 = true }
            gate.wait()
        }
        let (lanes, waits) = (DiskLanes(name: "pass"), Lock<[Set<FilePath>]>([]))
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk, disks: lanes,
            settle: .zero, watchdog: watchdog, time: bench.time.source)
        async let scanned = pass.takeIn(onWait: { silent in waits.withLock { $0.append(silent) } })
        defer { gate.signal() }
        try await eventually("the look") { isAsked.withLock { $0 } ? () : nil }
        await bench.time.advance(by: DiskWatchdog.turn)
        try await service.report()
        let silent = try await eventually("the wait for it") { waits.withLock { $0.first } }
        #expect(silent == [Bench.gallery])
        try await bench.makePipeline(watchdog: watchdog).run(.untilDone(patience: .zero))
        #expect(try bench.states()[photo.string] == .uploaded)
        #expect(watchdog.silences().isEmpty)
        gate.signal()
        let result = try await scanned
        #expect(result.silent.isEmpty && result.queued == 1)
        #expect(waits.withLock { $0.count } == 1)
        await lanes.shutDown()
    }

    @Test func `a pass that has seen a part of a folder which answers again looks at all of it`() async throws {
        let (service, folder, trip) = (service, bench.folders[0], Bench.gallery.appending("trip"))
        bench.disk.write("sunset", to: trip.appending("a.jpg"))
        watchdog.begin(folder)
        await bench.time.advance(by: DiskWatchdog.patience)
        try await service.report()
        #expect(try problem(of: 0) != nil)
        watchdog.note(folder)
        watchdog.end(folder)
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk,
            disks: DiskLanes(sharing: BlockingPool(name: "pass", threads: 1)), settle: .zero, watchdog: watchdog,
            time: bench.time.source)
        #expect(try await pass.takeIn(only: trip).queued == 1)
        #expect(try problem(of: 0) == nil)
        #expect(watchdog.takeHeard().isEmpty)
    }

    @Test func `what the look at all of a folder that answers again finds is told, and waited for`() async throws {
        let (service, folder, trip) = (service, bench.folders[0], Bench.gallery.appending("trip"))
        let hidden = Bench.gallery.appending("private")
        bench.disk.write("sunset", to: trip.appending("a.jpg"))
        bench.disk.write("dusk", to: hidden.appending("c.jpg"))
        bench.disk.setUnreadable(hidden)
        watchdog.begin(folder)
        await bench.time.advance(by: DiskWatchdog.patience)
        try await service.report()
        watchdog.note(folder)
        watchdog.end(folder)
        let late = Bench.gallery.appending("b.jpg")
        bench.disk.write("dawn", to: late, modifiedSeconds: Int64(bench.time.now.timeIntervalSince1970))
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk,
            disks: DiskLanes(sharing: BlockingPool(name: "pass", threads: 1)), settle: .seconds(2), watchdog: watchdog,
            time: bench.time.source)
        async let scanned = pass.takeIn(only: trip)
        await bench.time.waitForSleepers(1)
        await bench.time.advance(by: .seconds(2))
        let result = try await scanned
        #expect(result.problems.map(\.path) == [hidden])
        #expect(result.queued == 2 && result.stillChanging.isEmpty)
        #expect(try problem(of: 0)?.contains("permission denied") == true)
    }

    @Test func `work that was given up writes nothing into the ledger when it comes back`() async throws {
        let (ledger, folder, gate) = (bench.ledger, bench.folders[0], DispatchSemaphore(value: 0))
        defer { gate.signal() }
        let (isAsked, isRefused) = (Lock(false), Lock<Bool?>(nil))
        let pool = BlockingPool(name: "looks", threads: 1, abandoningAfter: .milliseconds(50))
        let look = Task {
            try await pool.run {
                isAsked.withLock { $0 = true }
                gate.wait()
                do {
                    try ledger.noteObstacle(folder.id, problem: "seen long ago")
                    isRefused.withLock { $0 = false }
                } catch {
                    isRefused.withLock { $0 = true }
                }
            }
        }
        try await eventually("the look") { isAsked.withLock { $0 } ? () : nil }
        look.cancel()
        await #expect(throws: CancellationError.self) { try await look.value }
        gate.signal()
        #expect(try await eventually("its end") { isRefused.withLock { $0 } })
        #expect(try problem(of: 0) == nil)
        await pool.shutDown()
    }
}

private struct NothingDue: Error {}
