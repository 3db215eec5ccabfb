import FoundationEssentials
import Glibc
import ServiceLifecycle
import ServiceLifecycleTestKit
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncSystem

/// Photos whose decoding does not end, and an agent that stops meanwhile.
@Suite struct StuckPhotoTests {
    private let bench: Bench
    /// Of each thread that has begun a step. Its time passes only in ``trap(_:)``: neighbours in flight have used none.
    private let readings = Lock([pthread_t: StepWatch.Reading]())
    private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)

    init() throws {
        bench = try Bench()
        pipe = try FileDescriptor.pipe()
    }

    private func letGo(_ count: Int) throws { try pipe.writeEnd.writeAll([UInt8](repeating: 0, count: count)) }

    private func makeClock() -> @Sendable () -> StepWatch.Reading {
        let thread = pthread_self()
        let start = StepWatch.Reading(wall: .zero, processor: .zero)
        readings.withLock { $0[thread] = start }
        return { readings.withLock { $0[thread, default: start] } }
    }

    /// Photos of this name keep their thread busy, for a minute of its own clock by the time they are told of.
    private func trap(_ prefix: String) -> AsyncStream<Void> {
        let (entries, signal) = AsyncStream<Void>.makeStream()
        let readEnd = pipe.readEnd
        bench.disk.onReduce { path in
            guard path.lastComponent?.string.hasPrefix(prefix) == true else { return }
            readings.withLock { $0[pthread_self()] = StepWatch.Reading(wall: .seconds(60), processor: .seconds(60)) }
            signal.yield()
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? readEnd.read(into: $0) }
        }
        return entries
    }

    @Test func `photos that do not end are set aside by name, and all of their neighbours are stored`() async throws {
        for index in 1...4 { bench.disk.write("bomb \(index)", to: Bench.gallery.appending("bomb\(index).jpg")) }
        for index in 1...8 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("photo\(index).jpg")) }
        let entries = trap("bomb")
        let watch = StepWatch(makeClock: makeClock)
        try bench.scan()
        async let run: Void = bench.makePipeline(watch: watch).run(.untilDone(patience: .zero))
        var iterator = entries.makeAsyncIterator()
        for _ in 1...4 {
            _ = await iterator.next()
            watch.check()
        }
        try await run
        #expect(bench.memory.keys.count == 8)
        for index in 1...4 {
            let status = try #require(try bench.status(Bench.gallery.appending("bomb\(index).jpg")))
            #expect(status.state == .failed)
            #expect(status.why?.contains("could not be read within a minute") == true)
        }
        #expect(try bench.ledger.failedPhotos(limit: 9).count == 4)
        try letGo(4)
    }

    @Test func `an agent that is told to stop does not wait for a photo that does not end`() async throws {
        for index in 1...4 { bench.disk.write("bomb \(index)", to: Bench.gallery.appending("bomb\(index).jpg")) }
        let entries = trap("bomb")
        try bench.scan()
        let pipeline = try bench.makePipeline(watch: StepWatch())
        try await testGracefulShutdown { trigger in
            async let run: Void = pipeline.run(.untilStopped)
            var iterator = entries.makeAsyncIterator()
            for _ in 1...2 { _ = await iterator.next() }
            trigger.triggerGracefulShutdown()
            try await run
        }
        #expect(try bench.states().values.allSatisfy { $0 == .pending })
        #expect(try bench.status(Bench.gallery.appending("bomb1.jpg"))?.attempts == 0)
        try letGo(4)
    }

    @Test func `an upload that takes too long when the agent stops is left for the next start`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        bench.disk.write("video", to: Bench.gallery.appending("a.jpg"))
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        let pipeline = try bench.makePipeline()
        try await testGracefulShutdown { trigger in
            async let run: Void = pipeline.run(.untilStopped)
            await gate.waitForArrivals(3)
            // All places are taken by photos that wait for a hand, or somebody waits for more, and does so no more when
            // the agent stops.
            let before = bench.time.sleeps.count
            trigger.triggerGracefulShutdown()
            _ = try await eventually("the last seconds") { bench.time.sleeps.count > before ? true : nil }
            await bench.time.waitForSleepers(1)
            await bench.time.advance(by: .seconds(5))
            // The scripted store does not hear that it is cancelled; it ends now, and late.
            gate.open()
            try await run
        }
        #expect(try bench.states().values.allSatisfy { $0 == .pending || $0 == .uploaded })
        #expect(try bench.ledger.overview().totals[.uploading].files == 0)
    }
}
