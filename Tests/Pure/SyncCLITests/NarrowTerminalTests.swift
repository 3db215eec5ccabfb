import FoundationEssentials
import Glibc
import SyncCore
import SyncEngine
import SyncTestSupport
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncLedger

/// What is told where there are 40 columns.
@Suite struct NarrowTerminalTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let terminal = Terminal(STDOUT_FILENO, isTerminal: false, [:], columns: 40)

    private func expect(
        _ lines: [String], toTell words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(lines.allSatisfy { TextLayout.width($0) <= 40 }, "\(lines)", sourceLocation: sourceLocation)
        let text = lines.map { $0.trimmingPrefix { $0 == " " } }.joined(separator: " ")
        for word in words { #expect(text.contains(word), "\(lines)", sourceLocation: sourceLocation) }
    }

    @Test func `the overview has each folder with its counts, and what is not safe`() {
        let gallery = WatchedFolder(kind: .gallery, path: "/home/ana/Pictures/Gallery")
        let trips = WatchedFolder(kind: .vacations, path: "/home/ana/Pictures/Vacations")
        var tallies = PhotoTallies()
        tallies[.uploaded] = Tally(files: 1_234, bytes: 1 << 30)
        tallies[.pending] = Tally(files: 1, bytes: 1)
        let overview = Overview(
            folders: [gallery, trips].enumerated().map { number, folder in
                Overview.Folder(
                    record: FolderRecord(id: FolderID(rawValue: Int64(number)), folder: folder), tallies: tallies)
            }, tiers: [ClassLoad(storageClass: .deepArchive, objects: 3, bytes: 3 << 20)],
            oldestUnsynced: Overview.Unsynced(
                path: "/home/ana/Pictures/Gallery/IMG_1.jpg", since: now, state: .pending, why: "it waits for its turn"),
            lastSyncAt: now)
        let report = StatusReport(
            overview, leftOut: LeftOutSummary(), watched: [gallery, trips], holder: nil,
            store: StoreIdentity(type: "directory", location: "/home/ana/store"), storeError: nil)
        let view = StatusView(report: report, failed: [], terminal: terminal, now: now, home: "/home/ana")
        expect(
            view.lines, toTell: "~/Pictures/Gallery", "1,234 stored", "1 waiting", "0 failed", "not running",
            "DEEP_ARCHIVE: 3 objects", "IMG_1.jpg", "it waits for its turn", "the last whole pass")
    }

    @Test func `a restore has its number, its state and how much of it is there`() throws {
        let ledger = try Ledger.inMemory()
        let photo = RestoreJobDraft.Item(
            key: try ObjectKey("users/ana/photos/a.dat"),
            path: "/home/ana/Pictures/Vacations/Rome_2024-01-01/IMG_20240101_0001.jpg", destination: "a.jpg", size: 99,
            storageClass: .deepArchive, tier: .standard)
        let draft = RestoreJobDraft(
            requestedBy: "ana", tier: .standard, days: 3, output: "/home/ana/a folder with a long name/back",
            estimatedCostUSD: 0.01, estimatedHours: 12, items: [photo])
        let id = try #require(try ledger.addRestoreJob(draft, at: now).job).id
        let summary = try #require(try ledger.restoreJob(id))
        let job = JobReport(summary, items: try ledger.restoreItems(of: id, after: 0, limit: 9))
        let view = JobView(terminal: terminal, now: now)
        expect(view.list([job]), toTell: "1 requesting", "0/1 photos", "standard", "by ana")
        expect(view.detail(job), toTell: "requesting", "0 of 1 photos", "0 of 1 in", "planned")
    }

    @Test func `a vacation has its name, days, count and state`() throws {
        let ledger = try Ledger.inMemory()
        let folder = try #require(try ledger.register([WatchedFolder(kind: .vacations, path: "/trips")]).first)
        _ = try ledger.observe(
            folder.id, file: "Llanfairpwllgwyngyll on the sea_2024-01-01_2024-01-09/a.jpg",
            stamp: FileStamp(device: 1, inode: 1, size: 9, modified: 1), stillThere: { _ in false }, at: now)
        let vacations = StatusReport.vacations(try ledger.vacations(), shared: [:])
        expect(
            VacationLines(vacations, terminal: terminal, width: terminal.textWidth).lines,
            toTell: "Llanfairpwllgwyngyll on the sea", "2024-01-01 – 2024-01-09", "1 photo", "pending")
    }
}
