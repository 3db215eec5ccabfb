import FoundationEssentials
import SyncCore
import SystemPackage
import Testing

@testable import SyncCLI
@testable import SyncEngine
@testable import SyncLedger

@Suite struct StatusViewTests {
    private let now = Date(timeIntervalSince1970: 1_780_000_000)
    private let gallery = WatchedFolder(kind: .gallery, path: "/home/ana/Pictures/Gallery")

    private func view(
        _ tallies: PhotoTallies, oldest: Overview.Unsynced? = nil, problem: String? = nil, agentSince: Date? = nil,
        storeError: String? = nil, since: Date? = nil, leftOut: LeftOutSummary = LeftOutSummary(),
        backlog: [StorageClass: ArchiveBacklog] = [:],
        restores: Overview.Restores = Overview.Restores(), elsewhere: [OtherDamage] = [],
        guests: StatusReport.Guests = StatusReport.Guests(), shares: [ShareTrouble] = [], keepsCatalog: Bool = true,
        catalogWrittenAt: Date? = nil, catalogProblem: String? = nil,
        originals: StatusReport.Originals = StatusReport.Originals(), damaged: Int? = nil
    ) -> StatusView {
        let record = FolderRecord(id: FolderID(rawValue: 1), folder: gallery, problem: problem, scannedAt: now)
        let overview = Overview(
            folders: [Overview.Folder(record: record, tallies: tallies)],
            tiers: [ClassLoad(storageClass: .standard, objects: 3, bytes: 3 << 20)], oldestUnsynced: oldest,
            store: since.map { Overview.StoreNote(error: "away", at: now, since: $0) }, restores: restores)
        var report = StatusReport(
            overview, leftOut: leftOut, backlog: backlog, elsewhere: elsewhere, watched: [gallery],
            holder: AgentLock.Holder(pid: 1, since: agentSince ?? now),
            store: StoreIdentity(type: "directory", location: "/home/ana/store"), storeError: storeError)
        report.guests = guests
        report.shares = StatusReport.Shares(shares)
        report.catalog.enabled = keepsCatalog
        report.catalog.writtenAt = catalogWrittenAt
        report.catalog.problem = catalogProblem
        report.originals = originals
        if let damaged {
            report.verification.oldest = now.addingTimeInterval(-22)
            report.verification.damaged = damaged
        }
        return StatusView(
            report: report, failed: [], terminal: .standardOutput(["TERM": "dumb"]), now: now, home: "/home/ana")
    }

    private func tallies(uploaded: Int, pending: Int = 0) -> PhotoTallies {
        var tallies = PhotoTallies()
        tallies[.uploaded] = Tally(files: uploaded, bytes: Int64(uploaded) << 22)
        tallies[.pending] = Tally(files: pending, bytes: 0)
        return tallies
    }

    @Test func `what the store does otherwise than the configuration says is told once`() {
        let report = StatusReport(
            Overview(folders: [], tiers: []), watched: [], holder: nil,
            store: StoreIdentity(type: "s3", location: "s3://b/"), storeError: nil,
            storeNote: "It stores new photos in STANDARD.")
        let view = StatusView(
            report: report, failed: [], terminal: .standardOutput(["TERM": "dumb"]), now: now, home: "/home/ana")
        #expect(view.text.ranges(of: "It stores new photos in STANDARD.").count == 1)
    }

    @Test func `what is damaged is not among what was proved`() {
        let whole = view(tallies(uploaded: 3), damaged: 0)
        #expect(whole.text.contains("All stored objects were verified within the last 22 s"))
        let text = view(tallies(uploaded: 3), damaged: 1).text
        #expect(text.contains("All other stored objects were verified within the last 22 s"))
        #expect(!text.contains("All stored objects"))
        let ahead = Quantities.ahead(now + 86_400)
        for (oldest, when) in [(now, "just now"), (now + 86_400, ahead)] {
            var report = whole.report
            report.verification.oldest = oldest
            let view = StatusView(report: report, failed: [], terminal: whole.terminal, now: now, home: whole.home)
            let words = view.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("All stored objects were verified \(when)"), "\(words)")
        }
    }

    @Test func `when all is stored it says so`() {
        let text = view(tallies(uploaded: 3)).text
        #expect(text.contains("Everything is safe."))
        #expect(text.contains("~/Pictures/Gallery"))
        #expect(text.contains("12 MiB on the disk, 3.0 MiB stored"))
    }

    @Test func `when the store's listing was looked at last is told`() {
        let before = view(tallies(uploaded: 3))
        #expect(!before.text.contains("Compared with"))
        var report = before.report
        report.store.comparedAt = now.addingTimeInterval(-2 * 3_600)
        let view = StatusView(report: report, failed: [], terminal: before.terminal, now: now, home: before.home)
        #expect(view.text.contains("Last compared with the listing of the store 2 h ago"))
    }

    @Test func `while the store cannot tell of an object nothing is called safe`() {
        let before = view(tallies(uploaded: 3))
        var report = before.report
        report.store.unclearObjects = 2
        let text = StatusView(report: report, failed: [], terminal: before.terminal, now: now, home: before.home).text
        #expect(!text.contains("Everything is safe"))
        let line = text.replacing("\n", with: " ")
        #expect(line.contains("As far as can be told, every photo is stored; 2 objects could not be looked at in the"))
        let check = StatusCheck(report: report, waitingSince: nil, now: now).result
        #expect(check.level >= .warning && check.line.contains("2 objects could not be looked at in the store"))
    }

    @Test func `while a disk is full, nothing is called safe, and it is said why`() {
        let before = view(tallies(uploaded: 3))
        var report = before.report
        report.disks = [StatusReport.Disk(place: "/state", freeBytes: 1 << 20)]
        let text = StatusView(report: report, failed: [], terminal: before.terminal, now: now, home: before.home).text
        #expect(!text.contains("Everything is safe"))
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Disk the disk of /state is full (1.0 MiB free); free some space"), "\(words)")
        #expect(words.contains("Every photo is stored; the disk of /state is full"), "\(words)")
        report.disks = [StatusReport.Disk(place: "/state", freeBytes: 1 << 40)]
        let again = StatusView(report: report, failed: [], terminal: before.terminal, now: now, home: before.home).text
        #expect(again == before.text)
    }

    @Test func `while anything stored is damaged or gone, whosever, nothing is called safe, as the check has it`() {
        let before = view(tallies(uploaded: 3))
        var report = before.report
        (report.verification.damaged, report.verification.missing) = (1, 1)
        let text = StatusView(report: report, failed: [], terminal: before.terminal, now: now, home: before.home).text
        #expect(!text.contains("Everything is safe"))
        let line = text.replacing("\n", with: " ")
        #expect(line.contains("2 stored objects are damaged or gone: sync-agent verify --all names them"))
        #expect(StatusCheck(report: report, waitingSince: nil, now: now).result.level == .critical)
    }

    @Test func `what is damaged or gone beside what is lost is told, too`() {
        let before = view(tallies(uploaded: 3))
        var report = before.report
        (report.verification.missing, report.totals.lost) = (3, 1)
        let text = StatusView(
            report: report, failed: [], brokenOfLost: 1, terminal: before.terminal, now: now, home: before.home
        ).text.replacing("\n", with: " ")
        #expect(text.contains("and 1 more that are lost"))
        #expect(text.contains("2 stored objects are damaged or gone: sync-agent verify --all names them"))
        report.verification.missing = 1
        let lost = StatusView(
            report: report, failed: [], brokenOfLost: 1, terminal: before.terminal, now: now, home: before.home
        ).text
        #expect(!lost.contains("damaged or gone"))
    }

    @Test func `while the store cannot be reached nothing is called safe`() {
        let text = view(tallies(uploaded: 3), storeError: "it is not the store that this ledger knows").text
        #expect(!text.contains("Everything is safe"))
        #expect(text.contains("Everything was stored when the store was reached last."))
    }

    @Test func `what filters leave out is no photo that is safe, and not called something else`() {
        var left = tallies(uploaded: 3)
        left[.skipped] = Tally(files: 5, bytes: 0)
        let text = view(left, leftOut: LeftOutSummary(count: 0, items: [], filtered: 3)).text
        #expect(text.contains("Everything is safe, but 3 files left out by the filters."))
        #expect(text.contains("2 files skipped (not photos)"))
        let only = view(left, leftOut: LeftOutSummary(count: 0, items: [], filtered: 5)).text
        #expect(!only.contains("not photos"))
    }

    @Test func `what is damaged of a silent machine is named with it, and then not everything is called safe`() throws {
        let keys = try (10..<22).map { try ObjectKey("users/ana/photos/\($0).dat") }
        let damage = keys.map { key in
            OtherDamage(
                key: key, machine: "lap\u{1B}top", path: key == keys[0] ? "/home/ben/a.jpg" : nil, problem: .missing,
                foundAt: now, seenAt: now)
        }
        let text = view(tallies(uploaded: 3), elsewhere: damage).text
        #expect(!text.contains("Everything is safe") && !text.contains("\u{1B}"))
        #expect(text.contains("/home/ben/a.jpg") && text.contains("users/ana/photos/11.dat"))
        #expect(text.contains("was silent: what was stored"))
        #expect(text.contains("and 2 more of machines that are silent"))
        for found in [damage, []] {
            let pass = SyncReport(
                PassSummary(), intake: SyncPass.Scanned(), moved: TierMover.Summary(),
                overview: Overview(folders: [], tiers: []), unfinished: 0, failed: [], delayed: [], elsewhere: found,
                unclear: (store: "/home/ana/store", objects: 0), told: [])
            #expect(pass.status == (found.isEmpty ? .done : .partlyDone))
        }
    }

    @Test func `a pass that leaves something damaged in the store is not done, as the overview says it`() {
        for (broken, ofLost, status) in [(0, 0, ExitStatus.done), (2, 1, .partlyDone), (1, 1, .done)] {
            var overview = Overview(folders: [], tiers: [])
            overview.brokenTiers = [ClassLoad(storageClass: .standard, objects: broken, bytes: 500)]
            // What is lost is told by itself.
            overview.brokenOfLost = ofLost
            let pass = SyncReport(
                PassSummary(), intake: SyncPass.Scanned(), moved: TierMover.Summary(), overview: overview,
                unfinished: 0, failed: [], delayed: [], unclear: (store: "/home/ana/store", objects: 0), told: [])
            #expect(pass.status == status)
            let words = "1 stored object is damaged or gone: sync-agent verify --all names it"
            #expect(pass.problems.map(\.message) == (status == .done ? [] : [words]))
        }
    }

    @Test func `photos of guests that wait are counted, and where they cannot come in not everything is called safe`() {
        let waiting = view(tallies(uploaded: 3), guests: .init(waiting: 2)).text
        #expect(waiting.contains("2 photos from guests wait") && waiting.contains("Everything is safe."))
        let stuck = view(tallies(uploaded: 3), guests: .init(waiting: 0, problem: "there is no room")).text
        #expect(stuck.contains("photos of guests cannot be taken in: there is no room"))
        #expect(!stuck.contains("Everything is safe"))
    }

    @Test func `a share that is over and stays in the store is told, and then not everything is called safe`() throws {
        var generator = SystemRandomNumberGenerator()
        let ids = [ShareID(using: &generator), ShareID(using: &generator)]
        let troubles = ids.map { ShareTrouble(share: $0, location: "Rome", kind: .end, problem: "it is denied") }
        let lines = view(tallies(uploaded: 3), shares: troubles).text.split(separator: "\n")
        let text = lines.map { line in line.drop { $0 == " " } }.joined(separator: " ")
        #expect(text.contains("2 shares that are over are not removed, and others may see the photos (Rome, share"))
        #expect(text.contains("\(ids[0]): it is denied)"))
        #expect(!text.contains("Everything is safe"))
        let guests = [ShareTrouble(share: ids[0], location: "Rome", kind: .guests, problem: "there is no room")]
        #expect(view(tallies(uploaded: 3), shares: guests).text.contains("Everything is safe."))
        for (found, words) in [
            (troubles, "the share is over, and cannot be removed: it is denied"),
            (guests, "photos of guests cannot be taken in: there is no room"),
        ] {
            let pass = SyncReport(
                PassSummary(), intake: SyncPass.Scanned(), moved: TierMover.Summary(),
                overview: Overview(folders: [], tiers: []), unfinished: 0, failed: [], delayed: [], shares: found,
                unclear: (store: "/home/ana/store", objects: 0), told: [])
            #expect(pass.status == .partlyDone && pass.problems.first?.message == words)
            #expect(pass.problems.first?.path == "Rome, share \(ids[0])")
        }
    }

    @Test func `while the catalogue in the store is not up to date, not everything is called safe`() {
        let text = view(tallies(uploaded: 3), catalogProblem: "no room").text
        #expect(!text.contains("Everything is safe") && text.contains("not up to date in the store: no room"))
        #expect(text.contains("Every photo is stored; the catalogue of their names is not up to date."))
        let away = view(tallies(uploaded: 3), storeError: "no route to host", catalogProblem: "no room").text
        #expect(!away.contains("Every photo is stored") && away.contains("when the store was reached last"))
        let originals = StatusReport.Originals(keep: "true", waiting: 2)
        let both = view(tallies(uploaded: 3), catalogProblem: "no room", originals: originals).text
        #expect(both.contains("2 originals are not kept yet") && both.contains("is not up to date."))
    }

    @Test func `where no originals are kept, it says what else than larger photos is stored with other bytes`() {
        let text = view(tallies(uploaded: 3), originals: StatusReport.Originals(keep: "false")).text
        #expect(text.contains("Larger photos are stored reduced, and smaller JPEG files encoded again where"))
    }

    @Test func `a catalogue that is kept no more, and is in the store still, is told as that`() {
        let gone = view(tallies(uploaded: 3), keepsCatalog: false).text
        #expect(gone.contains("without their names") && !gone.contains("in the store still"))
        let left = view(tallies(uploaded: 3), keepsCatalog: false, catalogWrittenAt: now).text
        #expect(left.contains("in the store still") && !left.contains("without their names"))
    }

    @Test func `while the catalogue is not up to date, no photo is called stored that is not`() {
        let left = view(
            tallies(uploaded: 3), leftOut: LeftOutSummary(count: 1, items: []), catalogProblem: "no room",
            originals: StatusReport.Originals(keep: "true", waiting: 2)
        ).text
        #expect(!left.contains("Every photo") && left.contains("not up to date in the store: no room"))
        #expect(left.contains("2 originals are not kept yet"))
        let none = view(tallies(uploaded: 0), catalogProblem: "no room").text
        #expect(!none.contains("Every photo") && none.contains("not up to date in the store: no room"))
        var skipped = tallies(uploaded: 3)
        skipped[.skipped] = Tally(files: 2, bytes: 0)
        let filtered = view(
            skipped, leftOut: LeftOutSummary(count: 0, items: [], filtered: 2), catalogProblem: "no room"
        ).text
        let words = filtered.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains(
                "Every photo is stored, but 2 files left out by the filters; the catalogue of their names is not up"))
    }

    @Test func `what is left out is named, and then not everything is called safe`() {
        let item = LeftOutSummary.Item(
            path: "/home/ana/Pictures/Gallery/p1.jpg", reason: "a duplicate of project p0")
        let text = view(tallies(uploaded: 3), leftOut: LeftOutSummary(count: 1, items: [item])).text
        #expect(!text.contains("Everything is safe"))
        #expect(text.contains("Left out, and not stored"))
        #expect(text.contains("~/Pictures/Gallery/p1.jpg"))
        #expect(text.contains("a duplicate of project p0"))
    }

    @Test func `of many that are left out the first are named, and all are counted`() {
        let items = (1...12).map { LeftOutSummary.Item(path: FilePath("/home/ana/\($0).jpg"), reason: "a duplicate") }
        let text = view(tallies(uploaded: 3), leftOut: LeftOutSummary(count: 40, items: items)).text
        #expect(text.contains("~/10.jpg") && !text.contains("~/11.jpg"))
        #expect(text.contains("and more, 40 in all"))
    }

    @Test func `what waits longest is named with its reason`() {
        let oldest = Overview.Unsynced(
            path: "/home/ana/Pictures/Gallery/a.jpg", since: now.addingTimeInterval(-7_200), state: .pending,
            why: "it waits for its turn")
        let text = view(tallies(uploaded: 3, pending: 1), oldest: oldest).text
        #expect(!text.contains("more that wait"))
        #expect(view(tallies(uploaded: 3, pending: 5), oldest: oldest).text.contains("and 4 more that wait"))
        #expect(text.contains("~/Pictures/Gallery/a.jpg"))
        #expect(text.contains("it waits for its turn, since 2 h ago"))
        #expect(!text.contains("Everything is safe"))
    }

    @Test func `while the store is away, that is why a photo waits`() {
        let oldest = Overview.Unsynced(
            path: "/home/ana/Pictures/Gallery/a.jpg", since: now, state: .pending, why: "it waits for its turn")
        let view = view(tallies(uploaded: 0, pending: 1), oldest: oldest, storeError: "no route to host")
        #expect(view.report.oldestUnsynced?.why == "no route to host")
        #expect(view.text.contains("not reachable"))
    }

    @Test func `a store that answers and takes no photos is told, and its reason stands for no other photo`() {
        let oldest = Overview.Unsynced(
            path: "/home/ana/Pictures/Gallery/a.jpg", since: now, state: .pending, why: "it waits for its turn")
        let refusing = view(
            tallies(uploaded: 2, pending: 1), oldest: oldest, since: now.addingTimeInterval(-10_800))
        #expect(refusing.text.contains("Store   reachable, took no photos for 3 h"))
        #expect(refusing.text.contains("        away\n"))
        #expect(refusing.report.store.reachable && refusing.report.store.refusal == "away")
        #expect(refusing.report.store.since == now.addingTimeInterval(-10_800))
        #expect(refusing.report.oldestUnsynced?.why == "the store took no photos when it was tried last")
        // Nothing waits for it any more.
        let idle = view(tallies(uploaded: 3), since: now)
        #expect(idle.report.store.refusal == nil && idle.text.contains("Store   reachable, ~/store"))
    }

    @Test func `how long the store is away is told`() {
        let away = view(
            tallies(uploaded: 0, pending: 1), storeError: "no route to host", since: now.addingTimeInterval(-10_800))
        #expect(away.text.contains("not reachable for 3 h"))
        #expect(away.report.store.since == now.addingTimeInterval(-10_800))
        // It has just come back, and no agent has noted it yet.
        #expect(view(tallies(uploaded: 1), since: now).report.store.since == nil)
    }

    @Test func `how long agent and store are so is not told of a time that is still to come`() {
        let later = now.addingTimeInterval(86_400)
        let text = view(
            tallies(uploaded: 0, pending: 1), agentSince: later, storeError: "no route to host", since: later
        ).text
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        let words = "since \(Quantities.time(later)), later than the clock of this machine"
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(line.contains("(process 1, \(words))"))
        #expect(line.contains("not reachable \(words)"))
    }

    @Test func `what should be archived, what never is, and restores are told with the classes`() {
        let view = view(
            tallies(uploaded: 3), backlog: [.standard: ArchiveBacklog(due: 1_200, tooSmall: 2)],
            restores: Overview.Restores(inProgress: 4, ready: 5, failed: 6))
        #expect(view.text.contains("1,200 due for the archive, 2 stay, too small to be archived"))
        #expect(view.text.contains("Restores: 4 on their way, 5 can be read, 6 failed (sync-agent restores)"))
        #expect(view.report.tiers.map(\.due) == [1_200] && view.report.tiers.map(\.tooSmall) == [2])
        #expect(view.report.restores.ready == 5)
    }

    @Test func `a folder that could not be seen is not safe`() {
        let text = view(tallies(uploaded: 3), problem: "/home/ana/Pictures/Gallery: it is not there").text
        #expect(text.contains("it is not there"))
        #expect(!text.contains("Everything is safe"))
    }

    @Test func `it fits 80 columns`() {
        let long = String(repeating: "a very long reason with many words ", count: 10)
        let oldest = Overview.Unsynced(
            path: FilePath("/home/ana/Pictures/Gallery/\(String(repeating: "x", count: 200)).jpg"), since: now,
            state: .failed,
            why: long)
        let text = view(tallies(uploaded: 1_234_567, pending: 1), oldest: oldest, problem: long, storeError: long).text
        for line in text.split(separator: "\n") { #expect(TextLayout.width(line) <= 80, "\(line)") }
    }
}

extension StatusView {
    var text: String { lines.map { $0 + "\n" }.joined() }
}
