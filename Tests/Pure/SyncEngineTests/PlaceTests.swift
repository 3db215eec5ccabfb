import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Whoever prepares a photo sends it, too; the place of those who prepare is free meanwhile.
@Suite struct PlaceTests {
    private let gate = Gate()
    private let bench: Bench
    /// One that goes with no other.
    private let bulk = String(repeating: "x", count: 600_000)

    init() throws { bench = try Bench(faults: [StoreFault(.put, .hold(gate))]) }

    /// Waits until this photo is prepared.
    private func reduced(_ photo: FilePath) async throws {
        try await eventually("\(photo)") { bench.disk.reduced.contains(photo) ? () : nil }
    }

    @Test func `while a photo is sent that is alone, the next one is prepared, and no other`() async throws {
        let photos = (1...4).map { Bench.gallery.appending("\($0).jpg") }
        for photo in photos { bench.disk.write("\(photo) \(bulk)", to: photo) }
        try bench.scan()
        async let run: Void = bench.makePipeline(batchSize: 1).run(.untilDone(patience: .zero))
        // It goes on when the test ends early, too.
        defer { gate.open() }
        await gate.waitForArrivals(1)
        try await eventually("the next one") { bench.disk.reduced.count == 2 ? () : nil }
        #expect(try bench.ledger.overview().totals[.uploading].files == 2)
        gate.open()
        try await run
        #expect(bench.store.mostInFlight(.put) == 1)
        #expect(bench.memory.keys.count == 4)
    }

    @Test func `a file of gallery events holds no place of those who prepare while its photos are sent`() async throws {
        let data = Data("sunset".utf8).base64EncodedString()
        bench.disk.write(
            #"[{"id":"e1","userId":"u","profileId":"p","eventType":"taskResponse","createdAt":1760948130,"#
                + #""taskTitle":"Pills","text":"dear diary","photoData":"\#(data)"}]"#,
            to: Bench.gallery.appending("events.json"))
        try bench.scan()
        // Known later, and so it is the next one.
        let photo = Bench.gallery.appending("photo.jpg")
        bench.disk.write("photo \(bulk)", to: photo)
        try bench.scan()
        async let run: Void = bench.makePipeline(batchSize: 1).run(.untilDone(patience: .zero))
        defer { gate.open() }
        await gate.waitForArrivals(1)
        try await reduced(photo)
        #expect(bench.memory.keys.isEmpty)
        gate.open()
        try await run
        #expect(bench.memory.keys.count == 2)
    }

    @Test func `photos of a group are sent beside each other, each as soon as it is ready`() async throws {
        for index in 1...9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline(batchSize: 3).run(.untilDone(patience: .zero))
        defer { gate.open() }
        await gate.waitForArrivals(3)
        gate.open()
        try await run
        #expect(bench.store.mostInFlight(.put) == 3)
        #expect(bench.memory.keys.count == 9)
    }
}
