import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import Testing

/// How jobs get to their end. When the store is asked is told by `RestorePollerTimesTests`.
@Suite struct RestorePollerTests {
    /// The store fixes how long a restore takes: a minute.
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true)
    }

    private func step(after seconds: Int = 0, urgent: Bool = false) async throws {
        await bench.time.advance(by: .seconds(seconds))
        _ = try await bench.poller.step(isUrgent: urgent)
    }

    @Test func `a job goes from planned to restored to expired`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: keys, days: 1)
        try await step()
        #expect(try bench.states() == [.retrieving, .retrieving])
        try await step(after: 60)
        #expect(try bench.states() == [.restored, .restored])
        let end = try #require(try bench.items()[0].expiresAt)
        #expect(try bench.ledger.object(keys[0])?.restore == .restored(until: end))
        try await step(after: Int(end.timeIntervalSince(bench.time.now)))
        #expect(try bench.states() == [.expired, .expired])
        #expect(try bench.ledger.object(keys[0])?.restore == RestoreState.none)
    }

    @Test func `when the next round is due is told, and nothing when no job is open`() async throws {
        #expect(try await bench.poller.step().next == nil)
        try bench.ask(for: await bench.add(1))
        let due = try #require(try await bench.poller.step().next)
        #expect(due > bench.time.now)
        #expect(due <= bench.time.now.addingTimeInterval(60))
        await bench.time.advance(by: .seconds(60))
        #expect(try await bench.poller.step().next == nil)
    }

    @Test func `several jobs are looked at with one listing`() async throws {
        let keys = try await bench.add(40)
        for index in 0..<4 { try bench.ask(for: Array(keys[index * 10..<index * 10 + 10])) }
        try await step()
        try await step(after: 60)
        #expect(Set(try bench.states()) == [.restored])
        #expect(bench.store.count(.list) == 1)
        #expect(bench.store.count(.head) == 0)
    }

    @Test func `an object that is gone has failed`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: keys)
        try await step()
        try await bench.memory.delete(keys[0])
        try await step(after: 60)
        #expect(try bench.states() == [.failed, .restored])
        #expect(
            try bench.items()[0].error
                == "nothing is stored under \(keys[0]) any more; any copy of the photo in a watched folder brings it "
                + "back (sync-agent sync), or a backup of the store")
    }

    @Test func `what the store's own record says of an object ends its restore at once`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(3_600), tellsDuration: true, restoresInLists: false)
        let keys = try await bench.add(2)
        try bench.ask(for: keys)
        _ = try await bench.poller.step()
        bench.store.add(StoreFault(.head, key: keys[0].rawValue, .failBefore(.badDigest, isOfRecord: true)))
        bench.store.add(StoreFault(.head, key: keys[1].rawValue, .failBefore(.badDigest)))
        await bench.time.advance(by: .seconds(60))
        let refused = try await bench.poller.step(isUrgent: true).unanswered
        #expect(refused.map(\.key) == [keys[1].rawValue])
        #expect(try bench.states() == [.failed, .retrieving])
    }

    @Test func `an object that one request does not find, and a listing has, is looked at again`() async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true, restoresInLists: false)
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        _ = try await bench.poller.step()
        bench.store.add(StoreFault(.head, numbers: 1...2, .sayAbsent))
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.poller.step(isUrgent: true)
        #expect(try bench.states() == [.retrieving])
        #expect(try bench.ledger.object(keys[0])?.problem == nil)
        _ = try await bench.poller.step(isUrgent: true)
        #expect(try bench.states() == [.restored])
    }

    @Test(arguments: [StoreError.Code.unsupported, .invalidRequest, .tooLarge, .notFound])
    func `a look that is refused ends no restore before it is long overdue`(code: StoreError.Code) async throws {
        let bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true, restoresInLists: false)
        let keys = try await bench.add(2)
        try bench.ask(for: keys)
        _ = try await bench.poller.step()
        bench.store.add(StoreFault(.head, key: keys[0].rawValue, number: 1, .failBefore(code)))
        bench.store.add(StoreFault(.head, key: keys[1].rawValue, .failBefore(code)))
        await bench.time.advance(by: .seconds(60))
        let refused = try await bench.poller.step(isUrgent: true).unanswered
        #expect(refused.map(\.code) == [code, code] && refused.map(\.key) == keys.map(\.rawValue))
        #expect(try bench.states() == [.retrieving, .retrieving])
        await bench.time.advance(by: .seconds(200))
        #expect(try await bench.poller.step(isUrgent: true).unanswered.isEmpty)
        #expect(try bench.states() == [.restored, .failed])
    }

    @Test func `one that was moved out of the archive can be read for good`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        try await step()
        bench.memory.setClass(.standard, of: keys[0])
        try await step(after: 60)
        #expect(try bench.states() == [.restored])
        #expect(try bench.items()[0].expiresAt == nil)
    }

    @Test func `a restore of which the store knows nothing has failed, when it is long overdue`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        try await step()
        bench.memory.setClass(.deepArchive, of: keys[0])
        try await step(after: 60)
        #expect(try bench.states() == [.retrieving])
        try await step(after: 200)
        #expect(try bench.states() == [.failed])
        #expect(try bench.items()[0].error == "the store no longer knows of this restore; ask for it again")
    }

    @Test func `one that the store still works on is not given up, however long it takes`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        try await step()
        bench.memory.setClass(.deepArchive, restore: .inProgress, of: keys[0])
        try await step(after: 100 * 86_400)
        #expect(try bench.states() == [.retrieving])
    }

    @Test func `an agent that was off until the copies had ended says so`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys, days: 1)
        try await step()
        try await step(after: 5 * 86_400)
        #expect(try bench.states() == [.failed])
    }

    @Test func `an answer that fails for now changes nothing, and one key of many does not hold up the others`()
        async throws
    {
        let bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true, restoresInLists: false)
        let keys = try await bench.add(3)
        try bench.ask(for: keys)
        _ = try await bench.poller.step()
        bench.store.add(StoreFault(.head, key: keys[1].rawValue, numbers: 1...2, .failBefore(.serverFailed)))
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.poller.step()
        #expect(try bench.states() == [.restored, .retrieving, .restored])
        await bench.time.advance(by: .seconds(30))
        _ = try await bench.poller.step(isUrgent: true)
        _ = try await bench.poller.step(isUrgent: true)
        #expect(try bench.states() == [.restored, .restored, .restored])
    }

    @Test func `an outage is thrown, and the next look begins where it would have been`() async throws {
        try bench.ask(for: await bench.add(3))
        try await step()
        bench.store.add(StoreFault(.list, number: 1, .failBefore(.unreachable)))
        await #expect(throws: StoreError.self) { try await step(after: 60) }
        try await step()
        #expect(Set(try bench.states()) == [.restored])
    }

    @Test func `requests that cannot be sent do not keep what is retrieved from being seen`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: [keys[0]])
        try await step()
        try bench.ask(for: [keys[1]])
        bench.store.add(StoreFault(.restore, .failBefore(.noSpace)))
        await #expect(throws: StoreError.self) { try await step(after: 60) }
        #expect(try bench.states() == [.restored, .planned])
    }

    @Test func `killed after each call of the store, a job still comes to its end, and nothing is asked for twice`()
        async throws
    {
        let keys = try await bench.add(20)
        try bench.ask(for: keys)
        for _ in 0..<200 where Set(try bench.states()) != [.restored] {
            // The third call never comes back: the process is gone, with all that it did not note.
            let gate = Gate()
            let store = FaultyStore(
                bench.store,
                faults: [StoreOperation.restore, .head, .list].map { StoreFault($0, numbers: 3...(.max), .hold(gate)) })
            let poller = RestorePoller(
                store: store, ledger: bench.queue,
                sender: RestoreSender(
                    store: store, ledger: bench.queue, owner: bench.owner, time: bench.time.source),
                interval: RestoreBench.interval, time: bench.time.source)
            await withThrowingTaskGroup(of: Void.self) { group in
                let ended = Wakeup()
                group.addTask {
                    defer { ended.signal() }
                    _ = try await poller.step()
                }
                group.addTask {
                    await gate.waitForArrivals(1)
                    ended.signal()
                }
                await ended.wait(atMost: nil, time: bench.time.source)
                group.cancelAll()
                gate.open()
                await gate.pass()
                while let _ = try? await group.next() {}
            }
            await bench.time.advance(by: .seconds(31))
        }
        #expect(Set(try bench.states()) == [.restored])
        // Eight at most were under way at each death.
        #expect(bench.keys(keys, in: .inProgress) == [])
    }

    @Test func `agent and command follow one job to its end`() async throws {
        let job = try #require(try bench.ask(for: await bench.add(300)))
        let (agent, command) = (bench.poller, bench.poller)
        for seconds in [0, 60] {
            await bench.time.advance(by: .seconds(seconds))
            async let one = agent.step()
            async let other = command.step(job: job)
            _ = try await (one, other)
        }
        #expect(try bench.states() == Array(repeating: .restored, count: 300))
        #expect(bench.store.count(.restore) == 300)
    }

    @Test func `a clock that was set back loses nothing`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys)
        await bench.time.advance(by: .seconds(7_200))
        try await step()
        let late = bench.time.source
        let early = TimeSource(
            now: { late.now().addingTimeInterval(-3_600) }, monotonic: late.monotonic, sleep: late.sleep,
            random: late.random)
        await bench.time.advance(by: .seconds(60))
        _ = try await RestorePoller(
            store: bench.store, ledger: bench.queue,
            sender: RestoreSender(store: bench.store, ledger: bench.queue, owner: bench.owner, time: early),
            interval: RestoreBench.interval, time: early
        ).step()
        #expect(try bench.states() == [.restored])
    }
}
