import Logging
import ServiceLifecycleTestKit
import SyncCore
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncEngine
@testable import SyncLedger

@Suite struct ServiceLoopTests {

    private let bench: Bench

    init() throws { bench = try Bench() }

    private var loop: ServiceLoop { makeLoop(bench.patience) }

    private func makeLoop(_ patience: LedgerPatience) -> ServiceLoop {
        ServiceLoop(name: "tests", interval: .seconds(5), patience: patience, time: bench.time.source)
    }

    /// Runs rounds until the last of them sleeps, and stops.
    /// - Returns: the pauses after them.
    private func pauses(
        after rounds: [@Sendable () throws -> ServiceLoop.Next], _ patience: LedgerPatience? = nil
    ) async throws -> [Duration] {
        let loop = makeLoop(patience ?? bench.patience)
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

    @Test func `a round that left nothing to be done comes again when the ledger may have changed`() async throws {
        let glance = await loop.glance()
        let pauses = try await pauses(
            after: [{ .change(since: glance, every: .seconds(7)) }, { .round(after: .seconds(60)) }])
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

    @Test func `an error that no round should let out is told once with the name, and the round is tried again`()
        async throws
    {
        struct Unknown: Error {}
        let lines = LogLines(from: .warning)
        let patience = LedgerPatience(ledger: LedgerQueue(bench.ledger), time: bench.time.source, logger: lines.logger)
        let fails: @Sendable () throws -> ServiceLoop.Next = { throw Unknown() }
        let works: @Sendable () throws -> ServiceLoop.Next = { .round(after: .seconds(7)) }
        let pauses = try await pauses(after: [fails, fails, works, fails], patience)
        #expect(pauses == [5, 5, 7, 5].map { .seconds($0) })
        let told = lines.all
        #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("tests: Unknown()") })
    }

    @Test(arguments: [LedgerError.Code.damaged, .moved, .newerSchema])
    func `a ledger that waiting does not mend ends the service`(code: LedgerError.Code) async throws {
        let error = LedgerError(code: code, operation: "read", path: "", message: "scripted by the test")
        await #expect(throws: error) { try await loop.run { throw error } }
    }

    @Test func `who is told to stop stops, in the middle of a round, too`() async throws {
        try await loop.run { throw CancellationError() }
        #expect(bench.time.sleeps == [])
    }

    @Test func `what fails for one of many is told from what fails for all`() {
        struct Unknown: Error {}
        let one: [any Error] = [
            Unknown(), StoreError(.badDigest, operation: "get", message: ""),
            StoreError(.accessDenied, operation: "get", message: ""),
        ]
        let all: [any Error] = [
            CancellationError(), StoreError(.unreachable, operation: "get", message: ""),
            LedgerError(code: .noSpace, operation: "commit", path: "", message: ""),
        ]
        #expect(one.allSatisfy { $0.mayConcernOneItem } && !all.contains { $0.mayConcernOneItem })
    }
}
