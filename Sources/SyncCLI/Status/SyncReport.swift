import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

/// What one pass did, for people and as JSON.
struct SyncReport: Report {
    struct Problem: Encodable {
        var path: String
        var message: String
    }

    var uploaded: Int
    var alreadyStored: Int
    var failed: Int
    var skipped: Int
    /// Photos that still wait, from this pass or an earlier one.
    var pending: Int
    /// Photos that are neither on the disk nor in the store any more.
    var lost: Int
    var bytesRead: Int64
    var bytesSent: Int64
    /// In the files of gallery events that this pass has read, and what in them is no event.
    var events: Int
    var malformedEvents: Int
    /// Objects that this pass moved to the archive.
    var archived: Int
    /// Originals that this pass has kept.
    var originals: Int
    /// Folders that could not be read, files that kept changing, originals that could not be kept, restored photos that
    /// could not be saved, stored objects that are damaged or gone, what today was found to be so of machines that are
    /// silent, a ledger that is older than its own catalogue, stored objects that this pass could not look at, photos of
    /// guests that could not be taken in, shares that are over and could not be removed, and projects that are half
    /// deleted.
    var problems: [Problem]
    /// Photos that failed, in this pass or an earlier one; at most ``failuresNamed``.
    var failures: [Problem]
    /// Where everything stands after the pass, as `status` tells it.
    var totals: StatusReport.Totals
    /// What is left out on purpose; at most ``StatusReport/notesNamed``.
    var notes: [PathRemark]
    /// Photos that the store has refused, or that could not be read, and that are tried again; at most ``failuresNamed``.
    var delayed: [Problem]
    /// Of the problems: restored photos that are not where they were to be.
    @Untold var unsaved: Int
    /// Stored photos whose original is to be kept, and is not.
    @Untold var withoutOriginal: Int
    /// Of those that wait: for projects that are still processing.
    @Untold var unfinished: Int
    /// Those of them that nobody has told yet.
    @Untold var untold: [Problem]

    static let failuresNamed = 1_000
    /// How many of the files that are left out are named to people.
    private static let notesShown = 10

    /// Whether everything in the folders is safe now, but for what is not made yet, and what was restored is saved.
    var status: ExitStatus { isUnsafe || unsaved > 0 ? .partlyDone : .done }

    private var isUnsafe: Bool {
        failed + lost + withoutOriginal > 0 || pending != unfinished || problems.count > unsaved
    }

    func lines(on terminal: Terminal) -> [String] {
        let line = { (problem: Problem) in "\(problem.path.escapingControls): \(problem.message)" }
        var lines = problems.dropLast(unsaved).map(line)
        // It may be a whole library that a disk has no room for.
        lines += RestoreDownloader.SaveSummary.lines(problems.suffix(unsaved).map(line))
        lines += untold.map(line)
        lines += notes.prefix(Self.notesShown).map {
            "\($0.path.escapingControls): left out: \($0.reason.escapingControls)"
        }
        var sum = "\(Quantities.counted(uploaded, "photo")) stored"
        if uploaded > 0 || bytesSent > 0 {
            sum += " (\(Quantities.bytes(bytesRead)) read, \(Quantities.bytes(bytesSent)) sent)"
        }
        if alreadyStored > 0 { sum += ", \(Quantities.count(alreadyStored)) stored already" }
        if skipped > 0 { sum += ", \(Quantities.count(skipped)) skipped" }
        if events + malformedEvents > 0 { sum += ", \(Quantities.counted(events, "event")) read" }
        if malformedEvents > 0 { sum += ", \(Quantities.count(malformedEvents)) malformed" }
        if originals > 0 { sum += ", \(Quantities.counted(originals, "original")) kept" }
        if withoutOriginal > 0 { sum += ", \(Quantities.counted(withoutOriginal, "original")) not kept yet" }
        if archived > 0 { sum += ", \(Quantities.count(archived)) moved to the archive" }
        if failed > 0 { sum += ", \(Quantities.count(failed)) failed" }
        if lost > 0 { sum += ", \(Quantities.count(lost)) lost" }
        if pending > unfinished { sum += ", \(Quantities.count(pending - unfinished)) waiting" }
        if unfinished > 0 { sum += ", \(Quantities.count(unfinished)) of projects that are still processing" }
        if totals.filtered > 0 { sum += ", \(Quantities.count(totals.filtered)) left out by filters" }
        if totals.leftOut > 0 { sum += ", \(Quantities.count(totals.leftOut)) left out" }
        lines.append(sum)
        if isUnsafe { lines.append("See `sync-agent status` for what is not safe yet, and why.") }
        if unsaved > 0 {
            lines.append(
                "See `sync-agent restores` for what was restored, and is not saved yet; "
                    + "`restores ID --stop-saving` gives up.")
        }
        return lines
    }
}

extension SyncReport {
    /// - Parameters:
    ///   - unsaved: what restores have brought back, and could not be saved.
    ///   - delayed: photos that were tried and wait.
    ///   - originalsRefused: why the pass did not come to the end of the originals.
    ///   - elsewhere: what is damaged of machines that are silent.
    ///   - shares: what keeps photos of guests from being taken in, and shares that are over from being removed.
    ///   - halfDeleted: projects folders with projects that are being deleted, and their ids.
    ///   - catalog: why the catalogue in the store is not written any more.
    ///   - unclear: where the objects are, and how many of this ledger's the pass could not look at.
    ///   - told: photos that were told while the pass ran.
    init(
        _ summary: PassSummary, intake: SyncPass.Scanned, unsaved: [RestoreDownloader.Problem] = [],
        moved: TierMover.Summary, originals kept: OriginalKeeper.Summary? = nil,
        originalsRefused: String? = nil, withoutOriginal: Int = 0, overview: Overview,
        leftOut: LeftOutSummary = LeftOutSummary(), unfinished: Int, failed failures: [PhotoStatus],
        delayed: [PhotoStatus], elsewhere: [OtherDamage] = [],
        shares: [ShareTrouble] = [],
        halfDeleted: [(folder: FilePath, ids: [String])] = [],
        catalog: Problem? = nil, unclear: (store: String, objects: Int), told: Set<FilePath>
    ) {
        func problem(_ photo: PhotoStatus) -> Problem { Problem(path: photo.path.text, message: photo.error ?? "") }
        var problems = intake.problems.map { Problem(path: $0.path.text, message: $0.message) }
        // What was found out since by reading: that a file is no copy of what another drive has.
        problems += overview.folders.map(\.record).compactMap { folder -> Problem? in
            let isTold = intake.problems.contains { $0.path.starts(with: folder.path) }
            return isTold ? nil : folder.problem.map { Problem(path: folder.path.text, message: $0) }
        }
        problems += (kept?.failures ?? []).map {
            Problem(path: $0.file.text, message: "its original is not kept yet: \($0.reason)")
        }
        if withoutOriginal > 0, originalsRefused != nil || kept?.failures.isEmpty != false {
            let originals = Quantities.counted(withoutOriginal, "original")
            let reason = originalsRefused ?? "photos came first, or files have changed; the next sync goes on"
            problems.append(Problem(path: unclear.store, message: "\(originals) not kept yet: \(reason)"))
        }
        problems += shares.map { Problem(path: $0.name, message: $0.words) }
        problems += halfDeleted.compactMap { folder, ids in
            let isSeen = !intake.problems.contains { $0.path == folder }
            return HalfDeletedProjects(ids, isFolderSeen: isSeen).problem.map {
                Problem(path: folder.text, message: $0)
            }
        }
        if let broken = StatusReport.words(ofBroken: overview.brokenBesideLost, copies: overview.copiesToMakeAnew) {
            problems.append(Problem(path: unclear.store, message: broken))
        }
        problems += elsewhere.map { Problem(path: $0.place, message: $0.words) }
        if let catalog { problems.append(catalog) }
        if unclear.objects > 0 {
            let objects = Quantities.counted(unclear.objects, "object")
            problems.append(
                Problem(
                    path: unclear.store,
                    message: "\(objects) could not be looked at (sync-agent status --refresh tells why)"))
        }
        problems += unsaved.map { Problem(path: $0.path, message: "restored, and not saved: \($0.reason)") }
        self.init(
            uploaded: summary.uploaded, alreadyStored: summary.alreadyStored,
            failed: overview.totals[.failed].files, skipped: summary.skipped + intake.skipped,
            pending: overview.totals.waiting, lost: overview.lost, bytesRead: summary.bytesRead,
            bytesSent: summary.bytesSent, events: summary.events, malformedEvents: summary.malformedEvents,
            archived: moved.moved, originals: kept?.kept ?? 0, problems: problems, failures: failures.map(problem),
            totals: StatusReport.Totals(overview, leftOut: leftOut),
            notes: leftOut.items.map { PathRemark($0.path, $0.reason) }, delayed: delayed.map(problem),
            unsaved: unsaved.count, withoutOriginal: withoutOriginal, unfinished: unfinished,
            untold: (failures + delayed).filter { !told.contains($0.path) }.map(problem))
    }
}

extension StatusReport {
    /// What is told of stored objects that are damaged or gone; `nil` without any.
    /// - Parameter copies: those of them that are made anew from their originals.
    static func words(ofBroken count: Int, copies: Int) -> String? {
        guard count > 0 else { return nil }
        let objects = Quantities.counted(count, "stored object is", plural: "stored objects are")
        let names = "\(objects) damaged or gone: sync-agent verify --all names \(count == 1 ? "it" : "them")"
        if copies == 0 { return names }
        return "\(names); \(copies >= count ? "" : "of \(Quantities.count(copies)) ")the original is whole"
    }
}

/// What a pass would do: a scan on a copy of the ledger, so that nothing is sent or remembered.
struct SyncForecast: Report {
    struct File: Encodable {
        var path: String
        var bytes: Int64
    }

    var files: [File] = []
    var bytes: Int64 = 0
    var problems: [SyncReport.Problem] = []

    /// - Parameter copy: has a ledger of which nothing is kept.
    init(_ copy: Workspace) async throws {
        // No settle time: a file that is still being written would be stored too, once it is whole.
        let intake = try await copy.forecast(settle: .zero).takeIn()
        problems = intake.problems.map { SyncReport.Problem(path: $0.path.text, message: $0.message) }
        let watched = copy.settings.watch
        files = try await copy.ledger { ledger in
            var files: [File] = []
            for folder in watched {
                try ledger.photos(at: folder.path) { photo in
                    guard photo.state == .pending || photo.state == .uploading else { return }
                    files.append(File(path: photo.path.text, bytes: photo.bytesLocal ?? 0))
                }
            }
            return files
        }
        bytes = files.reduce(0) { $0 + $1.bytes }
    }

    func lines(on terminal: Terminal) -> [String] {
        var lines = problems.map { "\($0.path.escapingControls): \($0.message)" }
        lines += files.map { "would store \($0.path.escapingControls) (\(Quantities.bytes($0.bytes)))" }
        lines.append("\(Quantities.counted(files.count, "file")) to store, \(Quantities.bytes(bytes)) on the disk")
        return lines
    }
}
