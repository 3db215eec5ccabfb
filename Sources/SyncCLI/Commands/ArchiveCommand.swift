import ArgumentParser
import SyncCore
import SyncEngine
import SyncLocalStore
import SyncPages
import SyncPhotos
import SyncSystem
import SyncZip
import SystemPackage

struct ArchiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "archive",
        abstract: "List and download the photos of gallery events that were archived.",
        discussion: """
            When an event is older than retention.event_days, its photo goes to gallery-archive/ in the store, and its \
            text is deleted (sync-agent cleanup). These commands need nothing but the store: they work on any machine \
            with the same configuration, beside a running agent.

            EXAMPLES
              sync-agent archive list --profile grandma --from 2025-01-01
              sync-agent archive list --html ~/Desktop/memories.html
              sync-agent archive download --output ~/Pictures/Memories
              sync-agent archive download --zip ~/Desktop/2024.zip --from 2024-01-01
            """,
        subcommands: [ArchiveListCommand.self, ArchiveDownloadCommand.self]
    )
}

struct ArchiveListCommand: QueryCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List archived photos, the newest first.",
        usage: "sync-agent archive list [<options>]",
        discussion: """
            Days are those on which the events were created, in UTC. A contact sheet has a small picture of each photo \
            that can be read, and an empty frame for those in the archive; the pictures are inside the file.

            EXAMPLES
              sync-agent archive list
              sync-agent archive list --profile grandma --from 2025-01-01 --to 2025-03-31
              sync-agent archive list --type taskResponse --html ~/Desktop/memories.html
              sync-agent archive list --json | jq -r '.photos[].key'
            """
    )

    @OptionGroup var which: ArchiveOptions

    @Option(help: ArgumentHelp("The maximum number of results.", valueName: "n"))
    var limit = 50

    @Option(help: ArgumentHelp("Continue after this key, the last of the previous page.", valueName: "key"))
    var after: String?

    @Option(
        help: ArgumentHelp("Write a contact sheet of the photos, three in a row.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: OutputArgument?

    @Flag(help: "Replace the contact sheet's file if it is there.")
    var force = false

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes 1 or more") }
        if force, html == nil { throw ValidationError("--force is about the file of --html") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        let file = try html.map { try SheetFile($0.path(workspace.installation), overwrites: force) }
        let services = try await ArchiveServices(workspace)
        let page = try await services.page(which, after: after, limit: limit)
        var failures = 0
        if let file { failures = try await draw(page, file, services) }
        let status: ExitStatus = failures > 0 || !page.problems.isEmpty ? .partlyDone : .done
        return Answer(ArchiveReport(page, services.book), status: status) { output in
            guard let file else { return ArchiveView(terminal: output, names: services.book.names).list(page) }
            let count = Quantities.counted(page.photos.count, "photo")
            return ["\(count) on \(file.path.text.escapingControls)"]
                + (page.next == nil ? [] : ["There are more: raise --limit."])
        }
    }

    /// - Returns: of how many photos there is no picture that should be one.
    private func draw(_ page: ArchivePage, _ file: SheetFile, _ services: ArchiveServices) async throws -> Int {
        let workspace = services.workspace
        let errors = workspace.console.errors
        let sheet = ArchiveSheet(
            store: services.store, maker: SharedPhotoMaker(pictures: workspace.pictures),
            pool: workspace.threads.photos,
            time: workspace.time)
        let progress = ProgressLine(errors, time: workspace.time)
        defer { progress.finish() }
        let result = try await sheet.make(title: title(services), of: page.photos, profiles: services.book.names) {
            progress.count($0, of: page.photos.count, "photo")
        }
        try file.write(try result.sheet.html())
        progress.finish()
        if result.undrawn > 0 {
            errors.writeLine(
                "\(Quantities.counted(result.undrawn, "photo")) without a preview: pictures are made of JPEG files only"
            )
        }
        for (key, reason) in result.failures { errors.writeLine("\(key.rawValue): \(reason)".escapingControls) }
        return result.failures.count
    }

    /// `Memories of Grandma, from 2025-01-01 to 2025-03-31`
    private func title(_ services: ArchiveServices) -> String {
        var title = "Memories"
        if let profile = which.profile {
            title += " of \(services.book.keyNames(of: profile).first.flatMap { services.book.name($0) } ?? profile)"
        }
        let days = [which.from.map { "from \($0)" }, which.to.map { "to \($0)" }].compactMap(\.self)
        return days.isEmpty ? title : title + ", " + days.joined(separator: " ")
    }
}

/// The file that a contact sheet becomes: whole or not at all, and never in the place of another one that was not to go.
struct SheetFile {
    let path: FilePath
    let overwrites: Bool

    /// - Throws: ``CommandFailure`` when something has the name and is not to be replaced.
    init(_ path: FilePath, overwrites: Bool) throws {
        self.path = path
        self.overwrites = overwrites
        guard let status = try? FileStatus(at: path) else { return }
        if status.kind == .folder {
            throw CommandFailure.failed("\(path.string.escapingControls) is a folder; name a file")
        }
        if !overwrites { throw isTaken }
        // A path that was mistyped may be that of a photo, or of the configuration.
        guard ["html", "htm"].contains(path.extension?.lowercased()) else {
            throw CommandFailure.usage(
                "\(path.string.escapingControls) is there already, and no contact sheet; --force replaces a file whose name ends "
                    + "in .html")
        }
    }

    /// - Throws: ``CommandFailure``.
    func write(_ text: String) throws {
        do {
            // As the person's umask wants it.
            let isWritten = try NewFile.save(
                text.utf8, to: path, permissions: FilePermissions(rawValue: 0o666), overwrites: overwrites)
            if !isWritten { throw isTaken }
        } catch Errno.wouldBlock {
            throw CommandFailure.failed(
                "\(path.string.escapingControls) is being written already; wait for it, or name another file")
        } catch let error as Errno {
            let place = "\(path.string.escapingControls): cannot be written"
            throw CommandFailure(error, at: place, or: "name another file")
        }
    }

    private var isTaken: CommandFailure {
        CommandFailure.failed("\(path.string.escapingControls) is there already; name another file, or use --force")
    }
}

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

    @OptionGroup var consent: ConsentOptions
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
        let services = try await ArchiveServices(workspace)
        let page = try await services.page(which, after: after, limit: limit)
        let archived = page.photos.filter { $0.status == .archived }
        let restored = restore && !archived.isEmpty ? try await request(archived, workspace) : nil
        return Answer(try await save(page, from: services.store, to: destination, workspace, restored))
    }

    /// - Throws: ``CommandFailure`` when it costs too much, or somebody says no: then nothing was requested.
    private func request(_ photos: [ArchivedGalleryPhoto], _ workspace: Workspace) async throws -> RestoreReport {
        let restores = Restores(try await RestoreServices(workspace, access: .writes), for: .download)
        let wish = RestoreWish(
            names: photos.map(\.key.rawValue), tier: tier.map { .tier($0) }, days: days, maximumCost: maximumCost,
            isAgreed: consent.yes)
        let proposal = try await restores.propose(wish)
        try await restores.agree(to: proposal, wish)
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
        let download = ArchiveDownload(from: store, pool: workspace.threads.disk, time: workspace.time)
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
