import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SystemPackage

/// Asks for archived photos that are to be downloaded: with the estimate, the limit and the question of `restore`.
struct ArchiveRestore {
    struct Wish {
        var tier: RestoreTier?
        var days: Int?
        var maximumCost: Double?
        /// Whether to go on without asking.
        var isAgreed: Bool
    }

    let workspace: Workspace
    let wish: Wish

    private var installation: Installation { workspace.installation }

    /// - Throws: ``CommandFailure`` when it costs too much, or somebody says no: then nothing was asked for.
    func run(_ memories: [ArchivedGalleryPhoto]) async throws -> RestoreReport {
        let parts = try await RestoreServices(workspace, access: .writes)
        let (terminal, isSilent) = (workspace.console.people, workspace.console.isSilent)
        let view = RestoreView(
            terminal: terminal, prices: try installation.prices(),
            isFree: parts.store.capabilities.lifecycle == .byAgent)
        let proposal = try await propose(memories, parts)
        if !isSilent { view.proposal(proposal).forEach(terminal.writeLine) }
        if !proposal.candidates.isEmpty {
            try RestoreLimit(maximumCost: wish.maximumCost, installation.settings.restore).check(proposal)
            guard wish.isAgreed || Question.confirm("Restore them?", on: terminal) else {
                throw CommandFailure(.failed, "no restore was requested, and nothing was downloaded")
            }
        }
        let (job, collided) = try await parts.desk.accept(proposal)
        if let job { try await send(job, parts) }
        var items: [RestoreItem] = []
        if let id = job?.id { items = try await parts.ledger { try $0.restoreItems(of: id, after: 0, limit: .max) } }
        let hours = parts.desk.hours(of: proposal)
        let report = RestoreReport(proposal, job: job, taken: collided, items: items, changes: [], hours: hours)
        if !isSilent { view.result(report, readyAt: job?.end(after: hours)).forEach(terminal.writeLine) }
        return report
    }

    private func propose(_ memories: [ArchivedGalleryPhoto], _ parts: RestoreServices) async throws -> RestoreProposal {
        let settings = installation.settings.restore
        let order = RestoreOrder(
            names: memories.map(\.key.rawValue), wish: .tier(wish.tier ?? settings.tier),
            days: wish.days ?? settings.days, requestedBy: ProcessEnvironment.userName ?? "unknown")
        // They are keys, and no paths.
        let places = RestoreSelection.Places(workingFolder: "/", vacationRoots: [], candidates: { _ in [] })
        do {
            return try await parts.desk.propose(order, in: places)
        } catch let error as TierNotOffered {
            throw CommandFailure(.usage, "\(error); no restore was requested, and nothing was downloaded")
        }
    }

    private func send(_ job: RestoreJob, _ parts: RestoreServices) async throws {
        do {
            _ = try await parts.sender.run(job: job.id) { _ in }
        } catch let error as StoreError {
            throw CommandFailure(
                ExitStatus(error),
                "\(error). Restore \(job.id) is kept: the agent, or sync-agent restores --refresh, continues it")
        }
    }
}
