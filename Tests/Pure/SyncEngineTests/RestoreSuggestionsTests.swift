import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import Testing

@testable import SyncEngine

@Suite struct RestoreSuggestionsTests {
    @Test(arguments: [
        ("2026-11-21T21:40:00Z", 2025, "2025-11-18T00:00:00Z", "2025-11-25T00:00:00Z"),
        ("2026-01-02T00:00:00Z", 2025, "2024-12-30T00:00:00Z", "2025-01-06T00:00:00Z"),
        // A year without its day has the day before.
        ("2028-02-29T12:00:00Z", 2027, "2027-02-25T00:00:00Z", "2027-03-04T00:00:00Z"),
    ])
    func `the same week of an earlier year has seven days around the date`(
        now: String, year: Int, start: String, end: String
    ) throws {
        let week = try #require(RestoreSuggestions.weeks(before: Date(now, strategy: .iso8601)).first)
        #expect(week.year == year)
        #expect(week.week.lowerBound.formatted(.iso8601) == start)
        #expect(week.week.upperBound.formatted(.iso8601) == end)
    }

    @Test func `an empty ledger has nothing to suggest`() async throws {
        let prices = PriceTable(region: "r", asOf: "2026-07", source: "s", classes: [:], egressPerGB: 0)
        let suggestions = RestoreSuggestions(
            ledger: LedgerQueue(try Ledger.inMemory()), prices: prices,
            days: 7)
        #expect(try await suggestions.find(at: Date(timeIntervalSince1970: 1_795_000_000), limit: 9) == [])
    }
}
