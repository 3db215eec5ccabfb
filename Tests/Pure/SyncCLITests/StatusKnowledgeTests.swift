import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine
@testable import SyncLedger

/// How old what `status` tells of the files is.
@Suite struct StatusKnowledgeTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let folders = ["/home/ana/a", "/home/ana/b"].map { WatchedFolder(kind: .gallery, path: FilePath($0)) }

    private func view(scannedAgo: [Double?], holder: AgentLock.Holder? = nil) -> StatusView {
        let records = zip(folders, scannedAgo).enumerated().map { index, pair in
            FolderRecord(
                id: FolderID(rawValue: Int64(index + 1)), folder: pair.0,
                scannedAt: pair.1.map { now.addingTimeInterval(-$0) })
        }
        let overview = Overview(
            folders: records.map { Overview.Folder(record: $0, tallies: PhotoTallies()) }, tiers: [])
        let report = StatusReport(
            overview, watched: folders, holder: holder,
            store: StoreIdentity(type: "directory", location: "/home/ana/store"), storeError: nil)
        return StatusView(
            report: report, failed: [], terminal: .standardOutput(["TERM": "dumb"]), now: now, home: "/home/ana")
    }

    @Test func `without an agent it says as of when, by the folder that was looked at longest ago`() {
        let view = view(scannedAgo: [60, 10_800])
        #expect(view.text.contains("as of the last pass, 3 h ago; run sync-agent sync"))
        #expect(view.report.folders.map(\.scannedAt) == [-60, -10_800].map { now.addingTimeInterval($0) })
    }

    @Test func `a folder that nobody has looked at is told`() {
        #expect(view(scannedAgo: [60, nil]).text.contains("1 folder not looked at yet"))
        #expect(view(scannedAgo: [nil, nil]).text.contains("not looked at yet; run sync-agent sync"))
    }

    @Test func `while an agent looks at the folders, nothing is said of it`() {
        let text = view(scannedAgo: [60, 10_800], holder: AgentLock.Holder(pid: 1, since: now)).text
        #expect(!text.contains("as of the last pass"))
    }
}

extension FolderRecord {
    /// As it stands after a scan, where there was one.
    init(id: FolderID, folder: WatchedFolder, problem: String? = nil, scannedAt: Date? = nil) {
        self.init(
            id: id, kind: folder.kind, path: folder.path, profile: folder.profile, filter: folder.filter, watching: nil,
            note: nil, problem: problem, scannedAt: scannedAt, untold: nil)
    }
}
