import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine

@Suite struct FlightsTests {
    @Test func `with more slots those who wait come at once, with fewer nobody before enough have ended`() async {
        let (slots, gate, inside) = (Slots(1), Gate(), Lock(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...5 {
                group.addTask {
                    await slots.withSlot {
                        inside.add(1)
                        await gate.pass()
                        inside.add(-1)
                    }
                }
            }
            await gate.waitForArrivals(1)
            slots.resize(to: 3)
            await gate.waitForArrivals(3)
            #expect(slots.count == 3)
            slots.resize(to: 1)
            for _ in 1...3 { gate.letOne() }
            await gate.waitForArrivals(4)
            #expect(inside.withLock { $0 } == 1)
            gate.open()
        }
        #expect(inside.withLock { $0 } == 0)
    }

    @Test func `of a server that is far away more photos are in flight, where they may be`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        for index in 1...40 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline(mostInFlight: 12).run(.untilDone(patience: .zero))
        for round in 1...3 {
            await gate.waitForArrivals(3 * round)
            await bench.time.advance(by: .milliseconds(50))
            for _ in 1...3 { gate.letOne() }
        }
        // Nine have arrived, each after a round trip: six may go now.
        await gate.waitForArrivals(9 + 6)
        gate.open()
        try await run
        #expect(bench.store.mostInFlight(.put) == 6)
        #expect(bench.memory.keys.count == 40)
    }

    @Test func `who sends is told that the store asks to slow down, though the next try is taken`() async throws {
        let bench = try Bench(faults: [StoreFault(.head, number: 1, .failBefore(.throttled))])
        let time = ManualTime(random: 0)
        let throttling = Throttling()
        let store = RetryingStore(bench.store, time: time.source, logger: bench.logger, throttling: throttling)
        #expect(try await store.head(try ObjectKey("a")) == nil)
        #expect(throttling.take())
        #expect(!throttling.take())
    }
}
