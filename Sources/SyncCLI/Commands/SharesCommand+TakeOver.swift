import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore

extension SharesCommand {
    /// Makes this machine the one that has a share.
    /// - Returns: what people are told of it.
    func takeOver(_ name: String, _ workspace: Workspace) async throws -> Answer {
        let id = try Self.id(name)
        guard workspace.settings.catalog == .on else {
            throw CommandFailure(
                .configuration,
                "store.catalog is off here, and no other machine could list or revoke the share any more. Set it to on; or revoke "
                    + "the share (sync-agent shares --revoke \(id)) and share the vacation from here")
        }
        let parts = try ShareServices(workspace, try await RestoreServices(workspace, access: .writes))
        let terminal = workspace.console.people
        try await parts.notes.notice()
        if let own = try await parts.ledger({ try $0.share(id) }) {
            if !own.state.isOpen { Self.tellOver(id, own.state, terminal); return Answer() }
            return Answer(lines: ["This machine has share \(id) already."])
        }
        let (found, problems) = try await find(id, parts, workspace)
        guard let share = found else { throw Self.unknown(name, problems) }
        let what = Self.description(of: share)
        switch share.state {
        case .revoked, .expired: Self.tellOver(id, share.state, terminal); return Answer()
        case .revoking, .expiring:
            throw CommandFailure(.failed, "share \(id) is being removed; share the vacation again")
        case .preparing, .waiting, .live: break
        }
        guard
            yes
                || Question.confirm(
                    "Go on with \(what) from this machine? The other one leaves it alone then.", on: terminal)
        else { throw CommandFailure(.failed, "nothing was taken over") }
        let problem = try await parts.takeOver.run(share) { try await workspace.updateCatalog(parts.restores.store) }
        if let problem {
            workspace.console.errors.writeLine(problem.escapingControls)
        }
        let state = try await publish(id, parts, workspace)
        try await workspace.updateCatalog(parts.restores.store)
        let end = "It is removed when it ends, and gets new links, by this machine's agent or sync."
        return Answer(lines: ["Taken over: \(what). \(state)\(end)"])
    }

    /// The page with links of this machine's. What does not work now is left to the agent.
    private func publish(_ id: ShareID, _ parts: ShareServices, _ workspace: Workspace) async throws -> String {
        let progress = ProgressLine(workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        do {
            if case .waiting(let share, _) = try await parts.publisher.run(
                id, onProgress: { progress.count($0, of: $1, "photo") })
            {
                return "\((share.problem ?? "some of its photos are in the archive").escapingControls). "
            }
            return ""
        } catch ShareError.inOtherHands {
            return ""
        } catch let error as StoreError {
            throw CommandFailure(
                ExitStatus(error),
                "\(error). The share is this machine's: a running agent, or the next sync, continues with it")
        }
    }
}
