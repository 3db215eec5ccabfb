import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhone
import SyncPhotos
import SyncSystem
import SyncWatch
import SystemPackage

/// The parts of retention, put together from the configuration: for the agent, and for `cleanup`.
struct RetentionServices: Sendable {
    let retention: RetentionPass
    let schedule: DailySchedule
    let ledger: LedgerQueue

    private let installation: Installation

    /// - Parameters:
    ///   - store: with retries.
    ///   - intake: what looks at the folders first.
    init(_ installation: Installation, ledger: LedgerQueue, store: any ObjectStore, intake: EventIntake) throws {
        let settings = installation.settings
        self.installation = installation
        self.ledger = ledger
        schedule = DailySchedule(
            hour: settings.retention.at.hour, minute: settings.retention.at.minute, in: settings.retention.timeZone)
        retention = RetentionPass(
            folders: settings.watch.filter { $0.kind == .gallery }.map(\.path), ledger: ledger, store: store,
            scanner: FileTreeScanner(), reducer: PhotoFileReducer(), phones: LibPhoneNumbers(),
            rules: RetentionPass.Rules(
                keys: try KeyLayout(user: settings.user), policy: settings.photos.reduce,
                batchSize: settings.retention.batchSize, keepsTitles: settings.retention.keepTitles,
                phoneRegion: settings.share.phoneRegion),
            pool: BlockingPool(name: "retention", threads: ProcessEnvironment.processorCount),
            intake: intake, time: installation.time)
    }

    /// For a command: with the store that the configuration names.
    /// - Parameters:
    ///   - writes: `false` for a look at a copy of the ledger, which need not be about this store.
    ///   - scans: whether the folders are this process's to scan: no agent does it.
    init(_ installation: Installation, ledger: Ledger, writes: Bool, scans: Bool) throws {
        let store =
            writes
            ? try installation.openStore(ledger, access: .founds)
            : installation.retrying(try installation.makeStore(ledger, access: .reads))
        let pool = BlockingPool(name: "intake", threads: 1)
        let folders = scans ? try ledger.register(installation.settings.watch) : []
        let pass = SyncPass(
            folders: folders.filter { $0.kind == .gallery }, ledger: ledger, scanner: FileTreeScanner(), pool: pool,
            settle: writes ? installation.settings.upload.settle : .zero, time: installation.time)
        try self.init(
            installation, ledger: LedgerQueue(ledger), store: store,
            intake: EventIntake(
                pass: scans ? pass : nil, ledger: ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
                pool: pool))
    }

    /// For a look: on a copy of the ledger, of which nothing is kept.
    init(_ installation: Installation, lookingAt ledger: Ledger) throws {
        try self.init(installation, ledger: ledger.copyInMemory(), writes: false, scans: true)
    }

    func service(_ patience: LedgerPatience) -> RetentionService {
        let installation = installation
        return RetentionService(
            retention, days: installation.settings.retention.eventDays, schedule: schedule, ledger: ledger,
            hold: { try installation.takeCleanupLock() }, patience: patience, time: installation.time,
            logger: installation.logger)
    }
}
