import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

@Suite struct RestoreUpgraderTests {
    private let bench: RestoreBench
    private let upgrader: RestoreUpgrader

    init() throws {
        bench = try RestoreBench()
        upgrader = RestoreUpgrader(store: bench.store, ledger: bench.queue, time: bench.time.source)
    }

    @Test func `a restore that is under way is made faster, with its days`() async throws {
        let keys = try await bench.add(2)
        try await bench.sender.run(job: bench.ask(for: keys, tier: .bulk, days: 3))
        let changes = try await upgrader.run(bench.propose(["Paris"], .tier(.standard), days: 9))
        #expect(changes.map(\.purpose) == [.faster, .faster])
        #expect(changes.allSatisfy { $0.error == nil })
        #expect(keys.map { bench.memory.restoreTier($0) } == [.standard, .standard])
        #expect(try bench.items().map(\.tier) == [.standard, .standard])
    }

    @Test func `a store that makes nothing faster is told of, and the job goes on as it was`() async throws {
        let keys = try await bench.add(1)
        try await bench.sender.run(job: bench.ask(for: keys, tier: .bulk))
        let proposal = try await bench.propose(["Paris"], .tier(.standard))
        _ = try await bench.memory.restore(keys[0], RestoreRequest(days: 7, tier: .standard))
        let changes = try await upgrader.run(proposal)
        #expect(changes.first?.error?.contains("does not make it faster") == true)
        #expect(try bench.items().map(\.state) == [.retrieving])
    }

    @Test func `a readable copy stays for longer, and its job knows`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys, days: 3)
        _ = try await bench.poller.step()
        await bench.time.advance(by: .seconds(48 * 3_600))
        _ = try await bench.poller.step(isUrgent: true)
        let proposal = try await bench.propose(["Paris"], days: 30, extends: true)
        let end = try #require(RestoreRequest(days: 30, tier: .bulk).end(askedAt: bench.time.now))
        #expect(try await upgrader.run(proposal).map(\.error) == [nil])
        #expect(try bench.items().map(\.expiresAt) == [end])
        #expect(try bench.ledger.object(keys[0])?.restore == .restored(until: end))
    }

    @Test func `where a store has standard alone, a readable copy stays for longer by that`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys, tier: .standard, days: 3)
        _ = try await bench.poller.step()
        await bench.time.advance(by: .seconds(48 * 3_600))
        _ = try await bench.poller.step(isUrgent: true)
        let proposal = try await bench.propose(["Paris"], days: 30, extends: true)
        let end = try #require(RestoreRequest(days: 30, tier: .standard).end(askedAt: bench.time.now))
        bench.store.add(StoreFault(.restore, number: 1, .failBefore(.tierUnavailable)))
        #expect(try await upgrader.run(proposal).map(\.error) == [nil])
        #expect(try bench.items().map(\.expiresAt) == [end])
    }

    @Test(arguments: [StoreError.Code.serverFailed, .accessDenied])
    func `one that cannot be changed does not stop the others`(code: StoreError.Code) async throws {
        let keys = try await bench.add(3)
        try await bench.sender.run(job: bench.ask(for: keys, tier: .bulk))
        bench.store.add(StoreFault(.restore, key: keys[1].rawValue, .failBefore(code)))
        let changes = try await upgrader.run(bench.propose(["Paris"], .tier(.standard)))
        #expect(Set(changes.filter { $0.error != nil }.map(\.candidate.key)) == [keys[1]])
        #expect(try bench.items().map(\.tier) == [.standard, .bulk, .standard])
    }

    @Test func `an outage is thrown`() async throws {
        let keys = try await bench.add(1)
        try await bench.sender.run(job: bench.ask(for: keys, tier: .bulk))
        let proposal = try await bench.propose(["Paris"], .tier(.standard))
        bench.store.add(StoreFault(.restore, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await upgrader.run(proposal) }
    }
}
