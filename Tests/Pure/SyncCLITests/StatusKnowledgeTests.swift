import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine
@testable import SyncLedger

/// How old what `status` tells of the files is, and what nobody has told it of.
@Suite struct StatusKnowledgeTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let folders = ["/home/ana/a", "/home/ana/b"].map { WatchedFolder(kind: .gallery, path: FilePath($0)) }

    /// - Parameters:
    ///   - scannedAgo: of each folder that the ledger knows; `nil` for one that was not looked at.
    ///   - watching: how they are watched.
    ///   - configured: the folders of the configuration, where they are others.
    private func view(
        scannedAgo: [Double?], watching: WatchReport.Mode? = nil, holder: AgentLock.Holder? = nil,
        configured: [WatchedFolder]? = nil
    ) -> StatusView {
        let records = zip(folders, scannedAgo).enumerated().map { index, pair in
            FolderRecord(
                id: FolderID(rawValue: Int64(index + 1)), folder: pair.0, watching: watching,
                scannedAt: pair.1.map { now.addingTimeInterval(-$0) })
        }
        var tallies = PhotoTallies()
        tallies[.uploaded] = Tally(files: 3, bytes: 9)
        let overview = Overview(folders: records.map { Overview.Folder(record: $0, tallies: tallies) }, tiers: [])
        let report = StatusReport(
            overview, watched: configured ?? folders, holder: holder,
            store: StoreIdentity(type: "directory", location: "/home/ana/store"), storeError: nil)
        return StatusView(
            report: report, failed: [], terminal: .standardOutput(["TERM": "dumb"]), now: now, home: "/home/ana")
    }

    @Test func `without an agent it says as of when, by the folder that was looked at longest ago`() {
        let view = view(scannedAgo: [60, 10_800])
        #expect(view.text.contains("as of the last pass, 3 h ago; run sync-agent sync"))
        #expect(view.report.folders.map(\.scannedAt) == [-60, -10_800].map { now.addingTimeInterval($0) })
    }

    @Test func `a pass that is still to come has no age, and nothing is called safe on its ground`() {
        let year = 365 * 86_400.0
        let view = view(scannedAgo: [-year, -year])
        let words = view.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let ahead = Quantities.ahead(now + year)
        #expect(!words.contains("Everything is safe"))
        #expect(words.contains("as of the last pass, \(ahead); run sync-agent sync"), "\(words)")
        #expect(words.contains("; the last pass was at \(ahead)."), "\(words)")
        let check = StatusCheck(report: view.report, waitingSince: nil, now: now).result
        #expect(check.level == .warning)
        #expect(check.line.contains("the last pass was at \(ahead)"))
    }

    @Test func `the last pass of a machine whose clock is ahead is told by its time, and why`() {
        let (terminal, later) = (Terminal.standardOutput(["TERM": "dumb"]), now + 3_600)
        let overview = Overview(folders: [], tiers: [], lastSyncAt: later)
        var other = MachinesReport.Machine(this: "2", name: "attic", overview)
        other.isThis = false
        var report = MachinesReport(machines: [MachinesReport.Machine(this: "1", name: "tower", overview), other])
        let lines = MachinesView(terminal: terminal, now: now).lines(report)
        for (line, remark) in zip(lines.suffix(2), ["this machine, its clock was ahead", "its clock is ahead of"]) {
            #expect(line.contains(Quantities.time(later)) && line.contains(remark), "\(line)")
        }
        report.machines = [other]
        let then = MachinesView(terminal: terminal, now: later).lines(report).joined(separator: "\n")
        #expect(then.contains("just now") && !then.contains("ahead"), "\(then)")
    }

    @Test func `a folder that nobody has looked at is told`() {
        #expect(view(scannedAgo: [60, nil]).text.contains("1 folder not looked at yet"))
        #expect(view(scannedAgo: [nil, nil]).text.contains("not looked at yet; run sync-agent sync"))
    }

    @Test func `while an agent looks at the folders, nothing is said of it`() {
        let text = view(scannedAgo: [60, 10_800], holder: AgentLock.Holder(pid: 1, since: now)).text
        #expect(!text.contains("as of the last pass"))
        #expect(text.contains("Everything is safe."))
    }

    @Test func `without an agent everything is safe as of the folder that was looked at longest ago`() {
        for ago in [[0.0, 10], [60, 10_800]] {
            let time = Quantities.time(now.addingTimeInterval(-ago[1]))
            #expect(view(scannedAgo: ago).text.contains("Everything is safe, as of the last pass at \(time)."))
        }
    }

    struct Unseen: Sendable {
        var scannedAgo: [Double?]
        var watching: WatchReport.Mode?
        var agentRuns = true
        var remedy: String
    }

    @Test(arguments: [
        Unseen(scannedAgo: [60, nil], agentRuns: false, remedy: "run sync-agent sync"),
        Unseen(scannedAgo: [60], agentRuns: false, remedy: "run sync-agent sync"),
        Unseen(scannedAgo: [60], remedy: "start the agent again, it does not know this folder"),
        Unseen(scannedAgo: [60, nil], remedy: "what is at work is about to, else start the agent again"),
        Unseen(scannedAgo: [60, nil], watching: .inotify, remedy: "the agent is about to"),
    ])
    func `while a folder of the configuration was not looked at, nothing is called safe, whoever asks`(row: Unseen) {
        let holder = row.agentRuns ? AgentLock.Holder(pid: 1, since: now) : nil
        let view = view(scannedAgo: row.scannedAgo, watching: row.watching, holder: holder)
        let problem = "/home/ana/b: it was not looked at yet; \(row.remedy)"
        #expect(view.report.folders.map(\.problem) == [nil, problem])
        #expect(!view.text.contains("Everything is safe"))
        let words = view.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Not safe yet \(problem)"), "\(words)")
        var report = view.report
        report.lastSyncAt = now
        let check = StatusCheck(report: report, waitingSince: nil, now: now).result
        #expect(check.level == .warning)
        #expect(check.line.hasPrefix("SYNC-AGENT WARNING - \(problem) | "), "\(check.line)")
    }

    @Test func `a folder that was looked at as another kind, or by another filter, was not looked at as it is`() throws
    {
        let filtered = WatchedFolder(kind: .gallery, path: folders[1].path, filter: try PathFilter(["- *.png"]))
        for configured in [WatchedFolder(kind: .vacations, path: folders[1].path), filtered] {
            for holder in [nil, AgentLock.Holder(pid: 1, since: now)] {
                let view = view(
                    scannedAgo: [60, 60], watching: .inotify, holder: holder, configured: [folders[0], configured])
                let problem = try #require(view.report.folders[1].problem)
                #expect(problem.hasPrefix("/home/ana/b: it was not looked at since its kind or filter was changed; "))
                #expect(
                    problem.hasSuffix(
                        holder == nil ? "run sync-agent sync" : "it does not know this folder as it is now"))
                #expect(view.report.folders[1].scannedAt == nil && !view.text.contains("Everything is safe"))
            }
        }
    }
}

extension FolderRecord {
    /// As it stands after a scan, where there was one.
    init(
        id: FolderID, folder: WatchedFolder, problem: String? = nil, watching: WatchReport.Mode? = nil,
        scannedAt: Date? = nil
    ) {
        self.init(
            id: id, kind: folder.kind, path: folder.path, profile: folder.profile, filter: folder.filter,
            watching: watching, note: nil, problem: problem, scannedAt: scannedAt, untold: nil)
    }
}
