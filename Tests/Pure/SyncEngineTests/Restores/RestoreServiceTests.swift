import FoundationEssentials
import ServiceLifecycleTestKit
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RestoreServiceTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true)
    }

    /// Runs the service while the test does something, then shuts it down gracefully.
    private func serve(_ body: () async throws -> Void) async throws {
        let service = bench.service
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                await bench.time.waitForSleepers()
                try await body()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    private func advance(by seconds: Int) async {
        for _ in 0..<seconds / 5 {
            await bench.time.advance(by: .seconds(5))
            await bench.time.waitForSleepers()
        }
    }

    @Test func `a round sends, looks and tells`() async throws {
        try bench.ask(for: await bench.add(2))
        try await bench.service.round(isUrgent: true)
        #expect(try bench.states() == [.retrieving, .retrieving])
        await bench.time.advance(by: .seconds(60))
        try await bench.service.round(isUrgent: true)
        #expect(bench.listener.kinds == [.restoreReady])
    }

    @Test func `a job that a command makes is carried out by the agent, and its end is told`() async throws {
        try await serve {
            try bench.ask(for: await bench.add(3))
            await advance(by: 90)
        }
        #expect(try bench.states() == [.restored, .restored, .restored])
        #expect(bench.listener.kinds == [.restoreReady])
    }

    @Test func `it stops when it is told to, and the next start goes on`() async throws {
        try bench.ask(for: await bench.add(1))
        try await serve {}
        #expect(try bench.states() == [.retrieving])
        try await serve { await advance(by: 90) }
        #expect(try bench.states() == [.restored])
    }

    @Test func `it survives an outage, and asks seldom as long as it lasts`() async throws {
        try bench.ask(for: await bench.add(100))
        bench.store.add(StoreFault(.restore, .failBefore(.unreachable)))
        try await serve { await advance(by: 600) }
        // Pauses that grow to some minutes, and no more than eight requests after each.
        #expect(bench.store.count(.restore) <= 8 * 8)
        #expect(Set(try bench.states()) == [.planned])
    }

    @Test func `when the store is back, everything goes on by itself`() async throws {
        try bench.ask(for: await bench.add(20))
        bench.store.add(StoreFault(.restore, numbers: 1...3, .failBefore(.unreachable)))
        try await serve { await advance(by: 300) }
        #expect(Set(try bench.states()) == [.restored])
        #expect(bench.listener.kinds == [.restoreReady])
    }

    @Test func `with nothing to do it asks the store for nothing`() async throws {
        _ = try await bench.add(3)
        try await serve { await advance(by: 3_600) }
        #expect(bench.store.calls == [])
    }

    @Test func `what cannot be saved is not tried every few seconds, and the job's end is told`() async throws {
        try bench.ask(for: await bench.add(2), output: "/proc/no/such/folder")
        try await serve { await advance(by: 1_800) }
        #expect(try bench.states() == [.restored, .restored])
        #expect(bench.store.count(.get) <= 4)
        #expect(bench.listener.kinds == [.restoreFailed])
        #expect(
            bench.listener.notices.first?.message
                == "2 of 2 photos can be read; 2 could not be saved in /proc/no/such/folder. sync-agent restores 1 says why."
        )
    }
}
