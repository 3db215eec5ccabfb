import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import Testing

@Suite struct ClockCheckTests {
    private let bench: RetentionBench
    private let check: ClockCheck

    init() throws {
        bench = try RetentionBench()
        check = ClockCheck(bench.ledger)
    }

    private func after(days: Double) -> Date { bench.start.addingTimeInterval(days * 86_400) }

    @Test func `nothing speaks against a clock when nothing is known`() throws {
        #expect(try check.doubt(at: bench.start) == nil)
    }

    @Test func `a clock long after the newest file is doubted, until something newer is there`() async throws {
        try bench.write(bench.event("e1"), to: "one.json")
        try await bench.sync()
        #expect(try check.doubt(at: after(days: 364)) == nil)
        let doubt = try #require(try check.doubt(at: after(days: 3_650)))
        #expect("\(doubt)".contains("nothing seen here is newer than"))
        #expect("\(doubt)".hasSuffix("sync-agent cleanup --trust-clock"))
        // An event of that time is evidence, too; one beyond it is none.
        try bench.write(bench.event("e2", age: -3_640), to: "two.json")
        try await bench.sync()
        #expect(try check.doubt(at: after(days: 3_650)) == nil)
        #expect(try check.doubt(at: after(days: 3_000)) != nil)
    }

    @Test func `a clock before the last cleanup is doubted, and an hour is not`() throws {
        try check.accept(at: after(days: 100))
        #expect(try check.doubt(at: after(days: 99.5)) == nil)
        let doubt = try #require(try check.doubt(at: after(days: 90)))
        #expect("\(doubt)".contains("the last cleanup was on"))
    }

    @Test func `what a person says of the clock counts from then on`() async throws {
        try bench.write(bench.event("e1"), to: "one.json")
        try await bench.sync()
        try check.accept(at: after(days: 3_650))
        #expect(try check.doubt(at: after(days: 3_700)) == nil)
        try check.accept(at: after(days: 10))
        #expect(try check.doubt(at: after(days: 11)) == nil)
    }
}
