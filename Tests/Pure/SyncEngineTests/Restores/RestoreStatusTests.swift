import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

/// Restores of what stands otherwise than the ledger knows it.
@Suite struct RestoreStatusTests {
    @Test func `days are asked for where the store says that the copy is there, and the ledger that it comes`()
        async throws
    {
        let bench = try RestoreBench(restoresInLists: false)
        let key = try await bench.add("Paris/1.jpg")
        try await bench.sender.run(job: bench.ask(for: [key], days: 3))
        bench.memory.setClass(
            .deepArchive, restore: .restored(until: bench.time.now.addingTimeInterval(86_400)), of: key)
        let proposal = try await bench.propose(["Paris"], days: 60, extends: true)
        #expect(proposal.plan.groups.map(\.purpose) == [.longer])
        #expect(proposal.plan.groups.map(\.request.days) == [60])
        #expect(try bench.states() == [.restored])
    }

    @Test func `days are asked for where nobody tells when the copy ends`() async throws {
        let bench = try RestoreBench()
        let key = try await bench.add("Paris/1.jpg")
        bench.memory.setClass(.deepArchive, restore: .restored(until: nil), of: key)
        #expect(try await bench.propose(["Paris"], days: 60, extends: true).plan.groups.map(\.purpose) == [.longer])
    }

    @Test(arguments: [StorageClass.standardIA, .glacierInstantRetrieval, .intelligentTiering])
    func `what was never archived is not called restored`(storageClass: StorageClass) async throws {
        let bench = try RestoreBench()
        let key = try await bench.add("Paris/1.jpg", in: storageClass)
        let job = try #require(try bench.ask(for: [key], in: storageClass))
        try bench.ledger.note(
            RestoreOutcome(state: .restored), of: bench.items(of: job).map(\.id), at: bench.time.now)
        #expect(try bench.ledger.object(key)?.restore == RestoreState.none)
    }

    @Test func `the copies of a job are counted apart from what was never archived`() async throws {
        let bench = try RestoreBench()
        let cold = try await bench.add("Paris/1.jpg")
        try await bench.add("Paris/2.jpg", in: .standard)
        let end = bench.time.now.addingTimeInterval(86_400)
        bench.memory.setClass(.deepArchive, restore: .restored(until: end), of: cold)
        let job = try #require(try await bench.planner.accept(bench.propose(["Paris"], output: "/out")).job)
        #expect(try bench.ledger.restoreJob(job.id)?.copies == 1)
        try bench.ledger.expireRestores(at: end)
        let summary = try #require(try bench.ledger.restoreJob(job.id))
        #expect(summary.copies == 0)
        #expect(summary.counts == [.restored: 1, .expired: 1])
    }

    @Test func `nothing is asked for where the photo itself stands in the place of its copy`() async throws {
        let bench = try RestoreBench()
        let tree = try TemporaryTree()
        try await bench.add("Paris/1.jpg")
        let missing = try await bench.add("Paris/2.jpg")
        try tree.write("Paris/1.jpg", to: "trips/Paris/1.jpg")
        let proposal = try await bench.propose(["Paris"], output: tree.path("trips"))
        #expect(proposal.plan.skipped.map(\.reason) == [.originalThere(tree.path("trips/Paris/1.jpg"))])
        #expect(proposal.candidates.map(\.key) == [missing])
        let job = try #require(try await bench.planner.accept(proposal).job)
        #expect(try bench.items(of: job.id).map(\.key) == [missing])
    }
}
