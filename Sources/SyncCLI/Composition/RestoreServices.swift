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
    let desk: RestorePlanner
    let sender: RestoreSender
    let changer: RestoreUpgrader
    let service: RestoreService
    let refresh: ClassRefresh
    /// Of this process: what all of its services do while the ledger cannot be used.
    let patience: LedgerPatience

    /// - Parameter store: with retries.
    init(_ installation: Installation, ledger: Ledger, store: any ObjectStore) throws {
        let settings = installation.settings
        let time = installation.time
        let queue = LedgerQueue(ledger)
        // Downloads are written where their bytes arrive, on the store's own thread: a disk that hangs must not hold up
        // the uploads.
        let downloads = installation.retrying(try installation.makeStore(ledger, access: .reads))
        self.store = store
        self.ledger = queue
        patience = LedgerPatience(ledger: queue, time: time, logger: installation.logger)
        desk = RestorePlanner(
            store: store, ledger: queue, prices: try installation.prices(),
            pool: BlockingPool(name: "originals", threads: 1), time: time)
        sender = RestoreSender(store: store, ledger: queue, time: time)
        changer = RestoreUpgrader(store: store, ledger: queue, time: time)
        service = RestoreService(
            follower: RestorePoller(store: store, ledger: queue, interval: settings.restore.poll, time: time),
            delivery: RestoreDownloader(
                store: downloads, ledger: queue, pool: BlockingPool(name: "downloads", threads: 3), time: time),
            announcer: RestoreAnnouncer(
                ledger: queue,
                notifiers: Notifiers(
                    settings.notify, environment: installation.environment, time: time, logger: installation.logger),
                time: time),
            patience: patience, time: time, logger: installation.logger)
        refresh = ClassRefresh(
            store: store, ledger: queue, keys: try KeyLayout(user: settings.user), time: time)
    }

    /// For a command: opens the store that the configuration names, and sees that the ledger is about it.
    /// - Parameter access: what may be made of an embedded store.
    init(_ installation: Installation, ledger: Ledger, access: LocalStoreAccess) throws {
        try self.init(installation, ledger: ledger, store: try installation.openStore(ledger, access: access))
    }
}
