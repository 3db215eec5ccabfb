import FoundationEssentials
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCore

@Suite struct RestorePlannerTests {
    private let bench: RestoreBench

    init() throws {
        bench = try RestoreBench()
    }

    private func skips(_ proposal: RestoreProposal) -> [RestoreSkip] { proposal.plan.skipped.map(\.reason) }

    @Test func `an order becomes a job whose items are planned, and nothing is sent yet`() async throws {
        let keys = try await bench.add(3)
        let proposal = try await bench.propose(["Paris"])
        #expect(Set(proposal.candidates.map(\.key)) == Set(keys))
        let job = try #require(try await bench.planner.accept(proposal).job)
        #expect(try bench.items(of: job.id).map(\.state) == [.planned, .planned, .planned])
        #expect(job.estimatedHours == 48)
        #expect(bench.store.count(.restore) == 0)
    }

    @Test func `the estimate is the sum over classes of what Amazon asks for`() async throws {
        let gigabyte = 1 << 30
        try await bench.add("Paris/1.jpg", String(repeating: "x", count: 1_000))
        try await bench.add("Paris/2.jpg", String(repeating: "y", count: 3_000), in: .glacier)
        let proposal = try await bench.propose(["Paris"], .tier(.standard), days: 30)
        let (deep, flexible) = (1_000.0 / Double(gigabyte), 3_000.0 / Double(gigabyte))
        let retrieval = deep * 0.02 + flexible * 0.01 + 0.1 / 1_000 + 0.05 / 1_000
        let rest = (deep + flexible) * (0.03 + 0.09)
        #expect(abs(proposal.estimate.totalUSD - retrieval - rest) < 1e-12)
        #expect(proposal.estimate.hours == 12)
        #expect(proposal.options.map(\.tier) == [.bulk, .standard])
    }

    @Test func `a tier that a class does not have is refused before the store hears of anything`() async throws {
        try await bench.add("Paris/1.jpg", in: .glacier)
        try await bench.add("Paris/2.jpg")
        await #expect(throws: TierNotOffered(storageClass: .deepArchive, tier: .expedited)) {
            try await bench.propose(["Paris"], .tier(.expedited))
        }
        #expect(bench.store.calls == [])
    }

    @Test func `rush takes the fastest tier of each class`() async throws {
        try await bench.add("Paris/1.jpg", in: .glacier)
        try await bench.add("Paris/2.jpg")
        let job = try #require(try await bench.planner.accept(bench.propose(["Paris"], .rush)).job)
        #expect(job.tier == .expedited)
        let items = try bench.items(of: job.id)
        #expect(Set(items.map(\.tier)) == [.expedited, .standard])
        #expect(items.allSatisfy { $0.isRush })
    }

    @Test func `a class that a rule of the bucket has changed is seen`() async throws {
        let key = try await bench.add("Paris/1.jpg", in: .standard)
        bench.memory.setClass(.deepArchive, of: key)
        #expect(try await bench.propose(["Paris"]).candidates.map(\.key) == [key])
        #expect(try bench.ledger.object(key)?.storageClass == .deepArchive)
        await #expect(throws: TierNotOffered.self) { try await bench.propose(["Paris"], .tier(.expedited)) }
        #expect(bench.store.count(.restore) == 0)
    }

    @Test func `asking twice is already retrieving, before it was sent and after`() async throws {
        try await bench.add("Paris/1.jpg")
        let first = try #require(try await bench.planner.accept(bench.propose(["Paris"])).job)
        let planned = try await bench.propose(["Paris"])
        #expect(skips(planned) == [.alreadyRetrieving(.bulk)])
        #expect(try await bench.planner.accept(planned).job == nil)
        try await bench.sender.run(job: first.id)
        #expect(skips(try await bench.propose(["Paris/1.jpg"])) == [.alreadyRetrieving(.bulk)])
    }

    @Test func `of two orders that were weighed at the same time, one gets the objects that both name`() async throws {
        try await bench.add("Paris/1.jpg")
        try await bench.add("Paris/2.jpg")
        let one = try await bench.propose(["Paris/1.jpg"])
        let both = try await bench.propose(["Paris"])
        let again = try await bench.propose(["Paris"])
        var made: [(job: RestoreJob?, collided: [ObjectKey])] = []
        for proposal in [one, both, again] { made.append(try await bench.planner.accept(proposal)) }
        #expect(try made.map { try $0.job.map { try bench.items(of: $0.id).count } } == [1, 1, nil])
        #expect(made.map(\.collided.count) == [0, 1, 2])
    }

    @Test func `what can be read already belongs to a job only where it is to be saved`() async throws {
        let cold = try await bench.add("Paris/1.jpg")
        let warm = try await bench.add("Paris/2.jpg", in: .standard)
        let end = bench.time.now.addingTimeInterval(86_400)
        let back = try await bench.add("Paris/3.jpg")
        bench.memory.setClass(.deepArchive, restore: .restored(until: end), of: back)
        let plain = try await bench.propose(["Paris"])
        #expect(Set(skips(plain)) == [.notArchived(.standard), .alreadyReadable(until: end)])
        let job = try #require(try await bench.planner.accept(bench.propose(["Paris"], output: "/out")).job)
        let states = Dictionary(uniqueKeysWithValues: try bench.items(of: job.id).map { ($0.key, $0) })
        #expect(states[cold]?.state == .planned)
        #expect(states[warm]?.state == .restored)
        #expect(states[back]?.state == .restored)
        #expect(states[back]?.expiresAt == end)
    }

    @Test func `nothing to do makes no job`() async throws {
        try await bench.add("Paris/1.jpg", in: .standard)
        #expect(try await bench.planner.accept(bench.propose(["Paris", "nothing"])).job == nil)
        #expect(try bench.ledger.restoreJobs(limit: 9) == [])
    }

    @Test func `a restore that another machine asked for, and that is over, can be asked for again`() async throws {
        let key = try await bench.add("Paris/1.jpg")
        bench.memory.setClass(.deepArchive, restore: .inProgress, of: key)
        #expect(skips(try await bench.propose(["Paris"])) == [.alreadyRetrieving(nil)])
        bench.memory.setClass(.deepArchive, of: key)
        #expect(try await bench.propose(["Paris"]).candidates.map(\.key) == [key])
    }

    @Test func `where listings tell nothing of restores, a copy that is gone before its time is asked for again`()
        async throws
    {
        let bench = try RestoreBench(restoresInLists: false)
        let key = try await bench.add("Paris/1.jpg")
        let end = bench.time.now.addingTimeInterval(86_400)
        bench.memory.setClass(.deepArchive, restore: .restored(until: end), of: key)
        #expect(skips(try await bench.propose(["Paris"])) == [.alreadyReadable(until: end)])
        bench.memory.setClass(.deepArchive, of: key)
        #expect(try await bench.propose(["Paris"]).candidates.map(\.key) == [key])
        #expect(try bench.ledger.object(key)?.restore == RestoreState.none)
    }

    @Test func `what is gone from the store is a problem, and costs nothing`() async throws {
        let keys = [try await bench.add("Paris/1.jpg"), try await bench.add("Paris/2.jpg")]
        try await bench.memory.delete(keys[0])
        let proposal = try await bench.propose(["Paris"])
        #expect(proposal.candidates.map(\.key) == [keys[1]])
        #expect(proposal.estimate.objects == 1)
        #expect(proposal.problems.map(\.name) == ["/pictures/trips/Paris/1.jpg"])
    }

    @Test func `a faster tier and a longer stay are asked for on purpose`() async throws {
        let slow = try await bench.add("Paris/1.jpg")
        let back = try await bench.add("Paris/2.jpg")
        try await bench.sender.run(job: bench.ask(for: [slow], tier: .bulk, days: 3))
        bench.memory.setClass(
            .deepArchive, restore: .restored(until: bench.time.now.addingTimeInterval(86_400)), of: back)
        let proposal = try await bench.propose(["Paris"], .tier(.standard), days: 10, extends: true)
        let groups = Dictionary(uniqueKeysWithValues: proposal.plan.groups.map { ($0.purpose, $0.request) })
        #expect(
            groups == [
                .faster: RestoreRequest(days: 3, tier: .standard), .longer: RestoreRequest(days: 10, tier: .bulk),
            ])
        #expect(try await bench.planner.accept(proposal).job == nil)
    }

    @Test func `a large album is weighed with one listing for each thousand`() async throws {
        _ = try await bench.add(1_200)
        let proposal = try await bench.propose(["Paris"])
        #expect(proposal.candidates.count == 1_200)
        #expect(bench.store.calls.map(\.operation) == [.list, .list])
    }
}
