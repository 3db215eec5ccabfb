import Dispatch
import FoundationEssentials
import Glibc
import SyncCore
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncSystem

/// Photos on a disk that stops answering while they are read.
@Suite struct DiskReadsTests {
    private let bench: Bench
    private let watchdog: DiskWatchdog
    /// Of all threads; none of them uses the processor.
    private let wall = Lock(Duration.zero)
    private let gate = DispatchSemaphore(value: 0)

    init() throws {
        bench = try Bench()
        watchdog = DiskWatchdog(time: bench.time.source)
    }

    private var watch: StepWatch {
        StepWatch(makeClock: { { StepWatch.Reading(wall: wall.withLock { $0 }, processor: .zero) } })
    }

    /// Lets so much time pass for a watch that looks each second.
    private func pass(_ span: Duration, _ watch: StepWatch) {
        for _ in 0..<Int(span / .seconds(1)) {
            wall.withLock { $0 += .seconds(1) }
            watch.check()
        }
    }

    /// Photos of the gallery hold their thread.
    private func hang() -> AsyncStream<Void> {
        let (entries, signal) = AsyncStream<Void>.makeStream()
        bench.disk.onExamine { path in
            guard path.starts(with: Bench.gallery) else { return }
            signal.yield()
            gate.wait()
        }
        return entries
    }

    private func stored(below folder: FilePath) throws -> Int {
        try bench.states().filter { FilePath($0.key).starts(with: folder) && $0.value == .uploaded }.count
    }

    @Test func `a disk that hangs while its photos are read holds up no photo of another`() async throws {
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        for index in 1...6 { bench.disk.write("other \(index)", to: Bench.vacations.appending("Rome/\(index).jpg")) }
        let (entries, watch) = (hang(), watch)
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .zero))
        // Both threads of the pool.
        var iterator = entries.makeAsyncIterator()
        for _ in 1...2 { _ = await iterator.next() }
        pass(SignOfLife.patience - .seconds(1), watch)
        #expect(watchdog.silent().isEmpty)
        pass(.seconds(1), watch)
        try await run
        #expect(try stored(below: Bench.vacations) == 6)
        #expect(try stored(below: Bench.gallery) == 0)
        // No more threads than were there.
        #expect(watchdog.reads.held.count == 2)
        #expect(watchdog.silent() == [bench.folders[0].id])
        let waiting = try #require(try bench.status(Bench.gallery.appending("1.jpg")))
        #expect(waiting.state == .pending && waiting.why?.contains("does not answer") == true, "\(waiting)")

        bench.disk.onExamine { _ in }
        for _ in 1...2 { gate.signal() }
        try await eventually("the threads") { watchdog.silent().isEmpty ? () : nil }
        // What came back has changed nothing.
        #expect(try stored(below: Bench.gallery) == 0)
        await bench.time.advance(by: .seconds(60))
        try await pipeline.run(.untilDone(patience: .zero))
        #expect(try stored(below: Bench.gallery) == 9)
    }

    @Test func `what was read before its thread was given up is stored, and no photo of another folder is blamed`()
        async throws
    {
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        bench.disk.write("other", to: Bench.vacations.appending("Rome/1.jpg"))
        let (entries, signal) = AsyncStream<Void>.makeStream()
        let reader = Lock<pthread_t?>(nil)
        bench.disk.onExamine { path in
            if path.starts(with: Bench.gallery) { reader.withLock { $0 = pthread_self() } }
        }
        let (source, gate) = (bench.time.source, gate)
        // Its thread is held with the photo behind it, where it asks for the time.
        let monotonic: @Sendable () -> Duration = {
            let isReader = reader.withLock { reader in
                guard reader == pthread_self() else { return false }
                reader = nil
                return true
            }
            if isReader {
                signal.yield()
                gate.wait()
            }
            return source.monotonic()
        }
        let time = TimeSource(now: source.now, monotonic: monotonic, sleep: source.sleep, random: source.random)
        let watch = watch
        try bench.scan()
        // One part of both.
        let pipeline = try bench.makePipeline(batchSize: 1, watch: watch, watchdog: watchdog, time: time)
        async let run: Void = pipeline.run(.untilDone(patience: .zero))
        var iterator = entries.makeAsyncIterator()
        _ = await iterator.next()
        // It has asked the ledger since it began, which is a sign of life for the first look.
        pass(.seconds(1) + SignOfLife.patience, watch)
        try await run
        #expect(try stored(below: Bench.gallery) == 1)
        #expect(try stored(below: Bench.vacations) == 1)
        gate.signal()
    }

    @Test func `a slow disk that still gives signs of life is waited for`() async throws {
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        let (entries, signal) = AsyncStream<Void>.makeStream()
        bench.disk.onExamine { _ in
            for _ in 1...3 {
                signal.yield()
                gate.wait()
                _ = PooledWork.isCancelled
            }
        }
        let watch = watch
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .zero))
        var iterator = entries.makeAsyncIterator()
        for _ in 1...3 {
            _ = await iterator.next()
            pass(SignOfLife.patience - .seconds(2), watch)
            gate.signal()
        }
        try await run
        #expect(try stored(below: Bench.gallery) == 1)
    }

    @Test func `a slow disk with many large files holds up no photo of another folder`() async throws {
        // Each is claimed by itself, and they come first.
        for index in 1...9 {
            bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg"), size: 20 << 20)
        }
        for index in 1...6 { bench.disk.write("other \(index)", to: Bench.vacations.appending("Rome/\(index).jpg")) }
        let entries = hang()
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .zero))
        // It goes on when the test ends early, too.
        defer {
            bench.disk.onExamine { _ in }
            for _ in 1...9 { gate.signal() }
        }
        var iterator = entries.makeAsyncIterator()
        for _ in 1...2 { _ = await iterator.next() }
        watchdog.reads.checked.signal()
        #expect(try stored(below: Bench.vacations) == 0)
        await bench.time.advance(by: DiskWatchdog.turn)
        watchdog.reads.checked.signal()
        try await eventually("the photos of the other folder") {
            try stored(below: Bench.vacations) == 6 ? () : nil
        }
        #expect(try stored(below: Bench.gallery) == 0)
        #expect(watchdog.silent().isEmpty)

        bench.disk.onExamine { _ in }
        for _ in 1...3 { gate.signal() }
        try await run
        #expect(try stored(below: Bench.gallery) == 9)
    }

    @Test func `a ledger that fails beside a slow disk ends the run by its own error`() async throws {
        let tree = try TemporaryTree()
        let bench = try Bench(ledger: Ledger(at: tree.path("ledger.sqlite")))
        let watchdog = DiskWatchdog(time: bench.time.source)
        for index in 1...3 {
            bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg"), size: 20 << 20)
        }
        bench.disk.write("other", to: Bench.vacations.appending("Rome/1.jpg"))
        try bench.scan()
        let (entries, signal) = AsyncStream<Void>.makeStream()
        let gate = gate
        // Those who wait here are given up when they are cancelled.
        bench.disk.onReduce { _ in
            signal.yield()
            gate.wait()
        }
        defer { for _ in 1...4 { gate.signal() } }
        let pipeline = try bench.makePipeline(watchdog: watchdog)
        let run = Task { try await pipeline.run(.untilDone(patience: .zero)) }
        var iterator = entries.makeAsyncIterator()
        for _ in 1...2 { _ = await iterator.next() }
        await bench.time.advance(by: DiskWatchdog.turn)
        watchdog.reads.checked.signal()
        // The photo of the other folder is read; its end would tell no more than that it was cancelled.
        _ = await iterator.next()
        try bench.ledger.close()
        watchdog.reads.checked.signal()
        await #expect(throws: LedgerError.self) { try await run.value }
    }

    @Test func `a pass waits for a disk that only has to wake up, and stores what it was at`() async throws {
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        let (entries, watch) = (hang(), watch)
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .seconds(10)))
        var iterator = entries.makeAsyncIterator()
        for _ in 1...2 { _ = await iterator.next() }
        pass(SignOfLife.patience, watch)
        // It has nothing else to do.
        await bench.time.waitForSleepers()
        #expect(try stored(below: Bench.gallery) == 0)
        bench.disk.onExamine { _ in }
        for _ in 1...2 { gate.signal() }
        try await run
        #expect(try stored(below: Bench.gallery) == 9)
    }

    @Test func `a photo that comes due while a pass waits for a disk is stored meanwhile`() async throws {
        bench.disk.write("other", to: Bench.vacations.appending("Rome/1.jpg"))
        try bench.scan()
        let other = try #require(try bench.ledger.claim(limit: 1, at: bench.time.now).first)
        try bench.ledger.commit(other, outcome: .postponed("away", until: bench.time.now + 30), at: bench.time.now)
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        let (entries, watch) = (hang(), watch)
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .seconds(10)))
        // It goes on when the test ends early, too.
        defer { gate.signal() }
        var iterator = entries.makeAsyncIterator()
        _ = await iterator.next()
        pass(SignOfLife.patience, watch)
        // Until then it is in hand, and what comes due is waited for anyway.
        try await eventually("the end of its turn") {
            try bench.status(Bench.gallery.appending("1.jpg"))?.state == .pending ? () : nil
        }
        await bench.time.waitForSleepers()
        await bench.time.advance(by: .seconds(30))
        try await eventually("the photo of the other folder") {
            try stored(below: Bench.vacations) == 1 ? () : nil
        }
        #expect(!watchdog.silent().isEmpty)
        bench.disk.onExamine { _ in }
        gate.signal()
        try await run
        #expect(try stored(below: Bench.gallery) == 1)
    }

    @Test func `a pass waits no longer for a disk than for one that cannot be looked at`() async throws {
        bench.disk.write("photo", to: Bench.gallery.appending("1.jpg"))
        let (entries, watch) = (hang(), watch)
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: watch, watchdog: watchdog)
        async let run: Void = pipeline.run(.untilDone(patience: .seconds(10)))
        var iterator = entries.makeAsyncIterator()
        _ = await iterator.next()
        pass(SignOfLife.patience, watch)
        await bench.time.waitForSleepers()
        await bench.time.advance(by: DiskWatchdog.patience)
        try await run
        #expect(try stored(below: Bench.gallery) == 0)
        gate.signal()
    }
}
