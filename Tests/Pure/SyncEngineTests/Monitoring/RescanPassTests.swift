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

    @Test func `a whole pass is told once, and not each time that there is nothing to do`() async throws {
        let bench = try Bench()
        try await running(bench) { pipeline in
            pipeline.noteRescan()
            let told = try await eventually("a whole pass", seen: { "none" }) {
                try bench.ledger.overview().lastSyncAt
            }
            // Each time that it sleeps, it has looked at the queue before.
            for _ in 1...3 {
                await bench.time.waitForSleepers()
                await bench.time.advance(by: .seconds(5))
            }
            await bench.time.waitForSleepers()
            #expect(try bench.ledger.overview().lastSyncAt == told)
        }
    }

    @Test func `new files of which nothing is stored make a pass, too`() async throws {
        let bench = try Bench()
        try await running(bench) { pipeline in
            #expect(try bench.ledger.overview().lastSyncAt == nil)
            pipeline.noteSkipped()
            _ = try await eventually("a whole pass", seen: { "none" }) { try bench.ledger.overview().lastSyncAt }
        }
    }

    @Test func `it is none while a photo waits that was refused, and is one when that is stored`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failBefore(.invalidRequest))])
        for name in ["a.jpg", "b.jpg"] { bench.disk.write(name, to: Bench.gallery.appending(name)) }
        try bench.scan()
        try await running(bench) { _ in
            _ = try await eventually("the end of both", seen: { "\(bench.events.all)" }) {
                bench.events.all.count == 2 ? true : nil
            }
            // Each time that it sleeps, it has looked at the queue before.
            for _ in 1...3 {
                await bench.time.waitForSleepers()
                await bench.time.advance(by: .seconds(5))
            }
            #expect(bench.events.summary.uploaded == 1 && bench.events.summary.postponed == 1)
            #expect(try bench.ledger.overview().lastSyncAt == nil)
            _ = try await eventually("a whole pass", seen: { "none" }) {
                await bench.time.advance(by: .seconds(5))
                return try bench.ledger.overview().lastSyncAt
            }
            #expect(try bench.states().values.allSatisfy { $0 == .uploaded })
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

    @Test func `a store that answers, and takes no photos, is not well by a look at it`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, .failBefore(.accessDenied))])
        for name in ["a.jpg", "b.jpg", "c.jpg"] { bench.disk.write(name, to: Bench.gallery.appending(name)) }
        try bench.scan()
        try await running(bench) { pipeline in
            let since = try await eventually("the refusal", seen: { "none" }) {
                try bench.ledger.overview().store?.since
            }
            pipeline.noteRescan()
            // All are tried, one at a time, and then nothing is due: the store is looked at then.
            for _ in 1...60 {
                await bench.time.waitForSleepers()
                await bench.time.advance(by: .seconds(5))
                #expect(try bench.ledger.overview().store?.since == since)
            }
            #expect(try bench.ledger.overview().store?.error?.contains("scripted by the test") == true)
        }
    }
}
