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
import SystemPackage

/// The parts that `run` and `sync` share, put together from the configuration: one path from the folders to the store.
struct AgentServices: Sendable {
    let ledger: LedgerQueue
    let folders: [FolderRecord]
    let scanner: FileTreeScanner
    let work = Wakeup()
    let watchdog: DiskWatchdog
    /// Signalled after each whole pass of the agent.
    let passes = Wakeup()
    let pipeline: PhotoPipeline
    let upkeep: StoreUpkeep
    /// `nil` where originals are not kept.
    let originals: OriginalKeeper?
    let catalog: CatalogService
    let vacations: VacationService
    let restores: RestoreServices
    let shares: ShareServices
    let projects: ProjectServices
    let retention: RetentionServices
    let monitoring: MonitoringService

    let keys: KeyLayout

    private let workspace: Workspace

    var time: TimeSource { workspace.time }
    var drives: FolderDrives { FolderDrives(ledger: ledger.ledger, scanner: scanner) }

    /// - Parameter workspace: a lock holder's; whatever an earlier agent left in hand is put back into the queue.
    init(_ workspace: Workspace, observe: @escaping @Sendable (PipelineEvent) -> Void) async throws {
        let (settings, time, logger) = (workspace.settings, workspace.time, workspace.logger)
        let queue = try await workspace.ledger
        let ledger = queue.ledger
        self.workspace = workspace
        self.ledger = queue
        Self.endWhenThreadsAreStuck(logger)
        scanner = FileTreeScanner()
        watchdog = DiskWatchdog(time: time)
        let threads = workspace.threads
        // A store may take long to open. Until then nobody has looked at a new folder, and status tells so.
        folders = try await queue { try $0.register(settings.watch) }
        let retrying = try await workspace.store(.founds)
        let interrupted = try await queue { try $0.recoverInterrupted(at: time.now()) }
        if interrupted > 0 {
            logger.notice(
                "interrupted when the last agent ended, and tried again: \(Quantities.counted(interrupted, "photo"))")
        }
        keys = try workspace.keys
        restores = try await RestoreServices(workspace, store: retrying)
        shares = try ShareServices(restores)
        retention = try await RetentionServices(workspace, store: retrying, scanning: folders, work: work)
        let policy = try workspace.installation.tierPolicy()
        let verification = try workspace.installation.verificationRule()
        upkeep = StoreUpkeep(
            store: retrying, ledger: queue, keys: keys, policy: policy, verification: verification,
            captureTimes: CaptureTimeMender(
                ledger: queue, source: workspace.reducer,
                pool: threads.disk, logger: logger),
            deletions: try await ForgetServices.deletions(workspace, store: retrying),
            jobs: UserJobs(
                store: retrying, ledger: queue, keys: keys, others: shares.others, guests: shares.guests,
                objects: SilentObjects(
                    store: retrying, ledger: queue, keys: keys, policy: policy, verification: verification,
                    spool: workspace.installation.rebuildSpool, pool: threads.disk, time: time),
                time: time),
            moves: try await workspace.mergedPhotos(retrying),
            pruned: try await workspace.prunedVersions(retrying),
            copies: CopyFromOriginal(
                reducer: workspace.reducer, recompressor: workspace.recompressor, policy: settings.photos.reduce,
                pool: threads.photos),
            holdCatalog: workspace.catalogHold, time: time, logger: logger)
        catalog = CatalogService(
            try await workspace.catalogWriter(retrying),
            notes: MachineNoteWriter(
                store: retrying, ledger: queue, keys: keys, name: workspace.installation.machineName,
                version: SyncAgentCommand.version, keepsCatalog: settings.catalog == .on, time: time, logger: logger),
            ledger: queue, patience: restores.patience, time: time)
        originals =
            settings.photos.originals == .off
            ? nil
            : OriginalKeeper(
                ledger: queue, store: retrying, reader: workspace.reducer,
                recompressor: settings.photos.originals == .jxl ? workspace.recompressor : nil,
                width: settings.upload.batchSize, pool: threads.photos, silent: watchdog.silentFolders, time: time)
        monitoring = try Self.monitoring(workspace, queue, keys, passes: passes, patience: restores.patience)
        let done = Wakeup()
        vacations = VacationService(
            VacationManifestSync(ledger: queue, store: retrying, keys: keys, pool: threads.disk, time: time),
            work: done, patience: restores.patience, time: time, logger: logger)
        projects = try await ProjectServices(workspace)
        let preparer = Preparer(
            ledger: ledger, scanner: scanner, reducer: workspace.reducer,
            planner: UploadPlanner(keys: keys), projects: projects.uploadPolicy, policy: settings.photos.reduce,
            settle: settings.upload.settle, now: time.now)
        pipeline = PhotoPipeline(
            ledger: queue, store: retrying, preparer: preparer,
            versions: ProjectVersions(
                store: retrying, ledger: queue, others: try await ForgetServices.others(workspace, store: retrying),
                kept: settings.projectVersions, now: time.now, logger: logger),
            pool: threads.photos,
            batchSize: settings.upload.batchSize, mostInFlight: Self.mostInFlight(settings),
            throttling: workspace.installation.throttling, work: work, passes: passes, watchdog: watchdog, time: time,
            logger: logger,
            observe: { event in
                observe(event)
                done.signal()
            })
    }

    /// A disk is no line that is idle between two requests. Each of them has a connection, and mostly a file.
    private static func mostInFlight(_ settings: Settings) -> Int? {
        guard case .s3 = settings.store else { return nil }
        return min(settings.upload.mostInFlight, DescriptorLimit.room(forEach: 2))
    }

    private static func monitoring(
        _ workspace: Workspace, _ ledger: LedgerQueue, _ keys: KeyLayout, passes: Wakeup, patience: LedgerPatience
    ) throws -> MonitoringService {
        let (installation, settings) = (workspace.installation, workspace.settings)
        let (time, logger) = (workspace.time, workspace.logger)
        let report = try installation.metricsReport()
        let file = settings.metrics.textfile.map { path in
            MetricsFile(
                at: path, report: report, ledger: ledger, pool: workspace.threads.disk, time: time, logger: logger)
        }
        var beat: (@Sendable () async throws -> Void)?
        if let address = settings.notify.heartbeat {
            beat = { try await HeartbeatCall(address: address).run() }
        }
        return MonitoringService(
            file: file,
            troubles: TroubleAnnouncer(
                ledger: ledger, notifiers: workspace.notifiers, retention: installation.retentionOutlook,
                disks: installation.disks, pool: workspace.threads.disk, time: time),
            beat: beat, passes: passes, ledger: ledger, keys: keys, patience: patience, time: time, logger: logger)
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
            folders: folders, listSync: projects.listSync, disks: workspace.threads.intake, work: work,
            patience: restores.patience, time: time)
    }

    /// - Parameter interval: how often it is seen whether a folder is quiet.
    func diskWatchdogService(every interval: Duration) -> DiskWatchdogService {
        DiskWatchdogService(
            watchdog, every: interval, ledger: ledger, patience: restores.patience, time: time, logger: workspace.logger
        )
    }

    func makePass() -> SyncPass { workspace.pass(over: folders, ledger, watchdog: watchdog) }

    func makeIntake(_ source: any ChangeSource) -> Intake {
        Intake(
            folders: folders, ledger: ledger, scanner: scanner, reducer: PhotoFileReducer(), source: source,
            disks: workspace.threads.intake, settle: workspace.settings.upload.settle,
            rescanEvery: workspace.settings.upload.rescan,
            patience: restores.patience, watchdog: watchdog, work: work, rescanned: pipeline.noteRescan,
            skipped: pipeline.noteSkipped, time: time,
            logger: workspace.logger)
    }
}

extension Installation {
    /// Those that the agent writes to: that of the state, and that of an embedded store, where it is another one. Blocks.
    var disks: [TroubleAnnouncer.Disk] {
        let state = location.stateFolder
        var disks = [
            TroubleAnnouncer.Disk(state.text, isOfLedger: true) { try? FileSystemFacts(at: state).freeBytes }
        ]
        if case .directory(let directory) = settings.store {
            let path = directory.path
            if FileSystemFacts(nearest: path)?.device != FileSystemFacts(nearest: state)?.device {
                disks.append(
                    TroubleAnnouncer.Disk(path.text, isOfLedger: false) { try? FileSystemFacts(at: path).freeBytes })
            }
        }
        return disks
    }

    /// When old events are due.
    var retentionOutlook: RetentionOutlook {
        RetentionOutlook(schedule: DailySchedule(settings.retention), days: settings.retention.eventDays)
    }

    /// What `/metrics` and metrics.textfile say.
    /// - Throws: `ConfigError` when `cost.prices` names a file that is no price table.
    func metricsReport() throws -> MetricsReport {
        MetricsReport(
            retention: retentionOutlook, prices: settings.prices == nil ? try pricesThatCount() : try prices())
    }
}

/// The parts of projects, put together from the configuration: for the agent, and for the commands.
struct ProjectServices: Sendable {
    let ledger: LedgerQueue
    let folders: [FilePath]
    let listSync: ProjectListSync
    let uploadPolicy: ProjectUploadPolicy
    let listing: ProjectListing

    private let workspace: Workspace

    init(_ workspace: Workspace) async throws {
        self.workspace = workspace
        ledger = try await workspace.ledger
        folders = workspace.settings.watch.filter { $0.kind == .projects }.map(\.path)
        listSync = ProjectListSync(ledger: ledger.ledger, time: workspace.time, logger: workspace.logger)
        uploadPolicy = ProjectUploadPolicy(listSync: listSync, ledger: ledger.ledger, now: workspace.time.now)
        listing = ProjectListing(ledger: ledger.ledger, listSync: listSync, now: workspace.time.now)
    }

    /// All projects, the newest first.
    /// - Throws: ``CommandFailure`` when no folder of projects is configured; ``LedgerError``.
    func entries() async throws -> [ProjectEntry] {
        try requireFolder()
        // It reads the folders' lists, which may lie on a slow disk: the ledger's threads are for the ledger alone.
        return try await workspace.threads.disk.run { [self, ledger = ledger.ledger] in
            let damaged = try folders.filter { try ledger.projectList(of: $0)?.problem != nil }
            let entries = try listing.entries(in: folders)
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
        throw CommandFailure.configuration(
            "no folder of kind projects is configured; add one to watch in \(workspace.installation.location.file)")
    }

    func makeRemover(_ store: any ObjectStore) async throws -> ProjectRemover {
        ProjectRemover(
            store: store, ledger: ledger, keys: try workspace.keys,
            others: try await ForgetServices.others(workspace, store: store), listSync: listSync,
            scanner: FileTreeScanner(),
            pool: workspace.threads.disk, time: workspace.time)
    }
}
