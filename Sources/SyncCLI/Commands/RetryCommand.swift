import ArgumentParser
import SyncCore
import SyncLedger

struct RetryCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry what failed or is waiting.",
        discussion: """
            Makes photos that failed, and photos that wait for their next try, due at once: all of them, or those at \
            the paths that are named. A running agent takes them up within a few seconds; without one, the next sync \
            does.

            Use it when the cause that `sync-agent status` reports is gone: a permission was granted, a disk has space \
            again, a program was updated.

            EXAMPLES
              sync-agent retry
              sync-agent retry ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent retry --json | jq .retried
            """
    )

    @Argument(help: "Files or folders to try again; all when none is named.", completion: .file())
    var paths: [PathArgument] = []

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (paths, locator) = (paths.map(\.text), workspace.installation.pathLocator)
        let (retried, unknown) = try await workspace.ledger { ledger in
            var photos: [Int64] = []
            let unknown = try locator.photos(at: paths, in: ledger) { photo in
                if photo.state == .failed || photo.state == .pending { photos.append(photo.id) }
            }
            // Where nothing that was named is known, there is nothing to do.
            if !paths.isEmpty, unknown.paths.count == paths.count, let failure = unknown.failure { throw failure }
            return (try ledger.retry(paths.isEmpty ? nil : photos), unknown)
        }
        let report = RetryReport(
            retried: retried.failed + retried.waiting, failed: retried.failed, waiting: retried.waiting,
            agentRunning: try workspace.installation.agentRuns())
        return Answer(report, failure: unknown.failure)
    }
}
