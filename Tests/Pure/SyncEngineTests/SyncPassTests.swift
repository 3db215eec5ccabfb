import Dispatch
import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// A pass meets files that are just being written.
@Suite struct SyncPassTests {
    private let bench: Bench

    init() throws { bench = try Bench() }

    /// Takes in what is there; what is not whole is waited for once.
    private func takeIn(meanwhile: @Sendable () throws -> Void) async throws -> SyncPass.Scanned {
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk,
            disks: DiskLanes(sharing: BlockingPool(name: "pass", threads: 1)), settle: .seconds(2),
            time: bench.time.source)
        async let scanned = pass.takeIn()
        await bench.time.waitForSleepers(1)
        try meanwhile()
        await bench.time.advance(by: .seconds(2))
        return try await scanned
    }

    @Test func `what is just being written waits while the pass does, and counts as what it is then`() async throws {
        let now = Int64(bench.time.now.timeIntervalSince1970)
        let (photo, note) = (Bench.gallery.appending("a.jpg"), Bench.gallery.appending("notes.txt"))
        let gone = Bench.gallery.appending("gone.jpg")
        for (path, text) in [(photo, "sunset"), (note, "text"), (gone, "dawn")] {
            bench.disk.write(text, to: path, modifiedSeconds: now)
        }
        let scanned = try await takeIn { () throws in
            #expect(try bench.ledger.overview().totals[.pending].files == 3)
            #expect(try bench.ledger.claim(limit: 9, at: bench.time.now).isEmpty)
            bench.disk.remove(gone)
        }
        #expect(scanned.queued == 1 && scanned.skipped == 1 && scanned.stillChanging.isEmpty)
        #expect(try bench.states() == [photo.string: .pending, note.string: .skipped])
        #expect(try bench.ledger.claim(limit: 9, at: bench.time.now).map(\.file) == [photo])
    }

    @Test func `a folder that does not answer is told while the pass waits for it`() async throws {
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        let (gate, isAsked) = (DispatchSemaphore(value: 0), Lock(false))
        bench.disk.onScan { folder in
            guard folder == Bench.gallery else { return }
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            if isFirst { gate.wait() }
        }
        let watchdog = DiskWatchdog(time: bench.time.source)
        let pass = SyncPass(
            folders: bench.folders, ledger: bench.ledger, scanner: bench.disk, reducer: bench.disk,
            disks: DiskLanes(sharing: BlockingPool(name: "pass", threads: 1)), settle: .zero,
            watchdog: watchdog, time: bench.time.source)
        async let scanned = pass.takeIn()
        try await eventually("the look") { isAsked.withLock { $0 } ? () : nil }
        await bench.time.advance(by: DiskWatchdog.patience)
        #expect(watchdog.silences().first?.folder.path == Bench.gallery)
        gate.signal()
        let result = try await scanned
        #expect(result.queued == 1)
        #expect(watchdog.silences().isEmpty)
    }
}
