import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what is safe, what is not yet, and why.",
        discussion: """
            Without a path: an overview. With paths: every photo there, also those that were deleted on this machine. \
            Storage classes are those that the store told last; the agent asks it every day, --refresh does now, by one \
            listing for each thousand objects. It also finds what the store no longer has: the next sync stores it again.

              ❄️  archived    ⏳  retrieving    ✨  restored    ⭐  rush    ⚠️  error

            EXAMPLES
              sync-agent status
              sync-agent status --watch
              sync-agent status --refresh
              sync-agent status ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent status --json | jq .oldestUnsynced
            """
    )

    @Argument(help: "Files or folders to tell of.", completion: .file())
    var paths: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "Show the overview again and again, until Ctrl-C.")
    var watch = false

    @Flag(help: "Ask the store for the classes of all objects first.")
    var refresh = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if watch, json || !paths.isEmpty {
            throw ValidationError("--watch shows the overview; leave out --json and the paths")
        }
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let output = Terminal.standardOutput(environment)
            if refresh { try await refreshClasses(ledger, installation) }
            if !paths.isEmpty {
                try listPhotos(ledger, installation, output)
            } else if watch {
                try await follow(ledger, installation, output)
            } else {
                let status = try await StatusReader(installation, ledger: ledger).read()
                output.write(json ? try JSONOutput.text(status.report) + "\n" : status.view(on: output).text)
            }
        }
    }

    // MARK: Photos

    private struct PhotoList: Encodable {
        var files: [PhotoReport]
    }

    private func refreshClasses(_ ledger: Ledger, _ installation: Installation) async throws {
        let parts = try RestoreParts(installation, ledger: ledger, access: .reads)
        let terminal = Terminal.standardError(installation.environment)
        var line = StatusLine(terminal)
        let result: ClassRefresh.Result
        do {
            defer { line.finish() }
            result = try await parts.refresh.run { seen in
                if terminal.isInteractive { line.show("the store has told of \(Quantities.counted(seen, "object"))") }
            }
        } catch let error as StoreError where error.code == .storeMissing {
            guard try !ledger.knowsStore() else { throw error }
            return terminal.writeLine("the store is not there yet; the first sync makes it")
        }
        var summary =
            "the store has told of \(Quantities.counted(result.seen, "object")); \(Quantities.count(result.changed)) "
            + "had changed"
        let broken = result.findings.broken
        if broken.objects > 0 {
            summary += "; \(Quantities.count(broken.objects)) are no longer there as they were stored "
            summary += "(\(Quantities.counted(broken.pending, "photo")) to be stored again, "
            summary += "\(Quantities.count(broken.lost)) lost)"
        }
        if result.findings.mended > 0 { summary += "; \(Quantities.count(result.findings.mended)) are there again" }
        terminal.writeLine(summary)
        for problem in result.problems {
            terminal.writeLine("cannot be looked at: \(problem.key.rawValue.escapingControls): \(problem.reason)")
        }
        if result.problemCount > result.problems.count {
            terminal.writeLine("cannot be looked at: \(Quantities.counted(result.problemCount, "object")) in all")
        }
    }

    private func listPhotos(_ ledger: Ledger, _ installation: Installation, _ output: Terminal) throws {
        let locator = PathLocator(roots: installation.settings.watch.map(\.path))
        let view = PhotoListView(terminal: output)
        let (policy, now) = (try installation.tierPolicy(), installation.time.now())
        try ledger.expireRestores(at: now)
        var reports: [PhotoReport] = []
        var unknown: [String] = []
        for path in paths {
            let absolute = ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
            var count = 0
            for candidate in locator.candidates(for: absolute) where count == 0 {
                count = try ledger.photos(at: candidate) { photo in
                    let standing = try PhotoStanding(photo, policy: policy, in: ledger, now: now)
                    let versions = try ledger.versions(of: photo)
                    if json {
                        reports.append(PhotoReport(standing, versions: versions))
                    } else {
                        (view.lines(standing) + view.lines(versions)).forEach(output.writeLine)
                    }
                }
            }
            if count == 0 { unknown.append(absolute.string) }
        }
        if json { output.writeLine(try JSONOutput.text(PhotoList(files: reports))) }
        guard unknown.isEmpty else {
            throw CommandFailure(.noSuchPath, unknown.map(Self.unknownPath).joined(separator: "\n"))
        }
    }

    static func unknownPath(_ path: String) -> String {
        "\(path.escapingControls): nothing is known of this path; is it below a watched folder, and was it synced?"
    }

    // MARK: Watching

    private func follow(_ ledger: Ledger, _ installation: Installation, _ output: Terminal) async throws {
        let reader = StatusReader(installation, ledger: ledger)
        if output.isInteractive { output.write("\u{1B}[2J") }
        while true {
            let text = try await reader.read().view(on: output).text
            // Home, the text with each line cleared to its end, then whatever is left below (ECMA-48).
            let frame = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\u{1B}[K\n")
            output.write(output.isInteractive ? "\u{1B}[H" + frame + "\u{1B}[J" : text + "\n")
            try await installation.time.sleep(.seconds(1))
        }
    }
}
