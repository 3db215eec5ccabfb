import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncPages
import SyncPhotos
import SyncSystem
import SystemPackage

struct ArchiveListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List archived photos, the newest first.",
        discussion: """
            Days are those on which the events were created, in UTC. A contact sheet has a small picture of each photo \
            that can be read, and an empty frame for those in the archive; the pictures are inside the file.

            EXAMPLES
              sync-agent archive list
              sync-agent archive list --profile grandma --from 2025-01-01 --to 2025-03-31
              sync-agent archive list --type taskResponse --limit 200 --html ~/Desktop/memories.html
              sync-agent archive list --json | jq -r '.photos[].key'
            """
    )

    @OptionGroup var which: MemoryOptions

    @Option(help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit = 50

    @Option(help: ArgumentHelp("Go on after this one: the key that the page before ended with.", valueName: "key"))
    var after: String?

    @Option(
        help: ArgumentHelp("Write a contact sheet of the photos, three in a row.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var html: String?

    @Flag(help: "Replace the contact sheet's file if it is there.")
    var force = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes 1 or more") }
        if force, html == nil { throw ValidationError("--force is about the file of --html") }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        let errors = Terminal.standardError(environment)
        try await reportingFailure(errors) {
            let installation = try Installation(global)
            let file = try html.map { try SheetFile(Self.absolute($0), overwrites: force) }
            let parts = try MemoryParts(installation)
            let page = try await parts.page(which, after: after, limit: limit, terminal: errors)
            var failures = 0
            if let file { failures = try await draw(page, file, parts, installation, errors) }
            let output = Terminal.standardOutput(environment)
            if json {
                output.writeLine(try JSONOutput.text(MemoryReport(page)))
            } else if let file {
                let count = Quantities.counted(page.photos.count, "photo")
                output.writeLine("\(count) on \(file.path.string.escapingControls)")
                if page.next != nil { output.writeLine("There are more: raise --limit.") }
            } else {
                MemoryView(terminal: output, names: parts.book.names).list(page).forEach(output.writeLine)
            }
            try parts.ledger?.close()
            if failures > 0 || !page.problems.isEmpty { throw ExitStatus.partlyDone.code }
        }
    }

    /// - Returns: of how many photos there is no picture that should be one.
    private func draw(
        _ page: MemoryPage, _ file: SheetFile, _ parts: MemoryParts, _ installation: Installation, _ errors: Terminal
    ) async throws -> Int {
        let pool = BlockingPool(name: "thumbnails", threads: ProcessEnvironment.processorCount)
        let sheet = MemorySheet(store: parts.store, maker: SharedPhotoMaker(), pool: pool, time: installation.time)
        let progress = ShareProgress(terminal: errors, time: installation.time)
        defer { progress.finish() }
        let result = try await sheet.make(title: title(parts), of: page.photos, profiles: parts.book.names) {
            progress.note($0, of: page.photos.count)
        }
        try file.write(try result.sheet.html())
        progress.finish()
        if result.undrawn > 0 {
            errors.writeLine(
                "\(Quantities.counted(result.undrawn, "photo")) without a preview: pictures are made of JPEG files only"
            )
        }
        for (key, reason) in result.failures { errors.writeLine("\(key.rawValue.escapingControls): \(reason)") }
        return result.failures.count
    }

    /// `Memories of Grandma, from 2025-01-01 to 2025-03-31`
    private func title(_ parts: MemoryParts) -> String {
        var title = "Memories"
        if let profile = which.profile {
            title += " of \(parts.book.keyNames(of: profile).first.flatMap { parts.book.names[$0.inBytes] } ?? profile)"
        }
        let days = [which.from.map { "from \($0)" }, which.to.map { "to \($0)" }].compactMap(\.self)
        return days.isEmpty ? title : title + ", " + days.joined(separator: " ")
    }

    private static func absolute(_ path: String) -> FilePath {
        ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
    }
}
