import ArgumentParser
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch

struct SharesCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares",
        abstract: "List shares, or revoke one.",
        usage: "sync-agent shares [<options>]",
        discussion: """
            The newest first; those that were revoked or have expired stay in the list, without a link. A share counts as \
            revoked or expired when a listing of the store has shown that nothing of it is left; until then it is \
            revoking or expiring, and a running agent, or the next sync, goes on with it.

            Of those that can be seen it looks at the folder, and tells by how many photos they differ from it.

            EXAMPLES
              sync-agent shares
              sync-agent shares --revoke 0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10
              sync-agent shares --json | jq '.shares[].link'
            """
    )

    @Option(help: ArgumentHelp("Remove this share from the store: its id, or a link to it.", valueName: "id"))
    var revoke: String?

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var options: AnswerOptions

    private static let sharesShown = 200

    func answer(_ workspace: Workspace) async throws -> Answer {
        if let revoke {
            let answer = try await end(revoke, workspace)
            if !options.json { return answer }
        }
        let (ledger, now) = (try await workspace.ledger, workspace.time.now())
        let review = ShareReview(
            ledger: ledger,
            place: .disk(FileTreeScanner(), PhotoFileReducer(), workspace.threads.disk))
        let differences = try await review.liveShares()
        let shares = try await ledger { try $0.shares(limit: Self.sharesShown) }.map {
            ShareListReport.Share($0, now: now, difference: differences[$0.id])
        }
        return Answer(ShareListReport(shares: shares)) { ShareView(terminal: $0, now: now).list(shares) }
    }

    // MARK: Revoking

    /// - Returns: what people are told of it.
    private func end(_ name: String, _ workspace: Workspace) async throws -> Answer {
        let share = try await find(name, try await workspace.ledger)
        let terminal = workspace.console.people
        if share.state.isOver {
            terminal.writeLine("Share \(share.id) is \(share.state.rawValue) already; nothing of it is in the store.")
            return Answer()
        }
        let parts = ShareServices(workspace, try await RestoreServices(workspace, access: .writes))
        let what =
            "\(Quantities.counted(share.photoCount, "photo")) of \(share.location.escapingControls), shared on "
            + Quantities.day(share.createdAt)
        guard yes || Question.confirm("Revoke \(what)?", on: terminal) else {
            throw CommandFailure(.failed, "nothing was revoked")
        }
        try await remove(share, parts, workspace)
        try await workspace.updateCatalog(parts.restores.store)
        return Answer(lines: ["Revoked: \(what). Nothing of it is left in the store."])
    }

    /// A process that is publishing it notices within seconds, and is waited for.
    private func remove(_ share: ShareRecord, _ parts: ShareServices, _ workspace: Workspace) async throws {
        let line = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { line.finish() }
        while true {
            do {
                return try await parts.ender.run(share.id, .revoked)
            } catch ShareError.inOtherHands {
                line.show("another process is at work on this share")
                try await workspace.time.sleep(.seconds(1))
            } catch let error as StoreError {
                throw CommandFailure(
                    ExitStatus(error),
                    "\(error). The share counts as revoking: a running agent, or the same command again, continues it"
                )
            }
        }
    }

    private func find(_ name: String, _ ledger: LedgerQueue) async throws -> ShareRecord {
        let reference: ShareReference
        do {
            reference = try ShareReference(name)
        } catch {
            throw CommandFailure(ExitStatus(error), "\(error); sync-agent shares lists them")
        }
        guard let id = reference.shareID, let share = try await ledger({ try $0.share(id) }) else {
            throw CommandFailure(
                .noSuchPath,
                "\(WebLink.withoutSecrets(name).escapingControls): no share of this installation; sync-agent shares lists them"
            )
        }
        return share
    }
}
