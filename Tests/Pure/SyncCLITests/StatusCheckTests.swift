import FoundationEssentials
import SyncCore
import SyncEngine
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncLedger

@Suite struct StatusCheckTests {
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)
    private static let hour = 3_600.0

    private static func report(agent: Bool = true, lastSync: Double? = 1) -> StatusReport {
        var tallies = PhotoTallies()
        tallies[.uploaded] = Tally(files: 3, bytes: 9)
        let folder = WatchedFolder(kind: .gallery, path: "/p")
        let overview = Overview(
            folders: [
                .init(record: FolderRecord(id: FolderID(rawValue: 1), folder: folder, scannedAt: now), tallies: tallies)
            ],
            tiers: [.init(storageClass: .standard, objects: 3, bytes: 7)],
            lastSyncAt: lastSync.map { now - $0 * hour })
        var report = StatusReport(
            overview, watched: [folder], holder: nil, store: StoreIdentity(type: "directory", location: "/s"),
            storeError: nil)
        report.agent.running = agent
        return report
    }

    private static let numbers =
        " | stored=3;;;0 waiting=0;;;0 failed=0;0;;0 lost=0;;0;0 damaged=0;;0;0 oldest=0s;86400;259200;0 overdue=0;0;;0 "
        + "bytes=7B;;;0"

    @Test func `what is well is told in one line, with its numbers`() {
        let result = StatusCheck(report: Self.report(), waitingSince: nil, now: Self.now).result
        #expect(result.level == .ok)
        #expect(result.line == "SYNC-AGENT OK - 3 photos stored, 0 waiting" + Self.numbers)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var level: StatusCheck.Level
        var words: String
        var agent = true
        var lastSync: Double? = 1
        /// Hours for which a photo waits.
        var waiting: Double?
        var change: @Sendable (inout StatusReport) -> Void = { _ in }

        var testDescription: String { words }
    }

    private static func away(_ hours: Double?) -> @Sendable (inout StatusReport) -> Void {
        {
            $0.store.reachable = false
            $0.store.error = "no route"
            $0.store.since = hours.map { now - $0 * hour }
        }
    }

    /// Photos that are tried in vain, by hours.
    /// - Parameter waited: hours for which they had waited before.
    private static func tried(_ hours: Double..., waited: Double = 0) -> @Sendable (inout StatusReport) -> Void {
        { report in
            report.delayed = hours.map {
                StatusReport.Delayed(
                    path: "/p/a.jpg", since: now - ($0 + waited) * hour, why: "put a: denied", attempts: 2,
                    nextTryAt: nil, triedSince: now - $0 * hour)
            }
        }
    }

    private static func refusing(_ hours: Double) -> @Sendable (inout StatusReport) -> Void {
        {
            $0.store.refusal = "put a: denied"
            $0.store.since = now - hours * hour
        }
    }

    static let rows = [
        Row(level: .ok, words: "3 photos stored, 0 waiting", waiting: 23),
        Row(level: .warning, words: "a photo waits for 1 day", waiting: 25),
        Row(level: .critical, words: "a photo waits for 3 days", waiting: 73),
        Row(level: .warning, words: "the store is not reachable (no route)", change: away(nil)),
        Row(level: .warning, words: "the store is not reachable (no route)", change: away(1)),
        Row(level: .critical, words: "the store is not reachable (no route)", change: away(80)),
        Row(
            level: .warning, words: "the store took no photos when it was tried last (put a: denied)",
            change: refusing(1)),
        Row(
            level: .critical, words: "the store took no photos when it was tried last (put a: denied)",
            change: refusing(80)),
        Row(level: .ok, words: "3 photos stored, 0 waiting", waiting: 0.9, change: tried(0.9)),
        Row(level: .ok, words: "3 photos stored, 0 waiting", waiting: 6, change: tried(0.9, waited: 5)),
        Row(
            level: .warning, words: "a photo is tried in vain for 2 h (/p/a.jpg: put a: denied)", waiting: 2,
            change: tried(2, 0)),
        Row(
            level: .warning, words: "a photo is tried in vain for 2 h (/p/a.jpg: put a: denied)", waiting: 7,
            change: tried(2, waited: 5)),
        Row(level: .warning, words: "a photo waits for 1 day", waiting: 25, change: tried(25)),
        Row(level: .warning, words: "the store took no photos when it was tried last (put a: denied)", waiting: 2) {
            refusing(1)(&$0)
            tried(2)(&$0)
        },
        Row(level: .warning, words: "the disk of /state is full (0 B free)") {
            $0.disks = [
                StatusReport.Disk(place: "/state", freeBytes: 0), StatusReport.Disk(place: "/s", freeBytes: 256 << 20),
            ]
        },
        Row(level: .ok, words: "3 photos stored, 0 waiting", lastSync: 200),
        Row(level: .ok, words: "3 photos stored, 0 waiting", agent: false),
        Row(
            level: .warning, words: "no agent runs, and the last whole pass was 1 day ago", agent: false, lastSync: 30),
        Row(
            level: .critical, words: "no agent runs, and the last whole pass was 4 days ago", agent: false,
            lastSync: 100),
        Row(
            level: .warning,
            words: "no agent runs, and the last pass was at \(Quantities.ahead(now + 8_760 * hour))", agent: false,
            lastSync: -8_760),
        Row(level: .warning, words: "a photo waits since \(Quantities.ahead(now + 30 * hour))", waiting: -30),
        Row(level: .warning, words: "no agent runs, and there was no whole pass yet", agent: false, lastSync: nil),
        Row(level: .critical, words: "2 lost") { $0.totals.lost = 2 },
        Row(level: .critical, words: "2 stored objects damaged or gone") {
            ($0.verification.damaged, $0.verification.missing) = (1, 1)
        },
        Row(level: .warning, words: "4 cannot be stored") { $0.totals.failed = 4 },
        Row(level: .warning, words: "15 originals not kept", agent: false) {
            ($0.originals.waiting, $0.originals.begun) = (15, 3)
        },
        Row(level: .ok, words: "3 photos stored, 0 waiting") { ($0.originals.waiting, $0.originals.begun) = (15, 3) },
        Row(level: .ok, words: "3 photos stored, 0 waiting", agent: false) { $0.originals.waiting = 15 },
        Row(level: .warning, words: "1 gallery event overdue") { $0.retention.overdue = 1 },
        Row(level: .warning, words: "/p: gone / not mounted\u{5C}u{a}") {
            $0.folders[0].problem = "gone | not mounted\n"
        },
        Row(level: .warning, words: "/p: it was not looked at yet; run sync-agent sync") {
            $0.folders[0].problem = "/p: it was not looked at yet; run sync-agent sync"
        },
        Row(level: .warning, words: "the catalogue is not up to date (full)") { $0.catalog.problem = "full" },
        Row(level: .warning, words: "photos of guests cannot be taken in (full)") { $0.guests.problem = "full" },
        Row(
            level: .warning, words: "1 share that is over is not removed, and others may see the photos (Rome: denied)"
        ) {
            $0.shares = .init(notRemoved: 1, problem: "Rome: denied")
        },
        Row(level: .critical, words: "1 lost; 2 cannot be stored") {
            ($0.totals.failed, $0.totals.lost) = (2, 1)
        },
    ]

    @Test(arguments: rows)
    func `each finding has its level, and its words are the first of the line`(row: Row) {
        var report = Self.report(agent: row.agent, lastSync: row.lastSync)
        row.change(&report)
        let since = row.waiting.map { Self.now - $0 * Self.hour }
        let result = StatusCheck(report: report, waitingSince: since, now: Self.now).result
        #expect(result.level == row.level)
        let words = ["OK", "WARNING", "CRITICAL"][Int(row.level.rawValue)]
        #expect(result.line.hasPrefix("SYNC-AGENT \(words) - \(row.words) | stored=3;;;0 "))
        #expect(!result.line.contains("\n"))
    }

    @Test func `what cannot be told is unknown`() {
        let result = StatusCheck.unknown(CommandFailure(.configuration, "line 1: no | such\nkey"))
        #expect(result.level == .unknown)
        #expect(result.line == #"SYNC-AGENT UNKNOWN - line 1: no / such\u{a}key"#)
    }
}
