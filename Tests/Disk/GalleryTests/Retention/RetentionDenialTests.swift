import FoundationEssentials
import SyncCore
import SyncLedger
import SyncTestSupport
import Testing

@testable import SyncEngine

@Suite struct RetentionDenialTests {
    @Test func `an event whose photo the store denied is looked after behind all others`() async throws {
        let bench = try RetentionBench()
        for number in 0..<3 {
            try bench.write(bench.event("e\(number)", photo: try RetentionBench.photo(number)), to: "\(number).json")
        }
        try await bench.sync()
        let denied = try bench.key("e0")
        try bench.ledger.noteDenial(denied, of: .cleanup, at: bench.time.now)
        let summary = try await bench.cleanUp()
        #expect((summary.archived, summary.deleted) == (3, 3) && summary.errors.isEmpty)
        let archive = try Set((0..<3).map { try bench.key("e\($0)").rawValue })
        let puts = bench.store.calls.filter { $0.operation == .put && archive.contains($0.key) }.map(\.key)
        #expect(puts.count == 3 && puts.last == denied.rawValue)
        #expect(try bench.ledger.denials(of: .cleanup) == [:])
    }

    @Test func `what a cleanup is denied is noted for the next one`() async throws {
        let bench = try RetentionBench()
        try bench.write(bench.event("e0", photo: try RetentionBench.photo(0)), to: "0.json")
        try await bench.sync()
        let key = try bench.key("e0")
        bench.store.add(StoreFault(.put, key: key.rawValue, number: 1, .failBefore(.accessDenied)))
        #expect(try await bench.cleanUp().errors.count == 1)
        #expect(try bench.ledger.denials(of: .cleanup).keys.elementsEqual([key]))
        #expect(try await bench.cleanUp().archived == 1)
        #expect(try bench.ledger.denials(of: .cleanup) == [:])
    }
}
