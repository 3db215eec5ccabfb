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
    let ledger: Ledger
    let folders: [FilePath]
    let shelf: ProjectListSync
    let gate: ProjectUploadPolicy
    let catalogue: ProjectCatalogue

    private let installation: Installation

    init(_ installation: Installation, ledger: Ledger) {
        self.installation = installation
        self.ledger = ledger
        folders = installation.settings.watch.filter { $0.kind == .projects }.map(\.path)
        shelf = ProjectListSync(ledger: ledger, time: installation.time, logger: installation.logger)
        gate = ProjectUploadPolicy(shelf: shelf, ledger: ledger, now: installation.time.now)
        catalogue = ProjectCatalogue(ledger: ledger, shelf: shelf, now: installation.time.now)
    }

    /// - Parameter store: with retries.
    func versions(in store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout) -> ProjectVersions {
        ProjectVersions(
            store: store, ledger: ledger, keys: keys, kept: installation.settings.projects.versions,
            now: installation.time.now, logger: installation.logger)
    }

    /// All projects, the newest first.
    /// - Throws: ``CommandFailure`` when no folder of projects is configured; ``LedgerError``.
    func entries() throws -> [ProjectEntry] {
        try requireFolder()
        let damaged = try folders.filter { try ledger.projectList(of: $0)?.problem != nil }
        let entries = try catalogue.entries(in: folders)
        for folder in damaged {
            guard let problem = try ledger.projectList(of: folder)?.problem else { continue }
            installation.logger.warning(
                "\(ProjectListFile(in: folder).path): \(problem); this is what it said when it could be read last")
        }
        return entries
    }

    func requireFolder() throws {
        guard folders.isEmpty else { return }
        throw CommandFailure(
            .configuration,
            "no folder of kind projects is configured; add one to watch in \(installation.location.file)")
    }

    func makeRemover() throws -> ProjectRemover {
        ProjectRemover(
            store: try installation.openStore(ledger, access: .writes), ledger: LedgerQueue(ledger),
            keys: try KeyLayout(user: installation.settings.user), shelf: shelf, scanner: FileTreeScanner(),
            time: installation.time)
    }
}
