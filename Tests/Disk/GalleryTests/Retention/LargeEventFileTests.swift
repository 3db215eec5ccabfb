import SyncLedger
import SyncSystem
import SyncTestSupport
import Testing

@testable import SyncEngine

/// Files of which a batch holds a few events only.
@Suite struct LargeEventFileTests {
    @Test func `a file of many events is not written anew for each few of them`() async throws {
        let bench = try RetentionBench()
        let events = (0..<64).map { bench.event("e\($0)", age: Double(200 - $0)) }
        try bench.write("[\(events.joined(separator: ","))]", to: "all.json")
        try await bench.sync()
        let (system, exchanges) = (FileRewriteCalls(), Lock(0))
        var calls = FileRewriteCalls()
        calls.exchange = { one, other in
            exchanges.withLock { $0 += 1 }
            return try system.exchange(one, other)
        }
        let summary = try await bench.retention(calls: calls, batchSize: 2).run(olderThan: 90)
        #expect(summary.deleted == 64 && summary.errors.isEmpty && summary.skipped.isEmpty)
        #expect(try bench.files() == [])
        // Of 2, 4, 8, 16, 32, and the last 2.
        #expect(exchanges.withLock { $0 } == 6)
        #expect(try bench.ledger.check() == [])
    }

    @Test func `where a file holds few events the batches stay as they are`() async throws {
        let bench = try RetentionBench()
        for number in 0..<8 { try bench.write(bench.event("e\(number)", age: 100), to: "\(number).json") }
        try await bench.sync()
        let ledger = LedgerQueue(bench.ledger)
        let now = bench.start
        let batches = DueEventBatches(ledger: ledger, least: 3, most: 16_384) {
            try $0.dueEvents(createdBefore: now, after: $1, limit: $2)
        }
        var sizes: [Int] = []
        for try await batch in batches { sizes.append(batch.count) }
        #expect(sizes == [3, 3, 2])
    }
}
