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
    let ledger: Ledger
    let folders: [FolderRecord]
    let scanner: FileTreeScanner
    /// One thread: looks and scans never overtake each other.
    let intakePool: BlockingPool
    let work = Wakeup()
    let pipeline: PhotoPipeline
    let upkeep: StoreUpkeep
    let vacations: VacationService
    let restores: RestoreServices
    let shares: ShareServices
    let projects: ProjectServices
    let retention: RetentionServices

    private let installation: Installation

    var time: TimeSource { installation.time }

    /// - Parameter ledger: a lock holder's; whatever an earlier agent left in hand is put back into the queue.
    init(
        _ installation: Installation, ledger: Ledger, observe: @escaping @Sendable (PipelineEvent) -> Void
    ) throws {
        let settings = installation.settings
        self.installation = installation
        self.ledger = ledger
        Self.endWhenThreadsAreStuck(installation.logger)
        scanner = FileTreeScanner()
        intakePool = BlockingPool(name: "intake", threads: 1)
        let retrying = try installation.openStore(ledger, access: .founds)
        folders = try ledger.register(settings.watch)
        let interrupted = try ledger.recoverInterrupted(at: installation.time.now())
        if interrupted > 0 {
            installation.logger.notice(
                "in hand when the last agent ended, and tried again: \(Quantities.counted(interrupted, "photo"))")
        }
        let keys = try KeyLayout(user: settings.user)
        restores = try RestoreServices(installation, ledger: ledger, store: retrying)
        shares = ShareServices(installation, restores)
        let galleries = SyncPass(
            folders: folders.filter { $0.kind == .gallery }, ledger: ledger, scanner: scanner, pool: intakePool,
            settle: settings.upload.settle, time: installation.time)
        retention = try RetentionServices(
            installation, ledger: restores.ledger, store: retrying,
            intake: EventIntake(
                pass: galleries, ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(), pool: intakePool,
                work: work))
        upkeep = StoreUpkeep(
            store: retrying, ledger: restores.ledger, keys: keys, policy: try installation.tierPolicy(),
            verification: VerificationRule(
                percentPerDay: settings.verify.percentPerDay,
                maximumUSDPerMonth: settings.verify.maximumUSDPerMonth,
                cost: VerificationCost(prices: try installation.pricesThatCount())),
            captureTimes: CaptureTimeMender(
                ledger: restores.ledger, source: PhotoFileReducer(),
                pool: BlockingPool(name: "times", threads: 1), logger: installation.logger),
            time: installation.time, logger: installation.logger)
        let done = Wakeup()
        vacations = VacationService(
            VacationManifestSync(
                ledger: restores.ledger, store: retrying, keys: keys, pool: BlockingPool(name: "vacations", threads: 1),
                now: installation.time.now),
            work: done, patience: restores.patience, time: installation.time, logger: installation.logger)
        projects = ProjectServices(installation, ledger: ledger)
        let preparer = Preparer(
            ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(),
            planner: UploadPlanner(keys: keys), projects: projects.gate, policy: settings.photos.reduce,
            settle: settings.upload.settle, now: installation.time.now)
        pipeline = PhotoPipeline(
            ledger: ledger, store: retrying, preparer: preparer,
            versions: projects.versions(in: retrying, ledger: restores.ledger, keys: keys),
            pool: BlockingPool(name: "photos", threads: ProcessEnvironment.processorCount),
            batchSize: settings.upload.batchSize, work: work, time: installation.time, logger: installation.logger,
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
            folders: folders, shelf: projects.shelf, pool: intakePool, work: work, patience: restores.patience,
            time: installation.time)
    }

    func makePass() -> SyncPass {
        SyncPass(
            folders: folders, ledger: ledger, scanner: scanner, pool: intakePool,
            settle: installation.settings.upload.settle, time: installation.time)
    }

    func makeIntake(_ source: any ChangeSource) -> Intake {
        Intake(
            folders: folders, ledger: ledger, scanner: scanner, source: source, pool: intakePool,
            settle: installation.settings.upload.settle, rescanEvery: installation.settings.upload.rescan,
            patience: restores.patience, work: work,
            time: installation.time, logger: installation.logger)
    }
}
