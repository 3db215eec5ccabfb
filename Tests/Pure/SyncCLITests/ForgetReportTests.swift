import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct ForgetReportTests {
    private let key: ObjectKey

    init() throws { key = try ObjectKey("users/ana/photos/a.dat") }

    /// What came of forgetting what stays.
    private func report() -> ForgetReport {
        let prices = PriceTable(region: "r", asOf: "2026-07", source: "s", classes: [:], egressPerGB: 0)
        return ForgetReport(
            ForgetPlan(), known: [(key, "is stored, and not known to be damaged")], prices: prices, isS3: false,
            at: Date(timeIntervalSince1970: 1_780_000_000), dryRun: false)
    }

    private static let others: [StoredReference] = [
        .path("/p/b.jpg"), .version("/p/b.jpg"), .machine("tower"), .vacation("/p/Rome"), .event, .archivedEvent,
        .project,
    ]

    @Test(arguments: others)
    func `an object that others need is called stored only where nothing is wrong with it`(other: StoredReference) {
        let whole = ForgetReport.wordsOfRest(other, nil)
        #expect(whole.hasPrefix("stored: "))
        for problem in [ObjectFault.damaged("its bytes are others"), .missing] {
            let words = ForgetReport.wordsOfRest(other, problem)
            #expect(words.hasPrefix("what was stored of it \(problem.words), and stays: "), "\(words)")
            #expect(words.hasSuffix(String(whole.dropFirst("stored: ".count))))
        }
    }

    @Test func `what stays is not told once more to who has read it before the question`() {
        var report = report()
        let words = "\(key): is stored, and not known to be damaged"
        #expect(report.keptTexts == [words])
        func count() -> Int { report.lines(on: .standardOutput([:])).count { $0.contains(words) } }
        #expect(count() == 1)
        report.shown = Set(report.keptTexts)
        #expect(count() == 0)
        #expect(report.kept.count == 1)
    }
}
