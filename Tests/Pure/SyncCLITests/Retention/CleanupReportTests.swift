import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine

@Suite struct CleanupReportTests {
    @Test func `a summary is one object of counts and reasons`() throws {
        let report = CleanupReport(RetentionSummary(), daysOld: 90, dryRun: false)
        #expect(
            try JSONOutput.text(report) == """
                {
                  "archived" : 0,
                  "daysOld" : 90,
                  "deleted" : 0,
                  "dryRun" : false,
                  "errors" : [

                  ],
                  "failed" : 0,
                  "skipped" : 0,
                  "skippedEvents" : [

                  ],
                  "waiting" : 0
                }
                """)
        #expect(report.status == .done)
    }

    @Test func `an event that is kept is not done, and it is said that it comes again`() {
        var summary = RetentionSummary()
        summary.skipped.add(RetentionSummary.Issue(event: "e1", file: "/g/june.json", reason: "no profile"))
        let report = CleanupReport(summary, daysOld: 90, dryRun: false)
        #expect(report.status == .partlyDone)
        let lines = report.lines(on: .standardOutput(["TERM": "dumb"]))
        #expect(lines.contains { $0.contains("e1 in /g/june.json: no profile") })
        #expect(lines.last?.contains("tried again") == true)
    }

    @Test func `what is about a file and no event has the name of the file`() throws {
        var summary = RetentionSummary()
        summary.skipped.add(RetentionSummary.Issue(file: "/g/half.json", reason: "it is being written"))
        let report = CleanupReport(summary, daysOld: 90, dryRun: false)
        let lines = report.lines(on: .standardOutput(["TERM": "dumb"]))
        #expect(lines.contains("skipped  /g/half.json: it is being written"))
        // For programs, as docs/commands.md says it.
        #expect(report.skippedEvents.map(\.event) == ["-"])
    }
}
