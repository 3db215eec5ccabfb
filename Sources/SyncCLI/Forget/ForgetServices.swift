import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SyncWatch
import SystemPackage

/// The parts of forgetting, put together from the configuration: for `forget`, and for the agent, which goes on with what a
/// command did not come to the end of.
struct ForgetServices: Sendable {
    let planner: ForgetPlanner
    let deletions: ObjectDeletions

    private let workspace: Workspace
    private let store: any ObjectStore

    init(_ workspace: Workspace, store: any ObjectStore) async throws {
        self.workspace = workspace
        self.store = store
        planner = ForgetPlanner(
            ledger: try await workspace.ledger, others: try await Self.others(workspace, store: store),
            scanner: FileTreeScanner(), watched: workspace.settings.watch.map(\.path), pool: workspace.threads.disk,
            time: workspace.time)
        deletions = try await Self.deletions(workspace, store: store)
    }

    static func deletions(_ workspace: Workspace, store: any ObjectStore) async throws -> ObjectDeletions {
        ObjectDeletions(
            store: store, ledger: try await workspace.ledger, others: try await others(workspace, store: store),
            hold: { [installation = workspace.installation] in try installation.takeDeletionLock() },
            time: workspace.time)
    }

    private static func others(_ workspace: Workspace, store: any ObjectStore) async throws -> OtherReferences {
        OtherReferences(
            store: store, ledger: try await workspace.ledger, keys: try KeyLayout(user: workspace.settings.user),
            spool: workspace.installation.rebuildSpool, pool: workspace.threads.disk,
            holdCatalog: workspace.catalogHold, time: workspace.time)
    }

    /// What tells others of the photos no longer does: manifests of vacations, and the catalogue. An agent that is running
    /// does so itself, within a minute.
    /// - Returns: what could not be brought up to date; the next pass makes up for it.
    func tellOthers() async throws -> [String] {
        guard let lock = try await workspace.takeLockIfFree() else { return [] }
        defer { withExtendedLifetime(lock) {} }
        let (ledger, keys) = (try await workspace.ledger, try KeyLayout(user: workspace.settings.user))
        var problems: [String] = []
        let manifests = VacationManifestSync(
            ledger: ledger, store: store, keys: keys, pool: workspace.threads.disk, now: workspace.time.now)
        do {
            problems += try await manifests.run(where: \.hasForgotten).failures
        } catch let error as StoreError {
            problems.append("\(error)")
        }
        if workspace.settings.catalog == .on {
            // What it could not write it has told.
            try await workspace.catalogWriter(store).run()
        }
        return problems
    }
}
