import Dispatch
import SyncCore
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

/// Disks that do not answer: a server that is gone, a drive that hangs.
extension IntakeTests {
    @Test func `a folder that does not answer is told, and looked at as a whole when it does`()
        async throws
    {
        let trip = Bench.gallery.appending("trip")
        let (gate, scans) = (DispatchSemaphore(value: 0), Lock(0))
        bench.disk.onScan { folder in
            guard folder == trip else { return }
            let isFirst = scans.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { gate.wait() }
        }
        try await running {
            bench.disk.write("sunset", to: trip.appending("a.jpg"))
            source.send(.tree(trip))
            try await eventually("the look") { scans.withLock { $0 } == 1 ? () : nil }
            #expect(watchdog.silences().isEmpty)
            await bench.time.advance(by: DiskWatchdog.patience)
            let silence = try #require(watchdog.silences().first)
            #expect(silence.isNews && silence.folder.path == Bench.gallery)
            #expect(watchdog.silences().first?.isNews == false)
            try bench.ledger.noteObstacle(silence.folder.id, problem: silence.words)
            gate.signal()
            // A look at a part of it would leave the problem as it is.
            try await eventually("a look at all of it") {
                try bench.ledger.overview().folders[0].record.problem == nil ? () : nil
            }
            #expect(scans.withLock { $0 } == 2)
            try await eventually("the end of that look") { watchdog.isBusy(Bench.gallery) ? nil : () }
            await bench.time.advance(by: DiskWatchdog.patience)
            #expect(watchdog.silences().isEmpty)
        }
    }

    @Test func `a folder that does not answer before it is watched is told, too`() async throws {
        let found = Lock<DiskWatchdog.Silence?>(nil)
        source.onStart {
            await bench.time.advance(by: DiskWatchdog.patience)
            found.withLock { $0 = watchdog.silences().first }
        }
        try await running {
            let silence = try await eventually("the start") { found.withLock { $0 } }
            #expect(silence.isNews && silence.folder.path == Bench.gallery)
            try await eventually("the end of it") { watchdog.silences().isEmpty ? () : nil }
        }
    }

    /// Runs the intake while its first look at the gallery waits for a signal.
    /// - Parameter body: comes in when it does. It is given what the look waits for, which goes on at the end of all.
    private func holdingGallery(_ body: @Sendable (_ gate: DispatchSemaphore) async throws -> Void) async throws {
        let (gate, isAsked, lanes) = (DispatchSemaphore(value: 0), Lock(false), DiskLanes(name: "intake"))
        defer { gate.signal() }
        bench.disk.onScan { folder in
            guard folder == Bench.gallery, !isAsked.withLock({ exchange(&$0, with: true) }) else { return }
            gate.wait()
        }
        try await running(disks: lanes) {
            source.send(.tree(Bench.gallery))
            try await eventually("the look") { isAsked.withLock { $0 } ? () : nil }
            try await body(gate)
        }
        await lanes.shutDown()
    }

    @Test func `a folder that does not answer holds up no other`() async throws {
        let (photo, note) = (Bench.gallery.appending("a.jpg"), Bench.projects.appending("readme"))
        bench.disk.write("sunset", to: photo)
        try await holdingGallery { gate in
            bench.disk.write("text", to: note)
            source.send(.gone(photo), .tree(Bench.projects))
            try await eventually("the other folder") { try bench.states()[note.string] == .pending ? () : nil }
            #expect(try bench.states()[photo.string] == nil)
            gate.signal()
            try await eventually("the folder itself") { try bench.states()[photo.string] == .pending ? () : nil }
        }
    }

    /// Has so many folders scanned, each scan waiting for a signal.
    /// - Parameter body: comes in when as many are under way as may be at once. It is given what the scans wait for, and
    ///   the folders whose scan has begun.
    private func holdingScans(
        of count: Int, _ body: @Sendable (_ gate: DispatchSemaphore, _ begun: Lock<Set<FilePath>>) async throws -> Void
    ) async throws {
        let roots = (1...count).map { FilePath("/pictures/card\($0)") }
        let folders = try bench.ledger.register(roots.map { WatchedFolder(kind: .gallery, path: $0) })
        let (gate, begun, lanes) = (DispatchSemaphore(value: 0), Lock(Set<FilePath>()), DiskLanes(name: "intake"))
        bench.disk.onScan { folder in
            guard begun.withLock({ $0.insert(folder).inserted }) else { return }
            gate.wait()
        }
        try await running(disks: lanes, folders: folders) {
            for root in roots { source.send(.tree(root)) }
            try await eventually("the first scans") { begun.withLock { $0.count } == 3 ? () : nil }
            try await body(gate, begun)
            for _ in roots { gate.signal() }
        }
        await lanes.shutDown()
    }

    @Test func `a few folders are scanned at once, and those that are quiet take nobody's turn`() async throws {
        try await holdingScans(of: 5) { _, begun in
            // Two wait for their turn, beside the hourly rescan.
            await bench.time.waitForSleepers(3)
            #expect(begun.withLock { $0.count } == 3)
            await bench.time.advance(by: DiskWatchdog.turn)
            try await eventually("the others") { begun.withLock { $0.count } == 5 ? () : nil }
        }
    }

    @Test func `the next folder is scanned when one before it is through`() async throws {
        try await holdingScans(of: 4) { gate, begun in
            await bench.time.waitForSleepers(2)
            gate.signal()
            try await eventually("the last one") { begun.withLock { $0.count } == 4 ? () : nil }
        }
    }

    @Test func `an intake ends although a disk holds one of its threads`() async throws {
        // It is cancelled at the end of this, and awaited.
        try await holdingGallery { _ in #expect(watchdog.isBusy(Bench.gallery)) }
    }
}
