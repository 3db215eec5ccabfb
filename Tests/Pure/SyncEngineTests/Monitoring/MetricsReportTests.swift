import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct MetricsReportTests {
    private static let prices = PriceTable(
        region: "here", asOf: "2026-07", source: "test",
        classes: [.standard: ClassPrices(perGBMonth: 0.023, putPer1000: 0.005)], egressPerGB: 0.09)

    private func text(_ bench: Bench, prices: PriceTable? = nil) throws -> String {
        let outlook = RetentionOutlook(
            schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90)
        return try MetricsReport(retention: outlook, prices: prices).text(bench.ledger, at: bench.time.now)
    }

    /// The samples of one metric.
    private func samples(_ name: String, in text: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("\(name) ") || $0.hasPrefix("\(name){") }
    }

    @Test func `before anything is stored, counters are 0 and moments are not there`() throws {
        let text = try text(try Bench())
        #expect(samples("sync_agent_uploads_total", in: text) == ["sync_agent_uploads_total 0"])
        #expect(samples("sync_agent_errors_total", in: text) == ["sync_agent_errors_total{reason=\"photo\"} 0"])
        #expect(samples("sync_agent_photos", in: text).count == 3 * PhotoState.allCases.count)
        #expect(samples("sync_agent_restores", in: text).count == RestoreItemState.allCases.count)
        #expect(samples("sync_agent_verified_objects_total", in: text).count == 3)
        #expect(samples("sync_agent_lost_photos", in: text) == ["sync_agent_lost_photos 0"])
        #expect(samples("sync_agent_events_overdue", in: text) == ["sync_agent_events_overdue 0"])
        for name in [
            "sync_agent_last_success_timestamp_seconds", "sync_agent_oldest_unsynced_timestamp_seconds",
            "sync_agent_monthly_cost_dollars", "sync_agent_retention_last_run_timestamp_seconds",
            "sync_agent_store_failing_timestamp_seconds",
        ] {
            #expect(samples(name, in: text).isEmpty)
            #expect(text.contains("# TYPE \(name) gauge\n"))
        }
    }

    @Test func `a pass is counted by what was sent, and by what was wrong`() async throws {
        let bench = try Bench()
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        bench.disk.write("sunset", to: Bench.gallery.appending("b.jpg"))
        bench.disk.write("broken", to: Bench.vacations.appending("c.jpg"))
        try await bench.pass()
        try bench.ledger.noteSync(at: bench.time.now)
        let text = try text(bench, prices: Self.prices)
        #expect(samples("sync_agent_uploads_total", in: text) == ["sync_agent_uploads_total 1"])
        #expect(samples("sync_agent_upload_bytes_total", in: text) == ["sync_agent_upload_bytes_total 6"])
        #expect(samples("sync_agent_errors_total", in: text) == ["sync_agent_errors_total{reason=\"photo\"} 1"])
        let photos = samples("sync_agent_photos", in: text)
        #expect(photos.contains("sync_agent_photos{folder=\"/pictures/gallery\",state=\"uploaded\"} 2"))
        #expect(photos.contains("sync_agent_photos{folder=\"/pictures/vacations\",state=\"failed\"} 1"))
        #expect(
            samples("sync_agent_objects", in: text) == ["sync_agent_objects{storage_class=\"STANDARD\"} 1"])
        let now = Int(bench.time.now.timeIntervalSince1970)
        #expect(
            samples("sync_agent_last_success_timestamp_seconds", in: text)
                == ["sync_agent_last_success_timestamp_seconds \(now)"])
        #expect(samples("sync_agent_monthly_cost_dollars", in: text).count == 1)
    }

    @Test func `since when the store fails is told, until it is well`() throws {
        let bench = try Bench()
        let name = "sync_agent_store_failing_timestamp_seconds"
        try bench.ledger.noteStore(error: "denied", at: Date(timeIntervalSince1970: 1_780_000_000))
        #expect(samples(name, in: try text(bench)) == ["\(name) 1780000000"])
        try bench.ledger.noteStore(error: nil, at: bench.time.now)
        #expect(samples(name, in: try text(bench)).isEmpty)
    }

    @Test func `what the store refuses is counted by its reason`() async throws {
        let bench = try Bench(faults: [StoreFault(.put, number: 1, .failBefore(.serverFailed))])
        bench.disk.write("sunset", to: Bench.gallery.appending("a.jpg"))
        try await bench.pass()
        #expect(
            samples("sync_agent_errors_total", in: try text(bench)) == [
                "sync_agent_errors_total{reason=\"photo\"} 0", "sync_agent_errors_total{reason=\"serverFailed\"} 1",
            ])
    }
}
