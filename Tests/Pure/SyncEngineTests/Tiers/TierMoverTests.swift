import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

@Suite struct TierMoverTests {
    private static let half = Duration.seconds(180 * 86_400)
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench()
    }

    private func mover(
        afterDays days: Int = 180, largerThan size: Int64? = nil, from classes: [StorageClass] = [.standard],
        store: (any ObjectStore)? = nil, time: TimeSource? = nil
    ) -> TierMover {
        TierMover(
            store: store ?? bench.store, ledger: bench.queue, keys: .ana,
            rules: [
                TierRule(
                    prefix: "users/ana/photos/", largerThan: size,
                    transition: .init(afterDays: days, storageClass: .deepArchive)),
                TierRule(prefix: "users/ana/projects/", expireAfterDays: 1),
            ], from: classes, time: time ?? bench.time.source)
    }

    private func classes(_ keys: [ObjectKey]) throws -> [StorageClass?] {
        let known = try keys.map { try bench.ledger.object($0)?.storageClass }
        #expect(known == keys.map { bench.memory.info($0)?.storageClass })
        return known
    }

    @Test func `what is old enough is moved, and what is not stays`() async throws {
        let old = try await bench.add("Paris/1.jpg", in: .standard)
        await bench.time.advance(by: .seconds(86_400))
        let young = try await bench.add("Paris/2.jpg", in: .standard)
        await bench.time.advance(by: Self.half - .seconds(86_399))
        let result = try await mover().run()
        #expect(result.moved == 1)
        #expect(try classes([old, young]) == [.deepArchive, .standard])
        #expect(bench.store.lines == ["head \(old)", "copy \(old)"])
    }

    @Test func `what was stored while this machine's clock was behind is as old as the store says`() async throws {
        let old = try await bench.add("Paris/1.jpg", in: .standard)
        await bench.time.advance(by: Self.half)
        let young = try await bench.add("Paris/2.jpg", in: .standard)
        let earlier = try #require(try bench.ledger.object(old)?.storedAt)
        let since = try #require(try bench.ledger.object(young)?.storedAt)
        // As by a clock that told the day of the last shutdown.
        try bench.ledger.noteStoredLater([(key: young, noted: since, storedAt: earlier)])
        await bench.time.advance(by: .seconds(60))
        #expect(try await mover().run().moved == 1)
        #expect(try classes([old, young]) == [.deepArchive, .standard])
        #expect(try bench.ledger.object(young)?.storedAt == since)
        let requests = bench.store.calls.count
        #expect(try await mover().run() == TierMover.Summary())
        #expect(bench.store.calls.count == requests, "the ledger has learned it")
        await bench.time.advance(by: Self.half)
        #expect(try await mover().run().moved == 1)
    }

    @Test func `where the clock is still behind, what the store had of late is not due again`() async throws {
        let key = try await bench.add("Paris/1.jpg", in: .standard)
        await bench.time.advance(by: Self.half * 4)
        let late = try await bench.add("Paris/2.jpg", in: .standard)
        let early = try #require(try bench.ledger.object(key)?.storedAt)
        let since = try #require(try bench.ledger.object(late)?.storedAt)
        try bench.ledger.noteStoredLater([(key: late, noted: since, storedAt: early)])
        // By this machine's clock, which is more than the age of a move behind, both are due.
        let own = early.addingTimeInterval(181 * 86_400)
        let base = bench.time.source
        let behind = TimeSource(now: { own }, monotonic: base.monotonic, sleep: base.sleep, random: base.random)
        let store = OtherClock(base: bench.store, offset: since.timeIntervalSince(own))
        #expect(try await mover(store: store, time: behind).run().moved == 1)
        #expect(try classes([key, late]) == [.deepArchive, .standard])
        #expect(try bench.ledger.object(late)?.storedAt == since)
        // The third asks for the last move.
        #expect(bench.store.count(.head) == 3)
    }

    @Test func `what a move has copied is as old as it was before, and what was stored since is not`() async throws {
        let old = try await bench.add("Paris/1.jpg", in: .standard)
        let since = try #require(try bench.ledger.object(old)?.storedAt)
        await bench.time.advance(by: Self.half * 2)
        try await bench.memory.store(Array("Paris/1.jpg".utf8), at: old)
        try await bench.memory.store([1], at: KeyLayout.ana.storeOrigin())
        await bench.time.advance(by: .seconds(60))
        let young = try await bench.add("Paris/2.jpg", in: .standard)
        let stored = try #require(try bench.ledger.object(young)?.storedAt)
        // As by a clock that told the day of the last shutdown.
        try bench.ledger.noteStoredLater([(key: young, noted: stored, storedAt: since)])
        await bench.time.advance(by: .seconds(60))
        #expect(try await mover().run().moved == 1)
        #expect(try classes([old, young]) == [.deepArchive, .standard])
        #expect(try bench.ledger.object(old)?.storedAt == since)
        #expect(try bench.ledger.object(young)?.storedAt == stored)
    }

    @Test func `what is old by this machine's clock alone stays`() async throws {
        let key = try await bench.add("Paris/1.jpg", in: .standard)
        await bench.time.advance(by: Self.half + .seconds(86_400))
        let old = try await bench.add("Paris/2.jpg", in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        // The store's clock is a day and a half behind: one of the two is not that old.
        let store = OtherClock(base: bench.store, offset: -129_600)
        #expect(try await mover(store: store).run().moved == 1)
        #expect(try classes([key, old]) == [.deepArchive, .standard])
        #expect(try await mover().run().moved == 1)
    }

    @Test func `what is old moves from each class in which photos are stored`() async throws {
        let old = try await bench.add("Paris/1.jpg", in: .standard)
        let cool = try await bench.add("Paris/2.jpg", in: .standardIA)
        await bench.time.advance(by: Self.half + .seconds(1))
        #expect(try await mover(from: [.standard, .standardIA]).run().moved == 2)
        #expect(try classes([old, cool]) == [.deepArchive, .deepArchive])
    }

    @Test func `a pass with nothing to do asks the store for nothing`() async throws {
        _ = try await bench.add(3, in: .standard)
        #expect(try await mover().run() == TierMover.Summary())
        #expect(bench.store.calls == [])
    }

    @Test func `after no days everything goes with the next pass`() async throws {
        let keys = try await bench.add(2, in: .standard)
        await bench.time.advance(by: .seconds(1))
        #expect(try await mover(afterDays: 0).run().moved == 2)
        #expect(try classes(keys) == [.deepArchive, .deepArchive])
    }

    @Test func `what is too small for it stays`() async throws {
        let small = try await bench.add("Paris/1.jpg", "123", in: .standard)
        let large = try await bench.add("Paris/2.jpg", "1234", in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        _ = try await mover(largerThan: 3).run()
        #expect(try classes([small, large]) == [.standard, .deepArchive])
    }

    @Test(arguments: [StorageClass.glacier, .deepArchive, .intelligentTiering, .standardIA])
    func `what somebody put into another class is left there`(storageClass: StorageClass) async throws {
        let keys = try await bench.add(1, in: storageClass)
        await bench.time.advance(by: Self.half + .seconds(1))
        _ = try await mover().run()
        #expect(try classes(keys) == [storageClass])
        #expect(bench.store.calls == [])
    }

    @Test func `one that cannot be moved does not stop the others`() async throws {
        let keys = try await bench.add(5, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        try await bench.memory.delete(keys[1])
        bench.store.add(StoreFault(.copy, key: keys[3].rawValue, number: 1, .failBefore(.serverFailed)))
        bench.store.add(StoreFault(.head, key: keys[3].rawValue, number: 1, .failBefore(.throttled)))
        let result = try await mover().run()
        #expect(result.moved == 3)
        #expect(result.failed == 2)
        #expect(result.failures.map(\.code) == [.notFound, .serverFailed])
        #expect(try await mover().run().moved == 1)
    }

    @Test func `one that the store denies does not stop the others, and a store that denies all is left alone`()
        async throws
    {
        let keys = try await bench.add(60, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        bench.store.add(StoreFault(.copy, numbers: 1...60, .failBefore(.accessDenied)))
        let error = await #expect(throws: StoreError.self) { try await mover().run() }
        #expect(error?.code == .accessDenied && error?.key == nil)
        #expect(bench.store.count(.copy) < 40)
        let denied = StoreFault(.copy, key: keys[1].rawValue, .failBefore(.accessDenied))
        let store = FaultyStore(bench.memory, faults: [denied])
        let result = try await mover(store: store).run()
        #expect(result.moved == 59 && result.failures.map(\.code) == [.accessDenied])
    }

    @Test func `what was denied comes last in the next run, so that the others are moved`() async throws {
        _ = try await bench.add(30, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        let store = FaultyStore.denying(first: 25, .copy, of: bench.memory)
        await #expect(throws: StoreError.self) { try await mover(store: store).run() }
        let result = try await mover(store: store).run()
        #expect(result.moved == 5 && result.failed == 25)
        // Those that were denied at first, and are given by now.
        #expect(try await mover().run().moved == 25)
        #expect(try bench.ledger.denials(of: .archive) == [:])
    }

    @Test func `an outage is thrown, and the rest is moved later`() async throws {
        _ = try await bench.add(20, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        bench.store.add(StoreFault(.copy, numbers: 8...12, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await mover().run() }
        for _ in 0..<5 { _ = try? await mover().run() }
        #expect(bench.memory.keys.allSatisfy { bench.memory.info($0)?.storageClass == .deepArchive })
        #expect(try bench.ledger.overview().tiers.map(\.storageClass) == [.deepArchive])
    }

    @Test(arguments: [StoreError.Code.connectionLost, .timedOut, .archived])
    func `a copy whose answer was lost has happened`(code: StoreError.Code) async throws {
        let keys = try await bench.add(1, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        bench.store.add(StoreFault(.copy, number: 1, .failAfter(code)))
        let moved = (try? await mover().run().moved) ?? 0
        #expect(try await moved + mover().run().moved == 1)
        #expect(try classes(keys) == [.deepArchive])
    }

    @Test func `a store that has no copies says so`() async throws {
        _ = try await bench.add(9, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        bench.store.add(StoreFault(.copy, .failBefore(.unsupported)))
        await #expect(throws: StoreError.self) { try await mover().run() }
        #expect(bench.store.count(.copy) <= 3)
    }

    @Test func `no more than three copies are under way, and each object is copied once`() async throws {
        _ = try await bench.add(700, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        #expect(try await mover().run().moved == 700)
        #expect(bench.store.mostInFlight(.copy) <= 3)
        #expect(bench.store.count(.copy) == 700)
    }

    @Test func `a pass that was cancelled leaves ledger and store in agreement`() async throws {
        let keys = try await bench.add(12, in: .standard)
        await bench.time.advance(by: Self.half + .seconds(1))
        let gate = Gate()
        bench.store.add(StoreFault(.copy, numbers: 7...(.max), .hold(gate)))
        let mover = mover()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await mover.run() }
            await gate.waitForArrivals(3)
            group.cancelAll()
            gate.open()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        #expect(try classes(keys).filter { $0 == .deepArchive }.count == 6)
    }
}
