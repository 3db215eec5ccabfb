import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Small photos in front of a store that puts such together.
@Suite struct GroupedPhotoTests {
    @Test func `many small photos are in flight at once, and not three`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))], through: { GroupingStore(base: $0) })
        for index in 1...12 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline().run(.untilDone(patience: .zero))
        await gate.waitForArrivals(12)
        gate.open()
        try await run
        #expect(bench.store.mostInFlight(.put) == 12)
        #expect(bench.memory.keys.count == 12)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `small photos and those that are too large for a group go beside each other`() async throws {
        let bench = try Bench(through: { GroupingStore(base: $0) })
        let bulk = String(repeating: "x", count: 1_000)
        for index in 1...20 {
            bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg"))
            bench.disk.write("photo \(index) \(bulk)", to: Bench.gallery.appending("large\(index).jpg"))
        }
        try await bench.pass()
        #expect(bench.memory.keys.count == 40)
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
    }

    @Test func `one that the store refuses has an end of its own`() async throws {
        let refused = try KeyLayout(user: "ana").photo(PhotoID(ContentDigest(of: Array("photo 7".utf8)).md5)).rawValue
        let bench = try Bench(
            faults: [StoreFault(.put, key: refused, .failBefore(.invalidRequest))],
            through: { GroupingStore(base: $0) })
        for index in 1...100 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try await bench.pass()
        #expect(bench.memory.keys.count == 99)
        let counts = try bench.states().values.reduce(into: [PhotoState: Int]()) { $0[$1, default: 0] += 1 }
        #expect(counts == [.uploaded: 99, .pending: 1])
    }
}

private struct GroupingStore: WrappedStore {
    let base: any ObjectStore

    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.largestGrouped = 500
        return capabilities
    }
}
