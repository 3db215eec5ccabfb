import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Photos of a group are prepared one after the other, for a slice of time, before those that are ready are handed on.
@Suite struct PreparingTests {
    private let gate = Gate()

    /// - Parameter monotonic: the clock of the thread that prepares.
    /// - Returns: how many of five photos were prepared when the first one came to the store, which held it there.
    private func prepared(by monotonic: @escaping @Sendable () -> Duration) async throws -> Int {
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        for index in 1...5 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        let time = bench.time.source
        let clock = TimeSource(now: time.now, monotonic: monotonic, sleep: time.sleep, random: time.random)
        async let run: Void = bench.makePipeline(batchSize: 1, time: clock).run(.untilDone(patience: .zero))
        await gate.waitForArrivals(1)
        let count = bench.disk.reduced.count
        gate.open()
        try await run
        #expect(bench.memory.keys.count == 5)
        return count
    }

    @Test func `small photos that take no time are handed on together`() async throws {
        let count = try await prepared { .zero }
        #expect(count == 5)
    }

    @Test func `a photo that takes its time does not wait for the rest of its group`() async throws {
        let elapsed = Lock(Duration.zero)
        let count = try await prepared {
            elapsed.withLock { elapsed in
                elapsed += .seconds(1)
                return elapsed
            }
        }
        // The next one may be in the making.
        #expect(count <= 2)
    }

    @Test(arguments: [(1, PhotoState.uploaded), (2, .failed)])
    func `what reads as cut off is read once more before it counts`(times: Int, state: PhotoState) async throws {
        let bench = try Bench()
        let photo = Bench.gallery.appending("a.jpg")
        bench.disk.write("photo", to: photo)
        bench.disk.setCut(photo, times: times)
        try await bench.pass()
        #expect(try bench.status(photo)?.state == state)
        #expect(bench.disk.reduced == [photo, photo])
    }
}
