import ArgumentParser
import FoundationEssentials
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch

struct SharesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares",
        abstract: "List what is shared, or take it back.",
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

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var global: GlobalOptions

    private static let sharesShown = 200

    func run() async throws {
        let environment = ProcessEnvironment.current
        try await reportingFailure(.standardError(environment)) {
            let installation = try Installation(global)
            let ledger = try installation.openLedger()
            let output = Terminal.standardOutput(environment)
            if let revoke { try await end(revoke, installation, ledger, output) }
            if revoke == nil || json { try await list(ledger, installation.time.now(), output) }
            try ledger.close()
        }
    }

    private func list(_ ledger: Ledger, _ now: Date, _ output: Terminal) async throws {
        let review = ShareReview(
            ledger: LedgerQueue(ledger, pool: BlockingPool(name: "ledger", threads: 1)),
            place: .disk(FileTreeScanner(), PhotoFileReducer(), BlockingPool(name: "look", threads: 1)))
        let differences = try await review.liveShares()
        let shares = try ledger.shares(limit: Self.sharesShown).map {
            ShareListReport.Share($0, now: now, difference: differences[$0.id])
        }
        if json {
            output.writeLine(try JSONOutput.text(ShareListReport(shares: shares)))
        } else {
            ShareView(terminal: output, now: now).list(shares).forEach(output.writeLine)
        }
    }

    // MARK: Revoking

    private func end(
        _ name: String, _ installation: Installation, _ ledger: Ledger, _ output: Terminal
    ) async throws {
        let share = try find(name, ledger)
        let terminal = json ? Terminal.standardError(installation.environment) : output
        if share.state.isOver {
            terminal.writeLine("Share \(share.id) is \(share.state.rawValue) already; nothing of it is in the store.")
            return
        }
        let parts = ShareParts(installation, try RestoreParts(installation, ledger: ledger, access: .writes))
        let what =
            "\(Quantities.counted(share.photoCount, "photo")) of \(share.location.escapingControls), shared on "
            + Quantities.day(share.createdAt)
        guard yes || Question.confirm("Take back \(what)?", on: terminal) else {
            throw CommandFailure(.failed, "nothing was revoked")
        }
        try await remove(share, installation, parts)
        if !json { output.writeLine("Revoked: \(what). Nothing of it is left in the store.") }
    }

    /// A process that is publishing it notices within seconds, and is waited for.
    private func remove(_ share: ShareRecord, _ installation: Installation, _ parts: ShareParts) async throws {
        var line = StatusLine(.standardError(installation.environment))
        defer { line.finish() }
        while true {
            do {
                return try await parts.ender.run(share.id, .revoked)
            } catch ShareError.inOtherHands {
                line.show("another process is at work on this share")
                try await installation.time.sleep(.seconds(1))
            } catch let error as StoreError {
                throw CommandFailure(
                    ExitStatus(error),
                    "\(error). The share counts as revoking: a running agent, or the same command again, goes on with it"
                )
            }
        }
    }

    private func find(_ name: String, _ ledger: Ledger) throws -> ShareRecord {
        let reference: ShareReference
        do {
            reference = try ShareReference(name)
        } catch {
            throw CommandFailure(.noSuchPath, "\(error); sync-agent shares lists them")
        }
        guard let id = reference.shareID, let share = try ledger.share(id) else {
            throw CommandFailure(
                .noSuchPath,
                "\(WebLink.withoutSecrets(name).escapingControls): no share of this installation; sync-agent shares lists them"
            )
        }
        return share
    }
}
