import ArgumentParser
import SyncArchive
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

struct ArchiveDownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Save archived photos in a folder or a zip file.",
        discussion: """
            Saves what can be read, as DATE_PROFILE_EVENT.jpg; nothing is replaced, and what is there is not fetched \
            twice. What has to come back from the archive first is left out and counted; with --restore it is asked for, \
            after its cost was shown, and the same command saves it when it is there.

            EXAMPLES
              sync-agent archive download --output ~/Pictures/Memories --profile grandma
              sync-agent archive download --restore --tier bulk --output ~/Pictures/Memories --to 2024-12-31
              sync-agent archive download --zip ~/Desktop/memories.zip --from 2025-01-01
            """
    )

    @OptionGroup var which: MemoryOptions

    @Option(help: ArgumentHelp("At most so many, the newest (default: all).", valueName: "n"))
    var limit: Int?

    @Option(help: ArgumentHelp("Go on after this one: a key, as archive list tells it.", valueName: "key"))
    var after: String?

    @Option(
        help: ArgumentHelp("The folder; it is made when it is not there.", valueName: "dir"), completion: .directory)
    var output: String?

    @Option(
        help: ArgumentHelp("Write one zip file instead.", valueName: "file"), completion: .file(extensions: ["zip"]))
    var zip: String?

    @Flag(help: "Ask for what is in the archive.")
    var restore = false

    @Option(help: "With --restore: bulk, standard or expedited (default: restore.tier).")
    var tier: RestoreTier?

    @Option(
        help: ArgumentHelp(
            "With --restore: how long the copies stay (default: restore.days).", valueName: "days"))
    var days: Int?

    @Option(
        name: .customLong("max-cost"),
        help: ArgumentHelp(
            "With --restore: refuse when it would cost more (default: restore.max_cost_usd).", valueName: "usd"))
    var maximumCost: Double?

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print the result as one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if (output == nil) == (zip == nil) {
            throw ValidationError("name a folder with --output, or a file with --zip")
        }
        if output == "" || zip == "" { throw ValidationError("name a folder with --output, or a file with --zip") }
        if let limit, limit < 1 { throw ValidationError("--limit takes 1 or more") }
        if let days, !(1...3_650).contains(days) { throw ValidationError("--days takes 1 to 3650") }
        if let maximumCost, !(maximumCost >= 0) { throw ValidationError("--max-cost takes dollars, such as 2.50") }
        if !restore, tier != nil || days != nil || maximumCost != nil {
            throw ValidationError("--tier, --days and --max-cost are about --restore")
        }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        let errors = Terminal.standardError(environment)
        try await reportingFailure(errors) {
            let installation = try Installation(global)
            let parts = try MemoryParts(installation)
            let page = try await parts.page(which, after: after, limit: limit, terminal: errors)
            let terminal = Terminal.standardOutput(environment)
            let archived = page.photos.filter { $0.standing == .archived }
            var restored: RestoreReport?
            if restore, !archived.isEmpty {
                // With JSON on standard output, what is for people goes to standard error.
                let desk = MemoryRestore(
                    installation: installation,
                    wish: MemoryRestore.Wish(tier: tier, days: days, maximumCost: maximumCost, isAgreed: yes),
                    terminal: json ? errors : terminal, isSilent: json && !errors.isInteractive)
                restored = try await desk.run(archived)
            }
            let report = try await save(page, parts, installation, errors, restored)
            if json {
                terminal.writeLine(try JSONOutput.text(report))
            } else {
                report.lines(on: terminal).forEach(terminal.writeLine)
            }
            try parts.ledger?.close()
            if report.status != .done { throw report.status.code }
        }
    }

    private func save(
        _ page: MemoryPage, _ parts: MemoryParts, _ installation: Installation, _ errors: Terminal,
        _ restored: RestoreReport?
    ) async throws -> MemoryDownloadReport {
        let memories = page.photos.filter(\.isReadable)
        let pool = BlockingPool(name: "downloads", threads: 3)
        let download = MemoryDownload(from: parts.store, pool: pool, time: installation.time)
        let progress = ShareProgress(terminal: errors, time: installation.time)
        defer { progress.finish() }
        let show = { progress.note($0, of: memories.count) }
        let destination: FilePath
        var outcomes: [MemoryDownload.Outcome] = []
        if let zip {
            destination = Self.absolute(zip)
            if !memories.isEmpty { outcomes = try await pack(memories, into: destination, download, show) }
        } else {
            destination = Self.absolute(output ?? "")
            try FolderMaker().makeFolder(
                destination, permissions: [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute])
            outcomes = await download.save(memories, to: destination, finished: show)
        }
        return MemoryDownloadReport(destination, memories, outcomes, of: page, restore: restored)
    }

    private func pack(
        _ memories: [ArchivedMemory], into file: FilePath, _ download: MemoryDownload, _ show: (Int) -> Void
    ) async throws -> [MemoryDownload.Outcome] {
        let archive = try ZipFile(at: file)
        // Until it is finished, nothing has its name.
        defer { archive.cancel() }
        return try await download.save(memories, into: archive, at: file, finished: show)
    }

    private static func absolute(_ path: String) -> FilePath {
        ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
    }
}
