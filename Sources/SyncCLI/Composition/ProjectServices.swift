import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem
import SyncWatch
import SystemPackage

/// The parts of projects, put together from the configuration: for the agent, and for the commands.
struct ProjectServices: Sendable {
    let ledger: LedgerQueue
    let folders: [FilePath]
    let shelf: ProjectListSync
    let gate: ProjectUploadPolicy
    let catalogue: ProjectCatalogue

    private let workspace: Workspace

    init(_ workspace: Workspace) async throws {
        self.workspace = workspace
        ledger = try await workspace.ledger
        folders = workspace.settings.watch.filter { $0.kind == .projects }.map(\.path)
        shelf = ProjectListSync(ledger: ledger.ledger, time: workspace.time, logger: workspace.logger)
        gate = ProjectUploadPolicy(shelf: shelf, ledger: ledger.ledger, now: workspace.time.now)
        catalogue = ProjectCatalogue(ledger: ledger.ledger, shelf: shelf, now: workspace.time.now)
    }

    /// - Parameter store: with retries.
    func versions(in store: any ObjectStore, keys: KeyLayout) -> ProjectVersions {
        ProjectVersions(
            store: store, ledger: ledger, keys: keys, kept: workspace.settings.projects.versions,
            now: workspace.time.now, logger: workspace.logger)
    }

    /// All projects, the newest first.
    /// - Throws: ``CommandFailure`` when no folder of projects is configured; ``LedgerError``.
    func entries() async throws -> [ProjectEntry] {
        try requireFolder()
        return try await ledger { [self] ledger in
            let damaged = try folders.filter { try ledger.projectList(of: $0)?.problem != nil }
            let entries = try catalogue.entries(in: folders)
            for folder in damaged {
                guard let problem = try ledger.projectList(of: folder)?.problem else { continue }
                workspace.logger.warning(
                    "\(ProjectListFile(in: folder).path): \(problem); this is what it said when it could be read last")
            }
            return entries
        }
    }

    func requireFolder() throws {
        guard folders.isEmpty else { return }
        throw CommandFailure(
            .configuration,
            "no folder of kind projects is configured; add one to watch in \(workspace.installation.location.file)")
    }

    func makeRemover() async throws -> ProjectRemover {
        ProjectRemover(
            store: try await workspace.store(.writes), ledger: ledger,
            keys: try KeyLayout(user: workspace.settings.user), shelf: shelf, scanner: FileTreeScanner(),
            time: workspace.time)
    }
}
