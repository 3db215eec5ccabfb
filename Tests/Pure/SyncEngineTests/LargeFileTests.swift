import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// Films that are read and sent for minutes, and photos beside them.
@Suite struct LargeFileTests {
    private static let large = PhotoPipeline.largestSmall + 1
    private let bench: Bench
    private let pipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)

    init() throws {
        bench = try Bench()
        pipe = try FileDescriptor.pipe()
    }

    /// Films are read for as long as ``letGo(_:)`` does not end one of them.
    private func trapFilms() {
        let readEnd = pipe.readEnd
        bench.disk.onExamine { path in
            guard path.lastComponent?.string.hasPrefix("film") == true else { return }
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? readEnd.read(into: $0) }
        }
    }

    private func letGo(_ count: Int) throws { try pipe.writeEnd.writeAll([UInt8](repeating: 0, count: count)) }

    private func write(films: Int, photos: Int) {
        for index in 0..<films {
            bench.disk.write("film \(index)", to: Bench.gallery.appending("film\(index).mp4"), size: Self.large)
        }
        for index in 0..<photos { bench.disk.write("photo \(index)", to: Bench.gallery.appending("photo\(index).jpg")) }
    }

    @Test func `while large files are read, all of their neighbours are stored, and told at once`() async throws {
        write(films: 3, photos: 8)
        trapFilms()
        try bench.scan()
        let (events, told) = AsyncStream<PipelineEvent>.makeStream()
        async let run: Void = bench.makePipeline(observe: { told.yield($0) }).run(.untilDone(patience: .zero))
        var iterator = events.makeAsyncIterator()
        for _ in 0..<8 {
            let event = try #require(await iterator.next())
            #expect(event.file.lastComponent?.string.hasPrefix("photo") == true)
        }
        #expect(bench.memory.keys.count == 8)
        #expect(bench.disk.examined.count { $0.extension == "mp4" } == 1)
        try letGo(3)
        try await run
        #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
        #expect(bench.memory.keys.count == 11)
    }

    @Test func `a large file that is being sent takes none of the places of photos`() async throws {
        let gate = Gate()
        let bench = try Bench(faults: [StoreFault(.put, .hold(gate))])
        for index in 0..<2 {
            bench.disk.write("film \(index)", to: Bench.gallery.appending("film\(index).mp4"), size: Self.large)
        }
        for index in 0..<9 { bench.disk.write("photo \(index)", to: Bench.gallery.appending("photo\(index).jpg")) }
        try bench.scan()
        async let run: Void = bench.makePipeline().run(.untilDone(patience: .zero))
        // Three photos, and one film.
        await gate.waitForArrivals(4)
        #expect(bench.disk.examined.count { $0.extension == "mp4" } == 1)
        gate.open()
        try await run
        #expect(bench.memory.keys.count == 11)
    }

    @Test func `suspects do not wait until a file is read that no decoder takes`() async throws {
        bench.disk.write("film", to: Bench.gallery.appending("film.mp4"), size: PhotoLimits().fileSize + 1)
        bench.disk.write("photo", to: Bench.gallery.appending("photo.jpg"))
        try bench.scan()
        _ = try bench.ledger.claim(limit: 2, at: bench.time.now)
        // As after an unclean end.
        #expect(try bench.ledger.recoverInterrupted(at: bench.time.now) == 2)
        trapFilms()
        let (events, told) = AsyncStream<PipelineEvent>.makeStream()
        async let run: Void = bench.makePipeline(observe: { told.yield($0) }).run(.untilDone(patience: .seconds(5)))
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next()?.file == Bench.gallery.appending("photo.jpg"))
        try letGo(1)
        try await run
        #expect(bench.memory.keys.count == 2)
    }

    /// Of what is read with care.
    private struct Readings {
        var begun = 0
        var underWay = 0
        /// The most that were under way at the same moment.
        var most = 0
    }

    @Test func `suspects are read one at a time, and hold up none of the others`() async throws {
        for index in 0..<2 { bench.disk.write("suspect \(index)", to: Bench.gallery.appending("suspect\(index).jpg")) }
        write(films: 0, photos: 4)
        try bench.scan()
        let now = bench.time.now
        // The others are claimed after the suspects.
        for claim in try bench.ledger.claim(limit: 6, at: now) where !Self.isSuspect(claim.file) {
            try bench.ledger.commit(claim, outcome: .postponed("it was open", until: now + 1), at: now)
        }
        // As after an unclean end.
        #expect(try bench.ledger.recoverInterrupted(at: now) == 2)
        await bench.time.advance(by: .seconds(1))
        let readings = Lock(Readings())
        let readEnd = pipe.readEnd
        bench.disk.onExamine { path in
            guard Self.isSuspect(path) else { return }
            let isFirst = readings.withLock { state in
                state.begun += 1
                state.underWay += 1
                state.most = max(state.most, state.underWay)
                return state.begun == 1
            }
            guard isFirst else { return }
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { _ = try? readEnd.read(into: $0) }
        }
        bench.disk.onReduce { path in
            if Self.isSuspect(path) { readings.withLock { $0.underWay -= 1 } }
        }
        let (events, told) = AsyncStream<PipelineEvent>.makeStream()
        async let run: Void = bench.makePipeline(batchSize: 6, observe: { told.yield($0) }).run(
            .untilDone(patience: .zero))
        var iterator = events.makeAsyncIterator()
        for _ in 0..<4 {
            let event = try #require(await iterator.next())
            #expect(!Self.isSuspect(event.file))
        }
        try letGo(1)
        try await run
        #expect(bench.memory.keys.count == 6)
        #expect(readings.withLock { $0.most } == 1)
    }

    private static func isSuspect(_ file: FilePath) -> Bool {
        file.lastComponent?.string.hasPrefix("suspect") == true
    }

    @Test func `a file that has grown since it was queued is not read in its old place`() async throws {
        let path = Bench.gallery.appending("a.jpg")
        bench.disk.write("photo", to: path)
        try bench.scan()
        bench.disk.write("film", to: path, size: Self.large)
        try await bench.makePipeline().run(.untilDone(patience: .zero))
        // Once, as what it is by now: the claim of what it was is given back unread.
        #expect(bench.disk.examined == [path])
        #expect(try bench.states() == [path.string: .uploaded])
    }
}
