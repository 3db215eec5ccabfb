import FoundationEssentials
import ServiceLifecycle
import ServiceLifecycleTestKit
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct RescanPassTests {
    /// Runs the pipeline of an agent while `body` plays with it.
    private func running(_ bench: Bench, _ body: @Sendable (PhotoPipeline) async throws -> Void) async throws {
        let pipeline = try bench.makePipeline()
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pipeline.run(.untilStopped) }
                try await body(pipeline)
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    @Test func `reading all folders anew without finding anything is a whole pass`() async throws {
        let bench = try Bench()
        try await running(bench) { pipeline in
            #expect(try bench.ledger.overview().lastSyncAt == nil)
            pipeline.noteRescan()
            _ = try await eventually("a whole pass", seen: { "none" }) { try bench.ledger.overview().lastSyncAt }
        }
        #expect(try bench.ledger.overview().store?.error == nil)
    }

    @Test func `new files of which nothing is stored make a pass, too`() async throws {
        let bench = try Bench()
        try await running(bench) { pipeline in
            #expect(try bench.ledger.overview().lastSyncAt == nil)
            pipeline.noteSkipped()
            _ = try await eventually("a whole pass", seen: { "none" }) { try bench.ledger.overview().lastSyncAt }
        }
    }

    @Test func `it is none while the store is away`() async throws {
        let bench = try Bench(faults: [StoreFault(.check, numbers: 2...Int.max, .failBefore(.unreachable))])
        try await running(bench) { pipeline in
            _ = try await eventually("the first look", seen: { "none" }) { try bench.ledger.overview().store }
            pipeline.noteRescan()
            _ = try await eventually("the outage", seen: { "none" }) { try bench.ledger.overview().store?.error }
            #expect(try bench.ledger.overview().lastSyncAt == nil)
        }
    }
}
