import FoundationEssentials
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncTestSupport
import SystemPackage
import Testing

@Suite struct MetricsFileTests {
    private let tree: TemporaryTree
    private let time = ManualTime()
    private let ledger: Ledger
    private let lines = LogLines()

    init() throws {
        tree = try TemporaryTree()
        ledger = try Ledger(at: tree.path("state/ledger.sqlite"))
    }

    private func file(at path: FilePath) -> MetricsFile {
        let report = MetricsReport(
            retention: RetentionOutlook(schedule: DailySchedule(hour: 0, minute: 0, in: .gmt), days: 90), prices: nil)
        return MetricsFile(
            at: path, report: report, ledger: LedgerQueue(ledger), pool: BlockingPool(name: "test", threads: 1),
            time: time.source, logger: lines.logger)
    }

    @Test func `a write replaces the file as a whole, and its neighbours may read it`() async throws {
        let path = tree.path("agent.prom")
        try tree.write("stale\n", to: "agent.prom")
        try await file(at: path).write()
        let text = try String(decoding: tree.read("agent.prom"), as: UTF8.self)
        #expect(text.hasPrefix("# HELP sync_agent_last_success_timestamp_seconds "))
        #expect(text.hasSuffix("\n") && !text.contains("stale"))
        #expect(try FileStatus(at: path).permissions == [.ownerReadWrite, .groupRead, .otherRead])
        #expect(try tree.files().filter { !$0.hasPrefix("state/") } == ["agent.prom"])
    }

    @Test func `a file that cannot be written is told once, and again when it could be written meanwhile`() async throws
    {
        let file = file(at: tree.path("out/agent.prom"))
        try await file.write()
        try await file.write()
        #expect(lines.all.count == 1)
        #expect(lines.all.first?.contains("its folder is not there") == true)
        _ = try tree.makeFolder("out")
        try await file.write()
        #expect(lines.all.count == 1)
        _ = try tree.path("out/agent.prom").unlink()
        try tree.path("out").removeFolder()
        try await file.write()
        #expect(lines.all.count == 2)
    }

    @Test func `counters go on where they were when the ledger is opened again`() throws {
        try ledger.countOverflows(2)
        try ledger.noteStore(error: "away", reason: .unreachable, at: time.now)
        try ledger.close()
        let again = try Ledger(at: tree.path("state/ledger.sqlite"))
        try again.countOverflows(3)
        let counts = try again.counts()
        #expect(counts.watchOverflows == 5)
        #expect(counts.errors == ["unreachable": 1])
    }
}
