import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

@Suite struct RestoreSenderTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench()
    }

    @Test func `what the store takes is being retrieved, in its tier and for its days`() async throws {
        let keys = try await bench.add(3)
        try bench.ask(for: keys, tier: .standard, days: 5)
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving, .retrieving, .retrieving])
        #expect(keys.map { bench.memory.restoreTier($0) } == [.standard, .standard, .standard])
        #expect(try bench.ledger.object(keys[0])?.restore == .inProgress)
    }

    @Test func `one that is being restored already is followed like the others`() async throws {
        let keys = try await bench.add(1)
        _ = try await bench.memory.restore(keys[0], RestoreRequest(days: 7, tier: .bulk))
        try bench.ask(for: keys)
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving])
    }

    @Test func `one that is gone has failed, and stops nobody`() async throws {
        let keys = try await bench.add(3)
        try await bench.memory.delete(keys[1])
        try bench.ask(for: keys)
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving, .failed, .retrieving])
        let reason = try #require(try bench.items()[1].error)
        #expect(reason.contains(keys[1].rawValue) && reason.contains("in a watched folder brings it back"))
    }

    @Test func `one of which the store's record cannot be read has failed, and is not asked for again`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: keys)
        bench.store.add(StoreFault(.restore, key: keys[0].rawValue, .failBefore(.badDigest, isOfRecord: true)))
        bench.store.add(StoreFault(.restore, key: keys[1].rawValue, .failBefore(.badDigest)))
        #expect(try await bench.sender.run() == [.badDigest])
        #expect(try bench.states() == [.failed, .planned])
    }

    @Test func `what we have no permission for has failed, and the reason is handed on`() async throws {
        let keys = try await bench.add(3)
        try bench.ask(for: keys)
        bench.store.add(StoreFault(.restore, key: keys[1].rawValue, .failBefore(.accessDenied)))
        #expect(try await bench.sender.run() == [.accessDenied])
        #expect(try bench.states() == [.retrieving, .failed, .retrieving])
    }

    @Test func `one that is not archived any more can be read`() async throws {
        let keys = try await bench.add(1)
        bench.memory.setClass(.standard, of: keys[0])
        try bench.ask(for: keys)
        try await bench.sender.run()
        #expect(try bench.states() == [.restored])
        #expect(try bench.items()[0].note == "it is in STANDARD and can be read")
    }

    @Test func `without capacity for a fast tier standard is asked for, and that is told`() async throws {
        let keys = try await bench.add(1, in: .glacier)
        bench.store.add(StoreFault(.restore, number: 1, .failBefore(.tierUnavailable)))
        try bench.ask(for: keys, in: .glacier, tier: .expedited)
        try await bench.sender.run()
        let item = try #require(try bench.items().first)
        #expect(item.state == .retrieving)
        #expect(item.tier == .standard)
        #expect(item.note == "expedited is currently unavailable; standard was requested")
        #expect(bench.memory.restoreTier(keys[0]) == .standard)
    }

    @Test func `what was to be said of it before is still said beside that`() async throws {
        let keys = try await bench.add(1, in: .glacier)
        bench.store.add(StoreFault(.restore, number: 1, .failBefore(.tierUnavailable)))
        try bench.ask(for: keys, in: .glacier, tier: .expedited, note: "the stored copy")
        #expect(try bench.items().first?.note == "the stored copy")
        try await bench.sender.run()
        #expect(
            try bench.items().first?.note
                == "the stored copy; expedited is currently unavailable; standard was requested")
    }

    @Test func `a store that has not even standard has refused`() async throws {
        try bench.ask(for: await bench.add(1))
        bench.store.add(StoreFault(.restore, .failBefore(.tierUnavailable)))
        try await bench.sender.run()
        #expect(try bench.states() == [.failed])
        #expect(bench.store.count(.restore) == 2)
    }

    @Test(arguments: [StoreError.Code.unreachable, .credentialsMissing, .credentialsRejected])
    func `an outage loses nothing: what was answered is noted, the rest stays planned`(code: StoreError.Code)
        async throws
    {
        let keys = try await bench.add(100)
        try bench.ask(for: keys)
        bench.store.add(StoreFault(.restore, numbers: 20...(.max), .failBefore(code)))
        await #expect(throws: StoreError.self) { try await bench.sender.run() }
        let counts = Dictionary(grouping: try bench.states(), by: \.self).mapValues(\.count)
        #expect(counts == [.retrieving: 19, .planned: 81])
        // A store that is away is not asked for each of the others.
        #expect(bench.store.count(.restore) <= 19 + 8)
        // Nothing is held up: when it is back, all go out at once.
        try await RestoreSender(
            store: bench.memory, ledger: bench.queue, owner: bench.owner, time: bench.time.source
        ).run()
        #expect(Set(try bench.states()) == [.retrieving])
    }

    @Test(arguments: [StoreError.Code.throttled, .serverFailed, .connectionLost, .conflict])
    func `a failure that may pass does not cost an item: it is sent again half a minute later`(code: StoreError.Code)
        async throws
    {
        let keys = try await bench.add(3)
        try bench.ask(for: keys)
        bench.store.add(StoreFault(.restore, key: keys[1].rawValue, number: 1, .failBefore(code)))
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving, .planned, .retrieving])
        #expect(bench.store.count(.restore) == 3)
        await bench.time.advance(by: .seconds(30))
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving, .retrieving, .retrieving])
        #expect(bench.store.count(.restore) == 4)
    }

    @Test func `a failure that does not pass in a day is one`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        bench.store.add(StoreFault(.restore, .failBefore(.serverFailed)))
        await bench.time.advance(by: .seconds(86_399))
        try await bench.sender.run()
        #expect(try bench.states() == [.planned])
        await bench.time.advance(by: .seconds(31))
        try await bench.sender.run()
        #expect(try bench.states() == [.failed])
    }

    @Test func `a store that is overloaded is not sent the whole album at once`() async throws {
        try bench.ask(for: await bench.add(1_000))
        bench.store.add(StoreFault(.restore, .failBefore(.throttled)))
        try await bench.sender.run()
        #expect(Set(try bench.states()) == [.planned])
        #expect(bench.store.count(.restore) <= 200)
    }

    @Test func `whoever is killed between request and note holds it up for half a minute, and it is sent again`()
        async throws
    {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        let claimed = try bench.ledger.claimPlannedItems(of: nil, limit: 9, by: "another", at: bench.time.now)
        _ = try await bench.memory.restore(keys[0], RestoreRequest(days: 7, tier: .bulk))
        #expect(claimed.count == 1)
        try await bench.sender.run()
        #expect(try bench.states() == [.planned])
        await bench.time.advance(by: .seconds(30))
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving])
        #expect(bench.store.count(.restore) == 1)
    }

    @Test func `what a process had in hand that was killed is sent at once`() async throws {
        let keys = try await bench.add(3)
        try bench.ask(for: keys)
        _ = try bench.ledger.claimPlannedItems(of: nil, limit: 2, by: "\(RestoreBench.ended) 1", at: bench.time.now)
        _ = try bench.ledger.claimPlannedItems(of: nil, limit: 1, by: "another", at: bench.time.now)
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving, .retrieving, .planned])
    }

    @Test func `what was answered before a cancellation is noted, and the rest can be sent at once`() async throws {
        let keys = try await bench.add(30)
        try bench.ask(for: keys)
        let gate = Gate()
        bench.store.add(StoreFault(.restore, numbers: 11...(.max), .hold(gate)))
        let sender = bench.sender
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await sender.run() }
            await gate.waitForArrivals(8)
            group.cancelAll()
            gate.open()
            await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
        let sent = bench.keys(keys, in: .inProgress)
        #expect(sent.count >= 10)
        #expect(try bench.items().filter { $0.state == .retrieving }.map(\.key).sorted() == sent)
        try await bench.sender.run()
        #expect(Set(try bench.states()) == [.retrieving])
        #expect(bench.store.count(.restore) <= 30 + 8)
    }

    @Test func `no more than eight requests are under way, and each item is asked for once`() async throws {
        let keys = try await bench.add(500)
        try bench.ask(for: keys)
        try await bench.sender.run()
        #expect(bench.store.mostInFlight(.restore) <= 8)
        #expect(Set(bench.store.calls.map(\.key)).count == 500)
        #expect(bench.store.calls.count == 500)
    }

    @Test func `agent and command share the work of one job`() async throws {
        try bench.ask(for: await bench.add(450))
        async let agent = bench.sender.run()
        async let command = bench.sender.run()
        _ = try await (agent, command)
        #expect(Set(try bench.states()) == [.retrieving])
        #expect(bench.store.count(.restore) == 450)
    }

    @Test func `only the job that is named is sent`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: [keys[0]])
        try await bench.sender.run(job: bench.ask(for: [keys[1]]))
        #expect(try bench.states() == [.planned, .retrieving])
    }

    @Test func `a clock that was set back does not hold a claim for longer`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        _ = try bench.ledger.claimPlannedItems(
            of: nil, limit: 9, by: "another", at: bench.time.now.addingTimeInterval(86_400))
        try await bench.sender.run()
        #expect(try bench.states() == [.retrieving])
    }
}
