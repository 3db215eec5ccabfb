import FoundationEssentials
import SyncConfig
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct CostViewTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let gigabyte: Int64 = 1 << 30

    private func report(_ loads: [StoredLoad], hints: [SuggestionReport.Album] = []) throws -> CostReport {
        let prices = try PriceFile.table()
        return CostReport(
            StorageCost(of: loads, restoreDays: 30, prices: prices), prices: prices, isBilled: true, refreshedAt: now,
            restoreDays: 30, hints: hints)
    }

    private func lines(_ report: CostReport, isEmbedded: Bool = false) -> [String] {
        CostView(report: report, terminal: .standardOutput(["TERM": "dumb"]), now: now, isEmbedded: isEmbedded).lines
    }

    @Test func `the bill is that of a hand calculation`() throws {
        let report = try report([
            StoredLoad(
                storageClass: .deepArchive, objects: 1_024, bytes: 100 * gigabyte, youngObjects: 10,
                youngBytes: gigabyte),
            StoredLoad(storageClass: .standard, objects: 10, bytes: 10 * gigabyte),
        ])
        // 100 GB and 32 KiB of index for each object at 0.00099, 8 KiB each at 0.023; 10 GB at 0.023.
        let archive = (100 + 1_024 * 32 / 1_048_576.0) * 0.00099 + 1_024 * 8 / 1_048_576.0 * 0.023
        #expect(report.classes.map(\.monthlyUSD) == [archive.roundedUSD, 0.23])
        #expect(abs(report.monthlyUSD - archive - 0.23) < 0.000_001)
        #expect(abs(report.savedMonthlyUSD - (2.3 - archive)) < 0.000_001)
        #expect(report.inMinimumPeriod.objects == 10 && report.inMinimumPeriod.bytes == gigabyte)
        #expect(report.fullRestore.map(\.tier) == ["bulk", "standard"])
        #expect(report.fullRestore.map(\.hours) == [48, 12])
    }

    @Test func `it says once that the embedded store costs nothing`() throws {
        let text = lines(try report([StoredLoad(storageClass: .standard, objects: 1, bytes: 1)]), isEmbedded: true)
            .joined(separator: " ")
        #expect(text.ranges(of: "costs nothing").count == 1)
        #expect(text.contains("Amazon's list prices in us-east-1"))
    }

    @Test func `a store with nothing in it costs nothing, and needs no table`() throws {
        #expect(lines(try report([])) == ["Nothing is stored yet."])
    }

    @Test func `an unknown class has no price, and no sum hides it`() throws {
        let report = try report([StoredLoad(storageClass: StorageClass(rawValue: "COLD"), objects: 1, bytes: gigabyte)])
        #expect(report.classes.map(\.monthlyUSD) == [nil])
        #expect(lines(report).contains { $0.hasPrefix("COLD") && $0.hasSuffix("not known") })
    }

    @Test func `a class without a price is named, and the sum is told as less than all`() throws {
        let report = try report([
            StoredLoad(storageClass: .intelligentTiering, objects: 1, bytes: gigabyte),
            StoredLoad(storageClass: .standard, objects: 10, bytes: 10 * gigabyte),
        ])
        #expect(report.unpriced == ["INTELLIGENT_TIERING"])
        let text = lines(report).joined(separator: "\n")
        #expect(text.contains("over $0.23"), "\(text)")
        #expect(text.contains("Not in the sums, because no price is known: INTELLIGENT_TIERING."), "\(text)")
    }

    @Test func `it fits 80 columns`() throws {
        let album = Suggestion(
            folder: "/home/ana/Pictures/Vacations/A very long journey to the end of the world", reason: .opened(3),
            photos: 12_000, bytes: gigabyte,
            estimate: RestoreEstimate(
                of: [RestoreLoad(storageClass: .deepArchive, tier: .bulk, objects: 12_000, bytes: gigabyte)], days: 30,
                prices: try PriceFile.table()))
        let loads = [
            StoredLoad(
                storageClass: .deepArchive, objects: 12_345_678, bytes: 1 << 50, youngObjects: 1_234_567,
                youngBytes: 1 << 49),
            StoredLoad(storageClass: .standard, objects: 12_345_678, bytes: 1 << 50),
        ]
        let suggestions = SuggestionReport([album])
        let view = lines(try report(loads, hints: suggestions.suggestions))
        for line in view { #expect(TextLayout.width(line) <= 80, "\(line)") }
        #expect(view.joined(separator: " ").contains("12,000 photos of A very long"))
    }

    @Test(arguments: [
        ("/srv/Paris", "/srv/Paris"), ("/srv/My trip", "'/srv/My trip'"), ("/srv/l'été", "'/srv/l'\\''été'"),
    ])
    func `an album is named so that a shell takes it`(folder: String, word: String) {
        let album = Suggestion(
            folder: FilePath(folder), reason: .sameWeek(year: 2025), photos: 1, bytes: 1,
            estimate: RestoreEstimate(of: [], days: 1, prices: Self.noPrices))
        let lines = SuggestionReport([album]).lines(on: .standardOutput(["TERM": "dumb"]))
        #expect(lines.last == "  sync-agent restore \(word)")
    }

    @Test func `what costs less than a cent is told in words`() {
        let originals = CostReport.Originals(
            keep: "on", kept: 0, bytes: 0, waiting: 1, waitingBytes: 9, onceUSD: 0.0001, monthlyUSD: 0.02)
        let words = "Not kept yet: 1 original (9 B), less than $0.01 once and about $0.02 a month."
        #expect(originals.sentence == words)
    }

    private static let noPrices = PriceTable(region: "r", asOf: "2026", source: "s", classes: [:], egressPerGB: 0)
}
