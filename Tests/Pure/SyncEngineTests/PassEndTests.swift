import FoundationEssentials
import ServiceLifecycleTestKit
import SyncCore
import SyncDigest
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

/// When a pass ends, and what it says then. Its patience is ten seconds unless told, as that of `sync`.
@Suite struct PassEndTests {
    private let clock = PassClock()

    private func run(_ bench: Bench, patience: Duration = .seconds(10)) async throws {
        try bench.scan()
        try await bench.makePipeline(time: clock.source).run(.untilDone(patience: patience))
    }

    private func write(_ count: Int, to bench: Bench) {
        for index in 1...count { bench.disk.write("photo \(index)", to: Bench.gallery.appending("\(index).jpg")) }
    }

    private func key(of index: Int) throws -> String {
        let digest = ContentDigest(of: Array("photo \(index)".utf8))
        return try KeyLayout(user: "ana").photo(PhotoID(digest.md5)).rawValue
    }

    // MARK: A photo that is refused

    @Test func `what is refused each time is tried again three times, and left for later`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, .failBefore(.invalidRequest))])
        write(1, to: bench)
        try await run(bench)
        // The next one would end after the patience.
        #expect(clock.pauses == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(bench.store.count(.put) == 4)
        #expect(try bench.ledger.overview().totals[.pending].files == 1)
    }

    @Test func `a pass goes on beyond its patience while each round gets something stored`() async throws {
        let count = 6
        let bench = try Bench(
            faults: try (1...count).map { index in
                try StoreFault(.put, key: key(of: index), numbers: 1...index, .failBefore(.invalidRequest))
            })
        write(count, to: bench)
        try await run(bench)
        #expect(try bench.ledger.overview().totals[.uploaded].files == count)
        #expect(clock.pauses.count == count)
    }

    // MARK: A store that takes nothing

    @Test func `a store that is back within the patience of a pass gets everything`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, numbers: 1...3, .failBefore(.unreachable))])
        write(3, to: bench)
        try await run(bench)
        #expect(clock.pauses == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(bench.memory.keys.count == 3)
        #expect(try bench.ledger.overview().store?.error == nil)
    }

    @Test func `a store that stays away ends a pass when its patience is over`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, .failBefore(.unreachable))])
        write(3, to: bench)
        let error = await #expect(throws: StoreError.self) { try await run(bench) }
        #expect(error?.code == .unreachable)
        // The next one would be of eight seconds.
        #expect(clock.pauses == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(bench.disk.examined.isEmpty)
    }

    @Test(arguments: [StoreError.Code.credentialsMissing, .accessDenied])
    func `what no waiting helps against ends a pass at once`(code: StoreError.Code) async throws {
        let bench = try Bench(faults: [StoreFault(.check, .failBefore(code, isOfThisMachine: true))])
        write(3, to: bench)
        let error = await #expect(throws: StoreError.self) { try await run(bench) }
        #expect(error?.code == code)
        #expect(clock.pauses.isEmpty)
    }

    @Test func `what is said of a store that is away names no photo`() async throws {
        let bench = try Bench(
            faults: [
                StoreFault(.check, numbers: 2...Int.max, .failBefore(.credentialsRejected)),
                StoreFault(.put, .failBefore(.credentialsRejected)),
            ])
        write(3, to: bench)
        let error = await #expect(throws: StoreError.self) { try await run(bench) }
        #expect(error?.code == .credentialsRejected && error?.key == nil)
        let told = try #require(try bench.ledger.overview().store?.error)
        #expect(told.hasPrefix("put: "))
    }

    @Test func `a file system that denies some keys holds up no photo behind them`() async throws {
        let denied = try (1...3).map { index in
            try StoreFault(.put, key: key(of: index), .failBefore(.accessDenied, isOfThisMachine: true))
        }
        let bench = try Bench(faults: denied)
        write(6, to: bench)
        try await run(bench)
        #expect(bench.memory.keys.count == 3)
        #expect(try bench.ledger.overview().totals[.uploaded].files == 3)
        #expect(try bench.ledger.overview().totals[.pending].files == 3)
    }

    @Test func `a pass whose last photos are denied by the file system has used the store all the same`() async throws {
        let denied = try (4...6).map { index in
            try StoreFault(.put, key: key(of: index), .failBefore(.accessDenied, isOfThisMachine: true))
        }
        let bench = try Bench(faults: denied)
        write(6, to: bench)
        try bench.scan()
        // One after the other: none is accepted after the first that is denied.
        try await bench.makePipeline(batchSize: 1, time: clock.source).run(.untilDone(patience: .seconds(10)))
        #expect(bench.memory.keys.count == 3)
        #expect(try bench.ledger.overview().totals[.pending].files == 3)
        #expect(try bench.ledger.overview().store?.error == nil)
    }

    @Test(arguments: [(StoreError.Code.accessDenied, false), (.storeMissing, true)])
    func `a server that denies, and a disk that is away, may give way within the patience of a pass`(
        code: StoreError.Code, isOfThisMachine: Bool
    ) async throws {
        let bench = try Bench(
            faults: [StoreFault(.check, numbers: 1...3, .failBefore(code, isOfThisMachine: isOfThisMachine))])
        write(3, to: bench)
        try await run(bench)
        #expect(bench.memory.keys.count == 3)
    }

    @Test func `a pass that tried each photo on a store that takes none ends with its error`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, .failBefore(.noSpace))])
        write(3, to: bench)
        try bench.scan()
        let now = bench.time.now
        // What was refused before waits for longer than this pass: there is nothing due at its end.
        for _ in 1...2 {
            for claim in try bench.ledger.claim(limit: 3, at: now) {
                try bench.ledger.commit(claim, outcome: .postponed("refused", until: now), at: now)
            }
        }
        let error = await #expect(throws: StoreError.self) { try await run(bench, patience: .seconds(30)) }
        #expect(error?.code == .noSpace)
        // All of them, and then one at a time.
        #expect(bench.store.count(.put) == 6)
        #expect(try bench.ledger.overview().totals[.pending].files == 3)
    }

    @Test func `who asks for another try before the first pause of an agent is over is heard`() async throws {
        let ledger = try Ledger.inMemory()
        let bench = try Bench(
            faults: [
                StoreFault(.check, number: 5, .meanwhile { _ = try? ledger.retry(nil as [Int64]?) }),
                StoreFault(.check, numbers: 1...5, .failBefore(.unreachable)),
            ], ledger: ledger)
        let pipeline = try bench.makePipeline(time: clock.source)
        await #expect(throws: StoreError.self) { try await pipeline.run(.untilDone(patience: .seconds(10))) }
        let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]
        #expect(clock.pauses == pauses)
        let seen = Lock<[Duration]>([])
        try await testGracefulShutdown { [clock] trigger in
            // The first is of the start, in which somebody asks.
            let second = StoreFault(
                .check, number: 2,
                .meanwhile {
                    seen.withLock { $0 = clock.pauses }
                    trigger.triggerGracefulShutdown()
                })
            bench.store.add(second)
            try await pipeline.run(.untilStopped)
        }
        // Of sixteen seconds, five.
        #expect(seen.withLock { $0 } == pauses + [.seconds(5)])
    }
}

/// A clock on which nobody waits: who sleeps moves it on. The next try of a photo is too far away, and does not come.
private final class PassClock: Sendable {
    private let standing = ManualTime()
    private let slept = Lock<[Duration]>([])

    /// In their order, but for those that do not end.
    var pauses: [Duration] { slept.withLock { $0 } }

    private var elapsed: Duration { pauses.reduce(.zero, +) }

    var source: TimeSource {
        TimeSource(
            now: { self.standing.now.addingTimeInterval(self.elapsed / .seconds(1)) }, monotonic: { self.elapsed },
            sleep: { duration in
                try Task.checkCancellation()
                // Until the task is cancelled.
                if duration > .seconds(10) { return try await self.standing.source.sleep(duration) }
                self.slept.withLock { $0.append(duration) }
            }, random: { 1 })
    }
}
