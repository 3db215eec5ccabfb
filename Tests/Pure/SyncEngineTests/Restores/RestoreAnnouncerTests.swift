import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RestoreAnnouncerTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench(restoreDuration: .seconds(60), tellsDuration: true)
    }

    private func run(after seconds: Double = 0) async throws {
        await bench.time.advance(by: .seconds(seconds))
        _ = try await bench.poller.step()
        // A new one each time, as after a restart.
        try await bench.announcer.run()
    }

    /// To so long before the first copy ends.
    private func run(beforeExpiry seconds: Double) async throws {
        let end = try #require(try bench.ledger.restoreJobs(limit: 1).first?.earliestExpiry)
        try await run(after: end.timeIntervalSince(bench.time.now) - seconds)
    }

    @Test func `the end of a job is told once`() async throws {
        try bench.ask(for: await bench.add(2))
        try await run()
        #expect(bench.listener.kinds == [])
        try await run(after: 60)
        try await run()
        #expect(bench.listener.kinds == [.restoreReady])
        let notice = try #require(bench.listener.notices.first)
        #expect(notice.message == "2 of 2 photos can be read.")
        #expect(notice.facts == ["jobId": "1", "ready": "2", "failed": "0", "output": ""])
        #expect(try bench.ledger.restoreJobs(limit: 1).first?.job.finishedAt == bench.time.now)
    }

    @Test func `of many jobs every one is told of`() async throws {
        for key in try await bench.add(150) { try bench.ask(for: [key]) }
        try await run()
        try await run(after: 60)
        #expect(Set(bench.listener.notices.map { $0.facts["jobId"] }).count == 150)
    }

    @Test func `agent and command at the same time tell it once`() async throws {
        try bench.ask(for: await bench.add(1))
        try await run()
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.poller.step()
        let announcers = (0..<8).map { _ in bench.announcer }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for announcer in announcers { group.addTask { try await announcer.run() } }
            try await group.waitForAll()
        }
        #expect(bench.listener.kinds == [.restoreReady])
    }

    @Test func `what could not be brought back is told, and where to look`() async throws {
        let keys = try await bench.add(2)
        try bench.ask(for: keys)
        try await run()
        try await bench.memory.delete(keys[0])
        try await run(after: 60)
        #expect(bench.listener.kinds == [.restoreFailed])
        #expect(
            bench.listener.notices.first?.message
                == "1 of 2 photos can be read; 1 could not be brought back. sync-agent restores 1 says why.")
    }

    @Test func `a job of which nothing came is told too`() async throws {
        let keys = try await bench.add(1)
        try await bench.memory.delete(keys[0])
        try bench.ask(for: keys)
        try await run()
        #expect(bench.listener.notices.first?.message.hasPrefix("Its photo could not be brought back") == true)
        #expect(bench.listener.notices.first?.title == "Restore 1: 1 photo failed")
    }

    @Test func `copies that end soon are told of once`() async throws {
        try bench.ask(for: await bench.add(2), days: 30)
        try await run()
        try await run(after: 60)
        try await run(beforeExpiry: 86_500)
        #expect(bench.listener.kinds == [.restoreReady])
        try await run(beforeExpiry: 86_300)
        try await run()
        try await run(beforeExpiry: 100)
        #expect(bench.listener.kinds == [.restoreReady, .restoreExpiring])
        try await run(after: 100)
        #expect(bench.listener.kinds == [.restoreReady, .restoreExpiring])
    }

    @Test func `copies that stay for one day are told of in the last quarter of it`() async throws {
        try bench.ask(for: await bench.add(1), days: 1)
        try await run()
        try await run(after: 60)
        try await run(beforeExpiry: 40_000)
        #expect(bench.listener.kinds == [.restoreReady])
        try await run(beforeExpiry: 20_000)
        #expect(bench.listener.kinds == [.restoreReady, .restoreExpiring])
    }

    @Test func `who saved everything needs no warning, and the job is over only then`() async throws {
        try bench.ask(for: await bench.add(2), output: "/out")
        try await run()
        try await run(after: 60)
        #expect(bench.listener.kinds == [])
        for item in try bench.items() { try bench.ledger.noteSaved(item.id, at: bench.time.now) }
        try await run()
        #expect(bench.listener.notices.map(\.message) == ["2 of 2 photos can be read; 2 are saved in /out."])
        try await run(beforeExpiry: 100)
        #expect(bench.listener.kinds == [.restoreReady])
    }

    /// A job of two photos that can be read, and are to be saved.
    private func makeTwoReadable() async throws -> [RestoreItem] {
        try bench.ask(for: await bench.add(2), output: "/out")
        try await run()
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.poller.step()
        return try bench.items()
    }

    private func end(_ item: RestoreItem) throws {
        try bench.ledger.note(RestoreOutcome(state: .expired), of: [item.id], at: bench.time.now)
    }

    @Test func `a copy that ended before it was saved is told of, also where as many others are saved`() async throws {
        let items = try await makeTwoReadable()
        try bench.ledger.noteSaved(items[0].id, at: bench.time.now)
        try end(items[1])
        try await run()
        #expect(bench.listener.kinds == [.restoreFailed])
        #expect(
            bench.listener.notices.map(\.message) == [
                "1 of 2 photos can be read; 1 is saved in /out; 1 copy has ended already."
            ])
    }

    @Test func `the end of a copy that was saved ends no job of which another one is to be saved`() async throws {
        let items = try await makeTwoReadable()
        try bench.ledger.noteSaved(items[0].id, at: bench.time.now)
        try end(items[0])
        try await run()
        #expect(bench.listener.kinds == [])
        try await run(beforeExpiry: 100)
        #expect(bench.listener.kinds == [.restoreExpiring])
        #expect(bench.listener.notices.first?.facts["photos"] == "1")
    }

    @Test func `photos whose copies have ended are not said to be readable`() async throws {
        try bench.ask(for: await bench.add(2), days: 1)
        try await run()
        await bench.time.advance(by: .seconds(60))
        _ = try await bench.poller.step()
        // The agent is off from here on.
        try await run(after: 10 * 86_400)
        #expect(
            bench.listener.notices.map(\.message) == ["2 copies have ended already."])
    }

    @Test func `an end that was put off is told of again`() async throws {
        let keys = try await bench.add(1)
        try bench.ask(for: keys, days: 3)
        try await run()
        try await run(after: 60)
        try await run(beforeExpiry: 3_600)
        let upgrader = RestoreUpgrader(store: bench.store, ledger: bench.queue, time: bench.time.source)
        _ = try await upgrader.run(bench.propose(["Paris"], days: 10, extends: true))
        try await run()
        #expect(bench.listener.kinds == [.restoreReady, .restoreExpiring])
        try await run(beforeExpiry: 3_600)
        #expect(bench.listener.kinds == [.restoreReady, .restoreExpiring, .restoreExpiring])
    }
}
