import Glibc
import Logging
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncLocalStore
import SyncPhotos
import SyncSystem
import SyncWatch

/// The parts that `run` and `sync` share, put together from the configuration: one path from the folders to the store.
struct AgentServices: Sendable {
    let ledger: LedgerQueue
    let folders: [FolderRecord]
    let scanner: FileTreeScanner
    let work = Wakeup()
    let pipeline: PhotoPipeline
    let upkeep: StoreUpkeep
    let vacations: VacationService
    let restores: RestoreServices
    let shares: ShareServices
    let projects: ProjectServices
    let retention: RetentionServices

    private let workspace: Workspace

    var time: TimeSource { workspace.time }

    /// - Parameter workspace: a lock holder's; whatever an earlier agent left in hand is put back into the queue.
    init(_ workspace: Workspace, observe: @escaping @Sendable (PipelineEvent) -> Void) async throws {
        let (settings, time, logger) = (workspace.settings, workspace.time, workspace.logger)
        let queue = try await workspace.ledger
        let ledger = queue.ledger
        self.workspace = workspace
        self.ledger = queue
        Self.endWhenThreadsAreStuck(logger)
        scanner = FileTreeScanner()
        let threads = workspace.threads
        let retrying = try await workspace.store(.founds)
        let interrupted: Int
        (folders, interrupted) = try await queue {
            (try $0.register(settings.watch), try $0.recoverInterrupted(at: time.now()))
        }
        if interrupted > 0 {
            logger.notice(
                "in hand when the last agent ended, and tried again: \(Quantities.counted(interrupted, "photo"))")
        }
        let keys = try KeyLayout(user: settings.user)
        restores = try await RestoreServices(workspace, store: retrying)
        shares = ShareServices(workspace, restores)
        let galleries = SyncPass(
            folders: folders.filter { $0.kind == .gallery }, ledger: ledger, scanner: scanner, pool: threads.intake,
            settle: settings.upload.settle, time: time)
        retention = try await RetentionServices(
            workspace, store: retrying,
            intake: EventIntake(
                pass: galleries, ledger: queue, scanner: scanner, reducer: PhotoFileReducer(), pool: threads.intake,
                work: work))
        upkeep = StoreUpkeep(
            store: retrying, ledger: queue, keys: keys, policy: try workspace.installation.tierPolicy(),
            verification: VerificationRule(
                percentPerDay: settings.verify.percentPerDay,
                maximumUSDPerMonth: settings.verify.maximumUSDPerMonth,
                cost: VerificationCost(prices: try workspace.installation.pricesThatCount())),
            captureTimes: CaptureTimeMender(
                ledger: queue, source: PhotoFileReducer(),
                pool: threads.disk, logger: logger),
            time: time, logger: logger)
        let done = Wakeup()
        vacations = VacationService(
            VacationManifestSync(
                ledger: queue, store: retrying, keys: keys, pool: threads.disk,
                now: time.now),
            work: done, patience: restores.patience, time: time, logger: logger)
        projects = try await ProjectServices(workspace)
        let preparer = Preparer(
            ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(),
            planner: UploadPlanner(keys: keys), projects: projects.gate, policy: settings.photos.reduce,
            settle: settings.upload.settle, now: time.now)
        pipeline = PhotoPipeline(
            ledger: queue, store: retrying, preparer: preparer,
            versions: projects.versions(in: retrying, keys: keys),
            pool: threads.photos,
            batchSize: settings.upload.batchSize, work: work, time: time, logger: logger,
            observe: { event in
                observe(event)
                done.signal()
            })
    }

    /// Threads that photos keep busy for ever cannot be ended from within. Started anew (examples/sync-agent.service does
    /// it), the agent has its cores again; the photos are set aside by then.
    private static func endWhenThreadsAreStuck(_ logger: Logger) {
        StepWatch.ofProcess.onExhaustion {
            logger.error(
                """
                \(StepWatch.mostStuck) photos could not be read within a minute each, and hold a thread each that cannot be \
                ended. The agent ends; start it again. Those photos are set aside, sync-agent status names them
                """)
            _exit(ExitStatus.failed.rawValue)
        }
    }

    var projectService: ProjectService {
        ProjectService(
            folders: folders, shelf: projects.shelf, pool: workspace.threads.intake, work: work,
            patience: restores.patience,
            time: time)
    }

    func makePass() -> SyncPass {
        SyncPass(
            folders: folders, ledger: ledger.ledger, scanner: scanner, pool: workspace.threads.intake,
            settle: workspace.settings.upload.settle, time: time)
    }

    func makeIntake(_ source: any ChangeSource) -> Intake {
        Intake(
            folders: folders, ledger: ledger, scanner: scanner, source: source, pool: workspace.threads.intake,
            settle: workspace.settings.upload.settle, rescanEvery: workspace.settings.upload.rescan,
            patience: restores.patience, work: work, time: time, logger: workspace.logger)
    }
}
