import Foundation
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
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

    @Test func `a clock long after all that was done is doubted, and nothing that others have dated ends that`()
        async throws
    {
        try bench.write(bench.event("e1"), to: "one.json")
        try await bench.sync()
        #expect(try check.doubt(at: after(days: 364)) == nil)
        let doubt = try #require(try check.doubt(at: after(days: 3_650)))
        #expect("\(doubt)".contains("nothing here proves a later day than"))
        #expect("\(doubt)".hasSuffix("sync-agent cleanup --trust-clock"))
        // Whoever dates an event may date it in the future.
        try bench.write(bench.event("e2", age: -3_640), to: "two.json")
        try await bench.sync()
        for days in [3_000.0, 3_650] { #expect(try check.doubt(at: after(days: days)) != nil) }
    }

    @Test func `what was done after the clock had jumped does not prove it right`() async throws {
        try bench.write(bench.event("e1"), to: "one.json")
        try await bench.sync()
        await bench.time.advance(by: .seconds(3_650 * 86_400))
        try bench.write(bench.event("e2", age: -3_640), to: "two.json")
        try await bench.sync()
        #expect(try check.doubt(at: bench.time.now) != nil)
        try check.accept(at: bench.time.now)
        #expect(try check.doubt(at: bench.time.now) == nil)
    }

    @Test func `a machine that works each year and never cleans up is not doubted`() async throws {
        for year in 0..<3 {
            if year > 0 { await bench.time.advance(by: .seconds(300 * 86_400)) }
            try bench.write(bench.event("e\(year)", age: Double(-300 * year)), to: "\(year).json")
            try await bench.sync()
        }
        #expect(try check.doubt(at: bench.time.now) == nil)
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
