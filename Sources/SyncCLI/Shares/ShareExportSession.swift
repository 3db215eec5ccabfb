import FoundationEssentials
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch
import SyncZip
import SystemPackage

/// Makes the page of a vacation as a folder or a ZIP file. The ledger is a copy that nobody keeps, and the store is opened only
/// for photos that are not on the disk.
struct ShareExportSession {
    /// Of the workspace that ends with the command.
    let workspace: Workspace
    let finder: VacationFinder
    let ledger: LedgerQueue

    /// - Parameter copy: with its copy of the ledger.
    init(_ workspace: Workspace, copy: Workspace) async throws {
        self.workspace = workspace
        ledger = try await copy.ledger
        finder = VacationFinder(
            ledger: ledger, pool: copy.threads.disk, places: workspace.installation.restorePlaces,
            scanner: FileTreeScanner())
    }

    /// - Throws: ``CommandFailure``, ``ShareError``, ``DownloadError``, ``ZipError``, ``LedgerError``.
    func run(_ order: ShareOrder, to destination: FilePath, isArchive: Bool) async throws -> Answer {
        guard destination.lastComponent?.kind == .regular else {
            throw CommandFailure.usage("--export takes the name of a new folder, or of a file that ends in .zip")
        }
        try requireFree(destination, isArchive: isArchive)
        let content = try await planner().content(of: order)
        guard !content.items.isEmpty else { throw ShareError.nothing(content.skipped.map(\.text)) }
        let sharer = try await ledger { try $0.sharer() }
        let wanted = ShareExport.Order(
            items: content.items, of: order.vacation, sharedBy: order.sharedBy ?? sharer ?? order.vacation.sharedBy,
            quality: order.quality, tellsNames: order.tellsNames ?? false,
            language: workspace.settings.share.language)
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let archive = isArchive ? try ZipFile(at: destination) : nil
        // Until it is finished, nothing has its name.
        defer { archive?.cancel() }
        let summary: ShareExport.Summary
        do {
            summary = try await export().run(wanted, to: destination, into: archive) {
                progress.count($0, of: wanted.items.count, "photo")
            }
        } catch ShareError.nothing(let reasons) {
            throw ShareError.nothing(content.skipped.map(\.text) + reasons)
        }
        return Answer(
            ShareExportReport(summary, wanted, to: destination, isArchive: isArchive, content.skipped, content.notes))
    }

    /// Before anything is made.
    private func requireFree(_ destination: FilePath, isArchive: Bool) throws {
        guard let status = try? FileStatus(at: destination) else { return }
        if !isArchive, status.kind == .folder, (try? Folder.names(in: destination))?.isEmpty ?? false { return }
        throw CommandFailure.failed("\(destination.text.escapingControls) is there already; name another")
    }

    private func planner() -> SharePlanner {
        let (settings, time) = (workspace.settings, workspace.time)
        return SharePlanner(
            store: nil, ledger: ledger, reducer: workspace.reducer,
            maker: workspace.copyMaker, pool: workspace.threads.photos,
            lease: ShareLease(ledger: ledger, owner: workspace.installation.makeClaimOwner(), time: time),
            // Nothing is sent: what limits it is what pages are made for.
            maximumPhotos: ShareManifestRules.maximumPhotos, expireDays: settings.share.expireDays, time: time)
    }

    private func export() -> ShareExport {
        ShareExport(
            ledger: ledger, reducer: workspace.reducer, maker: workspace.copyMaker,
            recompressor: workspace.recompressor, policy: workspace.settings.photos.reduce,
            pool: workspace.threads.photos, time: workspace.time,
            stored: { [workspace] in try await workspace.store(.reads) })
    }
}

/// `share --export --json`.
struct ShareExportReport: Report {
    /// The folder, or the ZIP file.
    var destination: String
    /// What browsers open; `null` for a ZIP file.
    @Nullable var page: String?
    var location: String
    var startDate: CalendarDay
    var endDate: CalendarDay
    var photoCount: Int
    var filmCount: Int
    /// Of the copies.
    var bytes: Int64
    var skipped: [PathRemark]
    var notes: [String]
    @Untold var hasFailures: Bool

    init(
        _ summary: ShareExport.Summary, _ order: ShareExport.Order, to destination: FilePath, isArchive: Bool,
        _ skipped: [ShareProposal.Skipped], _ notes: [String]
    ) {
        self.destination = destination.text
        page = isArchive ? nil : destination.appending(ShareExport.page).text
        (location, startDate, endDate) = (order.location, order.startDate, order.endDate)
        (photoCount, filmCount, bytes) = (summary.photos, summary.films, summary.bytes)
        self.skipped =
            skipped.map { PathRemark($0.photo.path, $0.reason) }
            + summary.failures.map { PathRemark($0.path, $0.reason) }
        self.notes = notes
        hasFailures = !summary.failures.isEmpty
    }

    var status: ExitStatus { hasFailures ? .partlyDone : .done }

    func lines(on terminal: Terminal) -> [String] {
        var lines = skipped.flatMap { skipped in
            ["left out  \(skipped.path.escapingControls)"]
                + terminal.wrapped(skipped.reason.escapingControls, indent: 10)
        }
        lines += notes.flatMap { terminal.wrapped($0.escapingControls) }
        let films = filmCount > 0 ? ", \(Quantities.counted(filmCount, "film"))" : ""
        lines.append(
            "\(Quantities.counted(photoCount, "photo"))\(films), \(Quantities.bytes(bytes)), in \(destination.escapingControls)"
        )
        if let page { lines.append("Open it in a browser: \(page.escapingControls)") }
        return lines
    }
}
