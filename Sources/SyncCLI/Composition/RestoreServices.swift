import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncSystem

/// The parts of restores, put together from the configuration: for the agent, and for the commands that do a part of its
/// work themselves.
struct RestoreServices: Sendable {
    let store: any ObjectStore
    let ledger: LedgerQueue
    /// This process, as the ledger knows it.
    let owner: ClaimOwner
    let desk: RestorePlanner
    let sender: RestoreSender
    let changer: RestoreUpgrader
    let service: RestoreService
    let refresh: ClassRefresh
    /// Of this process: what all of its services do while the ledger cannot be used.
    let patience: LedgerPatience

    /// - Parameter store: with retries.
    init(_ workspace: Workspace, store: any ObjectStore) async throws {
        let (installation, settings, time) = (workspace.installation, workspace.settings, workspace.time)
        let ledger = try await workspace.ledger
        // It may be unreadable: then nothing was opened.
        let prices = try installation.prices()
        // Downloads are written where their bytes arrive, on the store's own thread: a disk that hangs must not hold up
        // the uploads.
        let downloads = try await workspace.readStore()
        self.store = store
        self.ledger = ledger
        patience = LedgerPatience(ledger: ledger, time: time, logger: installation.logger)
        desk = RestorePlanner(
            store: store, ledger: ledger, prices: prices,
            pool: workspace.threads.disk, time: time)
        owner = installation.makeClaimOwner()
        sender = RestoreSender(store: store, ledger: ledger, owner: owner, time: time)
        changer = RestoreUpgrader(store: store, ledger: ledger, time: time)
        service = RestoreService(
            follower: RestorePoller(
                store: store, ledger: ledger, sender: sender, interval: settings.restore.poll, time: time),
            delivery: RestoreDownloader(
                store: downloads, ledger: ledger, owner: owner, recompressor: workspace.recompressor,
                pool: workspace.threads.disk,
                time: time),
            announcer: RestoreAnnouncer(
                ledger: ledger,
                notifiers: workspace.notifiers, time: time),
            patience: patience, time: time, logger: installation.logger)
        refresh = ClassRefresh(
            store: store, ledger: ledger, keys: try KeyLayout(user: settings.user),
            moves: try await workspace.mergedPhotos(store), holdCatalog: workspace.catalogHold, time: time)
    }

    /// For a command: opens the store that the configuration names, and sees that the ledger is about it.
    /// - Parameter access: what may be made of an embedded store.
    init(_ workspace: Workspace, access: LocalStoreAccess) async throws {
        try await self.init(workspace, store: try await workspace.store(access))
    }
}
