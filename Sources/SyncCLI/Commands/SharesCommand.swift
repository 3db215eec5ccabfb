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

struct SharesCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares",
        abstract: "List shares, revoke one, or take one over.",
        usage: "sync-agent shares [<options>]",
        discussion: """
            The newest first; those that were revoked or have expired stay in the list, without a link. A share counts as \
            revoked or expired when a listing of the store has shown that nothing of it is left; until then it is \
            revoking or expiring, and a running agent, or the next sync, goes on with it.

            Shares that can be seen are compared with their folders: the list says how many photos differ.

            Shares of the user's other machines follow, as the store's catalogue lists them, and can be revoked here, \
            too. The machine that has the share no longer publishes it, even if it is off now.

            A share is renewed, and removed at its end, by the machine that made it. If that machine is gone for good, \
            or for a long time, --take-over hands the share to this one; the link stays the same where links are \
            plain.

            EXAMPLES
              sync-agent shares
              sync-agent shares --revoke 0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10
              sync-agent shares --take-over 0b5c2d1e-7c1e-4b3f-9a55-3f1f0a3c9d10
              sync-agent shares --json | jq '.shares[].link'
            """
    )

    @Option(help: ArgumentHelp("Remove this share from the store: its id, or a link to it.", valueName: "id"))
    var revoke: String?

    @Option(help: ArgumentHelp("Take this share over from another machine: its id, or a link to it.", valueName: "id"))
    var takeOver: String?

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: AnswerOptions

    var isQuery: Bool { revoke == nil && takeOver == nil }

    func validate() throws {
        if revoke != nil, takeOver != nil { throw ValidationError("--revoke and --take-over do not go together") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        var status = ExitStatus.done
        if let revoke {
            let told = try await end(revoke, workspace)
            status = told.status
            if !options.json { return Answer(told.status, lines: told.lines) }
        } else if let takeOver {
            let answer = try await self.takeOver(takeOver, workspace)
            if !options.json { return answer }
        }
        let (ledger, now) = (try await workspace.ledger, workspace.time.now())
        let review = ShareReview(
            ledger: ledger, place: .disk(FileTreeScanner(), workspace.reducer, workspace.threads.disk))
        let differences = try await review.liveShares()
        let this = ShareListReport.Machine(
            id: try await ledger { try $0.catalogStatus().machine }, name: workspace.installation.machineName,
            isThis: true)
        let own = try await ledger { try $0.shares(limit: SharesElsewhere.mostShown) }.map {
            ShareListReport.Share($0, of: this, now: now, difference: differences[$0.id])
        }
        let store = Lock<(any ObjectStore)?>(nil)
        let elsewhere: SharesElsewhere
        do {
            elsewhere = try await SharesElsewhere(workspace) {
                let opened = try await workspace.readStoreOnce()
                store.withLock { $0 = opened }
                return opened
            }
        } catch let unasked as SharesElsewhere.Unasked {
            elsewhere = SharesElsewhere(unasked)
        }
        let others = try await list(elsewhere, in: store.withLock { $0 }, workspace, now: now)
        for problem in elsewhere.problems { workspace.console.errors.writeLine(problem.escapingControls) }
        let report = ShareListReport(shares: own + others, problems: elsewhere.problems)
        return Answer(report, status: status) { ShareView(terminal: $0, now: now).list(report.shares) }
    }

    private func list(
        _ elsewhere: SharesElsewhere, in store: (any ObjectStore)?, _ workspace: Workspace, now: Date
    ) async throws -> [ShareListReport.Share] {
        guard let store else { return [] }
        let links = workspace.installation.shareLinks(store)
        var shares: [ShareListReport.Share] = []
        for share in elsewhere.listed {
            shares.append(.init(share, link: await links.address(of: share, now: now), now: now))
        }
        return shares
    }

    // MARK: Revoking

    /// What people are told of it, and how it ended.
    private typealias Told = (status: ExitStatus, lines: [String])

    private func end(_ name: String, _ workspace: Workspace) async throws -> Told {
        let id = try Self.id(name)
        let terminal = workspace.console.people
        if let share = try await workspace.ledger.callAsFunction({ try $0.share(id) }), share.state.isOver {
            Self.showOver(share.id, share.state, terminal); return (.done, [])
        }
        let services = try await ShareServices(RestoreServices(workspace, access: .writes))
        // One that another machine has taken over is that one's. Where the store cannot be asked, it is noted here at least.
        do { try await services.notes.followAll() } catch is StoreError {}
        guard let share = try await services.ledger({ try $0.share(id) }) else {
            return try await endOther(id, name, services)
        }
        let what =
            "\(Quantities.counted(share.photoCount, "photo")) of \(share.location.escapingControls), shared on "
            + Quantities.day(share.createdAt)
        try await confirm(what, workspace)
        try await remove(share, services)
        try await workspace.updateCatalog(services.restores.store)
        return Self.revoked(what)
    }

    /// Takes back what another machine shares.
    private func endOther(_ id: ShareID, _ name: String, _ services: ShareServices) async throws -> Told {
        let workspace = services.workspace
        let (found, problems) = try await find(id, services)
        let what: String
        let remove: () async throws -> Bool
        if let share = found {
            if share.state.isOver { Self.showOver(share.id, share.state, workspace.console.people); return (.done, []) }
            what = Self.description(of: share)
            remove = { try await services.otherRemover.run(share) }
        } else if let stray = try await workspace.asking(else: nil, { try await services.others.stray(id) }) {
            // Its machine's catalogue cannot be read, or is not written yet.
            problems.map(\.escapingControls).forEach(workspace.console.errors.writeLine)
            let location = stray.location.map { ", \($0.escapingControls)" } ?? ""
            what = "share \(id)\(location), of which no catalogue tells whose it is"
            remove = { try await services.otherRemover.run(id, stray) }
        } else {
            throw Self.unknown(name, problems)
        }
        try await confirm(what, workspace)
        let rest =
            "It is noted that the share is to go: a running agent, the next sync, or the same command again "
            + "continues it"
        let (wasThere, hasWaited) = try await inTurn(rest, services, remove)
        // What was there may be gone by the hands of the process that was waited for.
        return wasThere || hasWaited ? Self.revoked(what) : Self.noted(what)
    }

    /// The share of another machine that is meant.
    /// - Returns: also what could not be read of catalogues, in plain words.
    func find(_ id: ShareID, _ services: ShareServices) async throws -> (share: OtherShare?, problems: [String]) {
        let (shares, problems) = try await services.workspace.asking(else: (shares: [], problems: [])) {
            try await services.others.run()
        }
        return (shares.first { $0.id == id }, problems)
    }

    static func unknown(_ name: String, _ problems: [String]) -> CommandFailure {
        let unread = problems.isEmpty ? "" : ". Not all of them could be looked at: \(problems.joined(separator: "; "))"
        return CommandFailure.noSuchPath(
            "\(WebLink.withoutSecrets(name).escapingControls): no machine of this user has such a share; sync-agent shares "
                + "lists them\(unread.escapingControls)")
    }

    static func description(of share: OtherShare) -> String {
        let photos = share.photoCount.map { Quantities.counted($0, "photo") + " of " } ?? ""
        return
            "\(photos)\(share.location.escapingControls), shared on \(Quantities.day(share.createdAt)), of the machine "
            + share.machineName.escapingControls
    }

    private func confirm(_ what: String, _ workspace: Workspace) async throws {
        try await workspace.afterAsking {
            try Question.require(
                "Revoke \(what)?", on: workspace.console.people, unless: consent.yes, no: "nothing was revoked")
        }
    }

    static func showOver(_ id: ShareID, _ state: ShareState, _ terminal: Terminal) {
        terminal.writeLine("Share \(id) is \(state.rawValue) already; nothing of it is in the store.")
    }

    /// Of a share that is called live, and of which the store had nothing.
    private static func noted(_ what: String) -> Told {
        (
            .partlyDone,
            [
                "It is noted that this share is over: \(what). Nothing of it was in this store. When its machine has moved to "
                    + "another store, it can be seen there until this machine moves there, too (sync-agent move-store), or "
                    + "somebody there revokes it."
            ]
        )
    }

    private static func revoked(_ what: String) -> Told {
        (.done, ["Revoked: \(what). Nothing of it is left in the store."])
    }

    private func remove(_ share: ShareRecord, _ services: ShareServices) async throws {
        let rest = "The share counts as revoking: a running agent, or the same command again, continues it"
        _ = try await inTurn(rest, services) { try await services.remover.run(share.id, .revoked) }
    }

    /// Another process that is publishing the share notices within seconds, one that removes it ends; both are waited for.
    /// - Returns: also whether there was one.
    private func inTurn<Value>(
        _ rest: String, _ services: ShareServices, _ work: () async throws -> Value
    ) async throws -> (value: Value, hasWaited: Bool) {
        let line = ProgressLine(services.workspace.console.errors, time: services.workspace.time)
        defer { line.finish() }
        var hasWaited = false
        while true {
            do {
                return (try await withStoreErrors(adding: rest, work), hasWaited)
            } catch ShareError.inOtherHands {
                hasWaited = true
                line.show("another process is at work on this share")
                try await services.workspace.time.sleep(.seconds(1))
            }
        }
    }

    static func id(_ name: String) throws -> ShareID {
        let reference: ShareReference
        do {
            reference = try ShareReference(name)
        } catch {
            throw CommandFailure(ExitStatus(error), "\(error); sync-agent shares lists them")
        }
        guard let id = reference.shareID else {
            throw CommandFailure.noSuchPath(
                "\(WebLink.withoutSecrets(name).escapingControls): no share of this user; sync-agent shares lists them"
            )
        }
        return id
    }

    /// Makes this machine the one that has a share.
    /// - Returns: what people are told of it.
    func takeOver(_ name: String, _ workspace: Workspace) async throws -> Answer {
        let id = try Self.id(name)
        guard workspace.settings.catalog == .on else {
            throw CommandFailure.configuration(
                "store.catalog is off here, and no other machine could list or revoke the share any more. Set it to on; or revoke "
                    + "the share (sync-agent shares --revoke \(id)) and share the vacation from here")
        }
        let services = try await ShareServices(RestoreServices(workspace, access: .writes))
        let terminal = workspace.console.people
        try await services.notes.followAndClaimAll()
        if let own = try await services.ledger({ try $0.share(id) }) {
            if own.state.isOver { Self.showOver(id, own.state, terminal); return Answer() }
            if own.state.isEnding { throw Self.isBeingRemoved(id) }
            return Answer(lines: ["This machine has share \(id) already."])
        }
        let (found, problems) = try await find(id, services)
        guard let share = found else { throw Self.unknown(name, problems) }
        let what = Self.description(of: share)
        switch share.state {
        case .revoked, .expired: Self.showOver(id, share.state, terminal); return Answer()
        case .revoking, .expiring: throw Self.isBeingRemoved(id)
        case .preparing, .waiting, .live: break
        }
        try await workspace.afterAsking {
            try Question.require(
                "Go on with \(what) from this machine? The other one leaves it alone then.", on: terminal,
                unless: consent.yes, no: "nothing was taken over")
        }
        let problem = try await services.takeOver.run(share) {
            try await workspace.updateCatalog(services.restores.store)
        }
        if let problem {
            workspace.console.errors.writeLine(problem.escapingControls)
        }
        let state = try await publish(id, services)
        try await workspace.updateCatalog(services.restores.store)
        let end = "It is removed when it ends, and gets new links, by this machine's agent or sync."
        return Answer(lines: ["Taken over: \(what). \(state)\(end)"])
    }

    private static func isBeingRemoved(_ id: ShareID) -> CommandFailure {
        CommandFailure.failed("share \(id) is being removed; share the vacation again")
    }

    /// The page with links of this machine's. What does not work now is left to the agent.
    private func publish(_ id: ShareID, _ services: ShareServices) async throws -> String {
        let progress = ProgressLine(services.workspace.console.errors, time: services.workspace.time)
        defer { progress.finish() }
        let rest = "The share is this machine's: a running agent, or the next sync, continues with it"
        do {
            let outcome = try await withStoreErrors(adding: rest) {
                try await services.publisher.run(id) { progress.count($0, of: $1, "photo") }
            }
            guard case .waiting(let share, _) = outcome else { return "" }
            return "\((share.problem ?? "some of its photos are in the archive").escapingControls). "
        } catch ShareError.inOtherHands {
            return ""
        }
    }
}
