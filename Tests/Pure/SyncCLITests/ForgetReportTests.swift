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
    private func report(of keys: [ObjectKey]) -> ForgetReport {
        let prices = PriceTable(region: "r", asOf: "2026-07", source: "s", classes: [:], egressPerGB: 0)
        return ForgetReport(
            ForgetPlan(), known: keys.map { ($0, "is stored, and not known to be damaged") }, prices: prices,
            isS3: false, at: Date(timeIntervalSince1970: 1_780_000_000), dryRun: false)
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
        var report = report(of: [key])
        let words = "\(key): is stored, and not known to be damaged"
        #expect(report.keptTexts == [words])
        func count() -> Int { report.lines(on: .standardOutput([:])).count { $0.contains(words) } }
        #expect(count() == 1)
        report.shown = Set(report.namedTexts)
        #expect(count() == 0)
        #expect(report.kept.count == 1)
    }

    @Test func `of much that stays, what was only counted before the question is named after it`() throws {
        var report = report(of: try (10..<35).map { try ObjectKey("users/ana/photos/\($0).dat") })
        func lines() -> [String] { report.lines(on: .standardOutput([:])).filter { !$0.contains("forgotten") } }
        let before = lines()
        #expect(before.count == 21 && before.last == "      and 5 more")
        report.shown = Set(report.namedTexts)
        let after = lines()
        #expect(after.count == 5 && Set(after).isDisjoint(with: before))
        #expect(after.allSatisfy { $0.contains("is stored") })
    }
}
