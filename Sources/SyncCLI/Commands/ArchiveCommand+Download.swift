import ArgumentParser
import SyncArchive
import SyncCore
import SyncEngine
import SyncLocalStore
import SyncSystem
import SystemPackage

struct ArchiveDownloadCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Save archived photos in a folder or a zip file.",
        discussion: """
            Saves the photos that can be read, as DATE_PROFILE_EVENT.jpg. Nothing is replaced, and what is there \
            already is not downloaded again. Photos that have to be restored first are left out and counted; with \
            --restore they are requested, after the cost is shown, and the same command saves them once they are \
            available.

            EXAMPLES
              sync-agent archive download --output ~/Pictures/Memories --profile grandma
              sync-agent archive download --restore --tier bulk --output ~/Memories
              sync-agent archive download --zip ~/Desktop/memories.zip --from 2025-01-01
            """
    )

    @OptionGroup var which: ArchiveOptions

    @Option(help: ArgumentHelp("The maximum number of photos, the newest first (default: all).", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Continue after this key, as archive list shows it.", valueName: "key"))
    var after: String?

    @Option(
        help: ArgumentHelp("The destination folder; it is created if missing.", valueName: "dir"),
        completion: .directory)
    var output: OutputArgument?

    @Option(
        help: ArgumentHelp("Write one zip file instead.", valueName: "file"), completion: .file(extensions: ["zip"]))
    var zip: OutputArgument?

    @Flag(help: "Restore what is in the archive.")
    var restore = false

    @Option(help: "With --restore: bulk, standard or expedited (default: restore.tier).")
    var tier: RestoreTier?

    @Option(
        help: ArgumentHelp(
            "With --restore: how long the copies stay available (default: restore.days).", valueName: "days"))
    var days: Int?

    @Option(
        name: .customLong("max-cost"),
        help: ArgumentHelp(
            "With --restore: refuse when it would cost more (default: restore.max_cost_usd).", valueName: "usd"))
    var maximumCost: Double?

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if (output == nil) == (zip == nil) {
            throw ValidationError("name a folder with --output, or a file with --zip")
        }
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        if let days, !(1...3_650).contains(days) { throw ValidationError("--days takes 1 to 3650") }
        if let maximumCost, !(maximumCost >= 0) { throw ValidationError("--max-cost takes dollars, such as 2.50") }
        if !restore, tier != nil || days != nil || maximumCost != nil {
            throw ValidationError("--tier, --days and --max-cost are about --restore")
        }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let installation = workspace.installation
        guard
            let destination = try zip?.path(installation)
                ?? output?.announcedPath(installation, workspace.console)
        else { preconditionFailure("validated: one is there") }
        let parts = try await ArchiveServices(workspace)
        let page = try await parts.page(which, after: after, limit: limit, workspace)
        let archived = page.photos.filter { $0.standing == .archived }
        let restored = restore && !archived.isEmpty ? try await request(archived, workspace) : nil
        return Answer(try await save(page, from: parts.store, to: destination, workspace, restored))
    }

    /// - Throws: ``CommandFailure`` when it costs too much, or somebody says no: then nothing was requested.
    private func request(_ photos: [ArchivedGalleryPhoto], _ workspace: Workspace) async throws -> RestoreReport {
        let restores = Restores(
            try await RestoreServices(workspace, access: .writes), workspace, for: .download)
        let wish = RestoreWish(
            names: photos.map(\.key.rawValue), tier: tier.map { .tier($0) }, days: days, maximumCost: maximumCost,
            isAgreed: yes)
        let proposal = try await restores.propose(wish)
        try restores.agree(to: proposal, wish)
        let request = try await restores.request(proposal)
        let report = try await restores.report(request)
        if !workspace.console.isSilent {
            try restores.view().result(report, readyAt: request.job?.end(after: request.hours))
                .forEach(workspace.console.people.writeLine)
        }
        return report
    }

    private func save(
        _ page: ArchivePage, from store: any ObjectStore, to destination: FilePath, _ workspace: Workspace,
        _ restored: RestoreReport?
    ) async throws -> ArchiveDownloadReport {
        let memories = page.photos.filter(\.isReadable)
        let download = ArchiveDownload(
            from: store, pool: workspace.threads.disk, time: workspace.time)
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let show = { progress.count($0, of: memories.count, "photo") }
        var outcomes: [ArchiveDownload.Outcome] = []
        if zip == nil {
            try FolderMaker().makeOutput(destination, workspace.installation)
            outcomes = await download.save(memories, to: destination, finished: show)
        } else if !memories.isEmpty {
            try OutputPlace.checkAgain(destination, workspace.installation)
            let archive = try ZipFile(at: destination)
            // Until it is finished, nothing has its name.
            defer { archive.cancel() }
            outcomes = try await download.save(memories, into: archive, at: destination, finished: show)
        }
        return ArchiveDownloadReport(destination, memories, outcomes, of: page, restore: restored)
    }
}
