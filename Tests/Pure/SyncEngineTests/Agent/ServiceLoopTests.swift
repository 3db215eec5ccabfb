import ServiceLifecycleTestKit
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct ServiceLoopTests {

    private let bench: Bench

    init() throws { bench = try Bench() }

    private var loop: ServiceLoop {
        ServiceLoop(name: "tests", interval: .seconds(5), patience: bench.patience, time: bench.time.source)
    }

    /// Runs rounds until the last of them sleeps, and stops.
    /// - Returns: the pauses after them.
    private func pauses(after rounds: [@Sendable () throws -> ServiceLoop.Next]) async throws -> [Duration] {
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await loop.run(0) { count in
                        defer { count += 1 }
                        return try rounds[min(count, rounds.count - 1)]()
                    }
                }
                await bench.time.waitForSleepers()
                for _ in rounds.dropFirst() {
                    await bench.time.advance(by: bench.time.sleeps.last ?? .zero)
                    await bench.time.waitForSleepers()
                }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        return bench.time.sleeps
    }

    @Test func `a round comes after the pause that the one before asked for`() async throws {
        let pauses = try await pauses(after: [{ .round(after: .seconds(7)) }, { .round(after: .seconds(60)) }])
        #expect(pauses == [.seconds(7), .seconds(60)])
    }

    @Test func `a store that is away is asked less and less often, and as before when it is back`() async throws {
        let isAway: @Sendable () throws -> ServiceLoop.Next = {
            throw StoreError(.serverFailed, operation: "get", message: "away")
        }
        let isBack: @Sendable () throws -> ServiceLoop.Next = { .round(after: .seconds(5)) }
        let pauses = try await pauses(after: [isAway, isAway, isAway, isAway, isAway, isBack, isAway])
        // Jitter is 0.75 of 1, 2, 4, 8 and 16 s, and five seconds the least.
        #expect(pauses == [5, 5, 5, 6, 12, 5, 5].map { .seconds($0) })
    }

    @Test func `what has to be made up is not put off beyond the next regular round`() async throws {
        let pauses = try await pauses(after: [{ .retry(atLeast: .seconds(60), atMost: .seconds(20)) }])
        #expect(pauses == [.seconds(20)])
    }

    @Test func `another error ends the service`() async throws {
        struct Unknown: Error {}
        await #expect(throws: Unknown.self) { try await loop.run { throw Unknown() } }
    }
}
