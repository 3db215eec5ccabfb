import SyncEngine
import Testing

@testable import SyncCLI

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
}
