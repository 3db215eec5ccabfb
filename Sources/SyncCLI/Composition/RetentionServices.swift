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

    private let workspace: Workspace

    /// - Parameters:
    ///   - store: with retries.
    ///   - intake: what looks at the folders first.
    init(_ workspace: Workspace, store: any ObjectStore, intake: EventIntake) async throws {
        let settings = workspace.settings
        self.workspace = workspace
        ledger = try await workspace.ledger
        schedule = DailySchedule(
            hour: settings.retention.at.hour, minute: settings.retention.at.minute, in: settings.retention.timeZone)
        retention = RetentionPass(
            folders: settings.watch.filter { $0.kind == .gallery }.map(\.path), ledger: ledger, store: store,
            scanner: FileTreeScanner(), reducer: PhotoFileReducer(), phones: LibPhoneNumbers(),
            rules: RetentionPass.Rules(
                keys: try KeyLayout(user: settings.user), policy: settings.photos.reduce,
                batchSize: settings.retention.batchSize, keepsTitles: settings.retention.keepTitles,
                phoneRegion: settings.share.phoneRegion),
            pool: workspace.threads.photos,
            intake: intake, time: workspace.time)
    }

    /// For a command: with the store that the configuration names.
    /// - Parameters:
    ///   - writes: `false` for a look at a copy of the ledger, which need not be about this store.
    ///   - scans: whether the folders are this process's to scan: no agent does it.
    init(_ workspace: Workspace, writes: Bool, scans: Bool) async throws {
        let (ledger, settings) = (try await workspace.ledger, workspace.settings)
        let store = try await writes ? workspace.store(.founds) : workspace.readStore()
        let pool = workspace.threads.intake
        let folders = scans ? try await ledger { try $0.register(settings.watch) } : []
        let pass = SyncPass(
            folders: folders.filter { $0.kind == .gallery }, ledger: ledger.ledger, scanner: FileTreeScanner(),
            pool: pool, settle: writes ? settings.upload.settle : .zero, time: workspace.time)
        try await self.init(
            workspace, store: store,
            intake: EventIntake(
                pass: scans ? pass : nil, ledger: ledger, scanner: FileTreeScanner(), reducer: PhotoFileReducer(),
                pool: pool))
    }

    /// For a look: on a copy of the ledger, of which nothing is kept.
    init(lookingAt workspace: Workspace) async throws {
        try await self.init(try await workspace.withLedgerCopy(), writes: false, scans: true)
    }

    func service(_ patience: LedgerPatience) -> RetentionService {
        RetentionService(
            retention, days: workspace.settings.retention.eventDays, schedule: schedule, ledger: ledger,
            hold: { [installation = workspace.installation] in try installation.takeCleanupLock() },
            patience: patience, time: workspace.time, logger: workspace.logger)
    }
}
