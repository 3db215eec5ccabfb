import ArgumentParser
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SystemPackage

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try again what failed or waits.",
        discussion: """
            Makes photos that failed, and photos that wait for their next try, due at once: all of them, or those at the \
            paths that are named. A running agent takes them up within some seconds; without one, the next sync does.

            Use it when the reason is gone that `sync-agent status` told: a right was granted, a disk has room again, a \
            program was updated.

            EXAMPLES
              sync-agent retry
              sync-agent retry ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent retry --json | jq .retried
            """
    )

    @Argument(help: "Files or folders to try again; all when none is named.", completion: .file())
    var paths: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    private struct Report: Encodable {
        var retried: Int
        /// Of them: those that had failed.
        var failed: Int
        /// Of them: those that waited for their next try.
        var waiting: Int
        var agentRunning: Bool
    }

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let (photos, unknown) = try find(ledger, installation)
            // Where nothing that was named is known, there is nothing to do.
            if unknown.isEmpty || unknown.count < paths.count {
                let retried = try ledger.retry(photos)
                let report = Report(
                    retried: retried.failed + retried.waiting, failed: retried.failed, waiting: retried.waiting,
                    agentRunning: try AgentLock.currentHolder(at: installation.lockFile) != nil)
                let output = Terminal.standardOutput(environment)
                output.write(json ? try JSONOutput.text(report) + "\n" : text(report))
            }
            guard unknown.isEmpty else {
                throw CommandFailure(.noSuchPath, unknown.map(StatusCommand.unknownPath).joined(separator: "\n"))
            }
        }
    }

    /// - Returns: the photos that are meant, `nil` for all; and the paths of which nothing is known.
    private func find(_ ledger: Ledger, _ installation: Installation) throws -> ([Int64]?, unknown: [String]) {
        if paths.isEmpty { return (nil, []) }
        let locator = PathLocator(roots: installation.settings.watch.map(\.path))
        var photos: [Int64] = []
        var unknown: [String] = []
        for path in paths {
            let absolute = ProcessEnvironment.workingFolder.pushing(FilePath(path)).lexicallyNormalized()
            var count = 0
            for candidate in locator.candidates(for: absolute) where count == 0 {
                count = try ledger.photos(at: candidate) { photo in
                    if photo.state == .failed || photo.state == .pending { photos.append(photo.id) }
                }
            }
            if count == 0 { unknown.append(absolute.string) }
        }
        return (photos, unknown)
    }

    private func text(_ report: Report) -> String {
        guard report.retried > 0 else { return "Nothing failed, and nothing waits for another try.\n" }
        let next = report.agentRunning ? "the agent tries them now" : "no agent is running: sync-agent sync tries them"
        return """
            \(Quantities.counted(report.retried, "photo")) to try again (\(Quantities.count(report.failed)) had failed, \
            \(Quantities.count(report.waiting)) waited); \(next)

            """
    }
}
