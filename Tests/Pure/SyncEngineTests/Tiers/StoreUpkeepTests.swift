import FoundationEssentials
import ServiceLifecycleTestKit
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

@Suite struct StoreUpkeepTests {
    private static func policy(_ mode: TierMode) -> TierPolicy {
        TierPolicy(
            user: "ana", mode: mode, archiveAfterDays: 0, originalsAfterDays: 0,
            floor: ArchiveFloor(configured: 0, prices: nil), shareExpireDays: 30)
    }

    private func upkeep(_ bench: RestoreBench, _ mode: TierMode = .agent) throws -> StoreUpkeep {
        StoreUpkeep(
            store: bench.store, ledger: bench.queue, keys: try KeyLayout(user: "ana"), policy: Self.policy(mode),
            time: bench.time.source, logger: bench.logger)
    }

    @Test(
        arguments: [
            (.off, .byAgent, 0), (.off, .byRules, 0), (.agent, .byAgent, 1), (.agent, .byRules, 1),
            (.bucket, .byAgent, 1), (.bucket, .byRules, 0),
        ] as [(TierMode, StoreCapabilities.Lifecycle, Int)])
    func `objects are moved here unless nobody is to, or the bucket does it`(
        mode: TierMode, lifecycle: StoreCapabilities.Lifecycle, moved: Int
    ) async throws {
        let bench = try RestoreBench(lifecycle: lifecycle)
        _ = try await bench.add(1, in: .standard)
        await bench.time.advance(by: .seconds(1))
        #expect(try await upkeep(bench, mode).run().moved == moved)
        #expect(bench.store.count(.copy) == moved)
    }

    @Test func `neither projects nor shares are ever moved`() async throws {
        let bench = try RestoreBench()
        for name in ["users/ana/projects/1.jpg", "shares/1/1_0.jpg", "users/ana/vacations/1.json"] {
            try await bench.memory.store([1], at: ObjectKey(name))
        }
        await bench.time.advance(by: .seconds(1))
        #expect(try await upkeep(bench).run().moved == 0)
        #expect(bench.store.count(.copy) == 0)
    }

    @Test func `leftovers are taken back each time, classes asked for once a day`() async throws {
        let bench = try RestoreBench()
        _ = try await bench.add(1)
        for _ in 0..<49 {
            try await upkeep(bench).run()
            await bench.time.advance(by: .seconds(3_600))
        }
        #expect(bench.store.count(.removeLeftovers) == 49)
        #expect(bench.store.lines.filter { $0 == "list users/ana/" }.count == 3)
    }

    @Test func `a clock that was set back does not keep classes from being asked for`() async throws {
        let bench = try RestoreBench()
        try bench.ledger.noteClassesRefreshed(at: bench.time.now.addingTimeInterval(400 * 86_400))
        try await upkeep(bench).run()
        #expect(try bench.ledger.classesRefreshedAt() == bench.time.now)
    }

    @Test func `a pass knows whether it has compared with the store`() async throws {
        let bench = try RestoreBench()
        #expect(try await !upkeep(bench).inspect().isWhole)
        _ = try await bench.add(1, in: .standard)
        bench.store.add(StoreFault(.list, number: 1, .failBefore(.serverFailed)))
        #expect(try await !upkeep(bench).inspect().isWhole)
        #expect(try await upkeep(bench).inspect().isWhole)
    }

    @Test func `what fails does not keep the rest from being done`() async throws {
        let bench = try RestoreBench()
        _ = try await bench.add(1, in: .standard)
        await bench.time.advance(by: .seconds(1))
        bench.store.add(StoreFault(.removeLeftovers, .failBefore(.serverFailed)))
        bench.store.add(StoreFault(.list, .failBefore(.serverFailed)))
        #expect(try await upkeep(bench).run().moved == 1)
    }

    @Test func `neither does an error that no store should throw`() async throws {
        let bench = try RestoreBench()
        _ = try await bench.add(1, in: .standard)
        await bench.time.advance(by: .seconds(1))
        let upkeep = StoreUpkeep(
            store: OddStore(base: bench.store), ledger: bench.queue, keys: try KeyLayout(user: "ana"),
            policy: Self.policy(.agent), time: bench.time.source, logger: bench.logger)
        #expect(try await upkeep.run().moved == 1)
    }

    @Test func `a catalogue that cannot be listed does not keep the day's verification from being noted`() async throws
    {
        let bench = try RestoreBench()
        let keys = try KeyLayout(user: "ana")
        let machine = try bench.ledger.catalogStatus().machine
        bench.store.add(StoreFault(.list, key: keys.catalog + machine + "/", .failBefore(.serverFailed)))
        let upkeep = StoreUpkeep(
            store: TellingStore(base: bench.store), ledger: bench.queue, keys: keys, policy: Self.policy(.off),
            verification: VerificationRule(
                percentPerDay: 1, maximumUSDPerMonth: 1, cost: VerificationCost(prices: nil)),
            time: bench.time.source, logger: bench.logger)
        try await upkeep.run()
        #expect(bench.store.lines.contains("list \(keys.catalog)\(machine)/"))
        #expect(try bench.ledger.verifiedAt() == bench.time.now)
    }

    @Test func `the service works at the start and every hour, and stops when it is told to`() async throws {
        let bench = try RestoreBench()
        let service = UpkeepService(try upkeep(bench), patience: bench.patience, time: bench.time.source)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                await bench.time.waitForSleepers()
                for _ in 0..<2 {
                    await bench.time.advance(by: .seconds(3_600))
                    await bench.time.waitForSleepers()
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(bench.store.count(.removeLeftovers) == 3)
    }
}

/// A store that fails otherwise than stores do.
private struct OddStore: WrappedStore {
    struct Oddity: Error {}

    let base: any ObjectStore

    func removeLeftovers() async throws { throw Oddity() }
}
