import ArgumentParser
import Logging
import ServiceLifecycle
import SyncConfig
import SyncCore
import SyncEngine
import SyncLedger
import SyncSystem
import SystemPackage

struct SyncCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Store what is new in the folders, once.",
        usage: "sync-agent sync [--dry-run] [--new-drive <place>] [<options>]",
        discussion: """
            Scans every watched folder, waits for files that are just being written, stores what the store does not have \
            yet, and ends. Ctrl-C lets the photos in flight finish; what is left is stored next time.

            Before anything is sent, the store's listing is compared with what is known (one request for each thousand \
            objects): what it has lost is stored again.

            What the store refuses is retried a few times before the pass ends. Exit code 3 means that some photos \
            could not be stored, or are lost; each is named with its reason. So are photos of your machines not seen \
            for a while that are damaged or missing in the store, and projects that are half deleted. An object of \
            this machine that cannot be checked also gives exit code 3.

            Where another drive is mounted than the one that photos were found on, none of them counts as missing. \
            What is new on it is stored, and the place is named with exit code 3. Mount the right one, or say with \
            --new-drive that this one takes its place.

            EXAMPLES
              sync-agent sync
              sync-agent sync --dry-run           what would be stored
              sync-agent sync --new-drive ~/Pictures/SD
              sync-agent sync --json | jq .uploaded
            """
    )

    @Flag(help: "Dry run: show what would be stored; nothing is sent or remembered.")
    var dryRun = false

    @Option(
        name: .customLong("new-drive"),
        help: ArgumentHelp(
            "A watched folder, or a place in one: another drive takes the place of the one that was mounted there. "
                + "Photos that are not on it are missing from now on.",
            valueName: "place"),
        completion: .directory)
    var newDrive: PathArgument?

    @OptionGroup var options: AnswerOptions

    func validate() throws {
        if newDrive != nil, dryRun { throw ValidationError("--new-drive goes without --dry-run, which notes nothing") }
    }

    func answer(_ workspace: Workspace) async throws -> Answer {
        if dryRun { return Answer(try await SyncForecast(try await workspace.withLedgerCopy())) }
        try await workspace.takeLock()
        let progress = PassProgress(terminal: workspace.console.errors, time: workspace.time)
        defer { progress.finish() }
        let services = try await AgentServices(workspace, observe: progress.note)
        try await RebuildCommand.offer(workspace)
        if let newDrive { try await accept(newDrive.path, services, workspace) }
        let service = PassService(services: services, progress: progress, logger: workspace.logger)
        let signal = try await ServiceGroup.run(
            [service, services.diskWatchdogService(every: .seconds(5))], ending: .gracefullyShutdownGroup,
            logger: workspace.logger)
        let now = workspace.time.now()
        let place = workspace.installation.ledgerFile.text
        let found = service.found
        let refusal = found.refusal.map { SyncReport.Problem(path: place, message: $0) }
        let store = services.restores.store.identity.location
        let projects = workspace.settings.watch.filter { $0.kind == .projects }.map(\.path)
        let (report, isWell) = try await workspace.ledger { ledger in
            // One that was told to stop is none that anybody may rely on.
            if signal == nil, found.unlisted == nil { try ledger.noteSync(at: now) }
            let isWell = try ledger.isAllWell(try ledger.overview(), services.keys, at: now)
            let report = SyncReport(
                progress.summary, intake: found.intake, unsaved: found.unsaved, moved: found.moved,
                originals: found.originals, originalsRefused: found.originalsRefused,
                withoutOriginal: services.originals == nil
                    ? 0 : try ledger.originalsStatus(below: services.keys.originals).waiting,
                overview: try ledger.overview(),
                leftOut: try ledger.leftOut(naming: StatusReport.notesNamed),
                unfinished: try ledger.unfinishedProjectImages(),
                failed: try ledger.failedPhotos(limit: SyncReport.failuresNamed),
                delayed: try ledger.delayedPhotos(limit: SyncReport.failuresNamed),
                elsewhere: try ledger.otherDamage(seenOn: CalendarDay(now)),
                shares: try ledger.shareTroubles(at: now),
                halfDeleted: try projects.map { (folder: $0, ids: try ledger.projectsBeingDeleted(in: $0)) },
                catalog: refusal,
                unclear: (store, found.inspection.isWhole ? try ledger.unclearOwnObjects(services.keys) : 0),
                told: progress.told)
            return (report, isWell)
        }
        do {
            try await services.monitoring.note()
        } catch let error as LedgerError {
            // The pass is what it was.
            workspace.logger.warning("metrics and notices wait for the ledger: \(error)")
        }
        guard let signal else {
            try await services.monitoring.reportPass(isGood: isWell && report.status == .done && found.unlisted == nil)
            return Answer(report, failure: found.unlisted)
        }
        return Answer(
            report,
            failure: CommandFailure(
                ExitStatus(endedBy: signal), "stopped before the pass was whole; the next sync continues"))
    }

    /// Takes the drive at a place for the one that its photos are on.
    /// - Throws: ``CommandFailure`` where it is that already.
    private func accept(_ path: FilePath, _ services: AgentServices, _ workspace: Workspace) async throws {
        let name = path.text.escapingControls
        for candidate in workspace.installation.pathLocator.candidates(for: path) {
            guard let folder = services.folders.first(where: { candidate.starts(with: $0.path) }) else { continue }
            let place = candidate.relative(to: folder.path)
            let drives = services.drives
            let acceptance = try await workspace.threads.disk.run { try drives.accept(at: place, of: folder) }
            for other in acceptance.taken {
                workspace.logger.notice("\(other.path.text.escapingControls): \(other.takeover)")
            }
            if !acceptance.taken.isEmpty { return }
            if let empty = acceptance.empty.first {
                throw CommandFailure.usage(
                    "--new-drive \(name): there is no file at \(empty.text.escapingControls): is the drive mounted that takes the "
                        + "place? Nothing was changed")
            }
            throw CommandFailure.usage(
                "--new-drive \(name): no other drive is known to be there than the one that its photos were found on; "
                    + "sync-agent status names the place where there is one. Nothing was changed")
        }
        throw CommandFailure.usage("--new-drive \(name): this is neither a watched folder nor in one")
    }
}

/// What a pass has come to so far, but for its photos.
private struct PassFindings: Sendable {
    var intake = SyncPass.Scanned()
    /// `nil` until the store's listing was compared.
    private(set) var compared: StoreUpkeep.Inspection?
    /// What was moved to the archive.
    var moved = TierMover.Summary()
    /// Restored photos that could not be saved where they were to be.
    var unsaved: [RestoreDownloader.Problem] = []
    /// What it has come to; `nil` where originals are not kept, or the pass did not come to them.
    var originals: OriginalKeeper.Summary?
    private var areOriginalsDone = false
    /// Why the pass did not come to the originals, or not to the end of them.
    private(set) var originalsRefused: String?
    var catalog = CatalogWriter.Outcome.unchanged

    var inspection: StoreUpkeep.Inspection {
        get { compared ?? .unneeded }
        set { compared = newValue }
    }

    /// Why it has not: what it calls safe may be gone.
    var unlisted: StoreError? { if case .failed(let error) = inspection { error } else { nil } }

    /// Why the catalogue is not written until somebody does what it says.
    var refusal: String? {
        if case .refused(let reason) = catalog { reason } else { nil }
    }

    mutating func finishOriginals(_ result: OriginalKeeper.Summary) { (originals, areOriginalsDone) = (result, true) }

    /// Ends what comes after the photos.
    mutating func end(by error: any Error) {
        if !areOriginalsDone { originalsRefused = "\(error)" }
    }
}

/// One pass as a service, so that signals end it as they end the agent.
private struct PassService: Service {
    let services: AgentServices
    let progress: PassProgress
    let logger: Logger
    private let findings = Lock(PassFindings())

    var found: PassFindings { findings.withLock { $0 } }

    private func inspect() async throws {
        let inspection = try await cancelWhenGracefulShutdown { try await self.services.upkeep.inspect() }
        findings.withLock { $0.inspection = inspection }
    }

    /// What the store denies to one kind of work holds up no other.
    /// - Returns: what it has denied.
    @discardableResult
    private func attempt(_ work: String, _ run: @escaping @Sendable () async throws -> Void) async throws -> StoreError?
    {
        do {
            try await cancelWhenGracefulShutdown(run)
            return nil
        } catch let error as StoreError where error.mayConcernOneObject {
            logger.warning("\(work) wait for the store: \(error)")
            return error
        }
    }

    /// Brings what is in the folders into the queue. What has come of those that answer is stored while the pass waits for
    /// the others.
    private func takeIn() async throws {
        let (waits, wait) = AsyncStream<Set<FilePath>>.makeStream(bufferingPolicy: .bufferingNewest(1))
        async let taken = takeIn(telling: wait)
        for await silent in waits { try await storeMeanwhile(leavingOut: silent) }
        let intake = try await taken
        findings.withLock { $0.intake = intake }
    }

    private func takeIn(telling wait: AsyncStream<Set<FilePath>>.Continuation) async throws -> SyncPass.Scanned {
        defer { wait.finish() }
        return try await cancelWhenGracefulShutdown { [progress] in
            try await self.services.makePass().takeIn(seen: { progress.noteSeen($0) }, onWait: { wait.yield($0) })
        }
    }

    private func storeMeanwhile(leavingOut silent: Set<FilePath>) async throws {
        do {
            try await makeReady(leavingOut: silent)
            try await services.catalog.during { try await self.services.pipeline.run(.untilDone(patience: .zero)) }
        } catch is StoreError {
            // The pass meets it again when all folders have been looked at, and has patience then.
        }
    }

    /// What comes before anything is sent.
    private func makeReady(leavingOut silent: Set<FilePath>) async throws {
        try await cancelWhenGracefulShutdown { try await self.services.projectService.round(leavingOut: silent) }
        // What the store has lost comes into the queue of this very pass.
        if found.compared == nil { try await inspect() }
        // Somebody asked: what waits after an earlier failure is tried now.
        let now = services.time.now()
        progress.expect(
            try await services.ledger { ledger in
                try ledger.makeAllDue(at: now)
                return try ledger.overview().totals.waiting
            })
    }

    func run() async throws {
        do {
            try await takeIn()
            try await makeReady(leavingOut: found.intake.silent)
        } catch is CancellationError {
            return
        }
        try await services.catalog.during { try await self.services.pipeline.run(.untilDone(patience: .seconds(10))) }
        do {
            // It may have been away for a moment.
            if found.unlisted != nil { try await inspect() }
            let moved = try await cancelWhenGracefulShutdown { try await self.services.upkeep.run() }
            findings.withLock { $0.moved = moved }
            // What the daily verification has found broken is mended at once.
            let (now, silent) = (services.time.now(), services.watchdog.silent())
            if let due = try await services.ledger({ try $0.nextTry(leavingOut: silent, at: now) }), due <= now {
                try await services.pipeline.run(.untilDone(patience: .zero))
            }
            try await attempt("vacations") { try await self.services.vacations.round() }
            try await attempt("restores") {
                let (saved, _) = try await self.services.restores.service.round(isUrgent: false)
                self.findings.withLock { $0.unsaved = saved.problems }
            }
            try await attempt("shares") { try await self.services.shares.service.round() }
            if let keeper = services.originals {
                let waiting = try await services.ledger { [services] in
                    try $0.originalsStatus(below: services.keys.originals).waiting
                }
                progress.expectOriginals(waiting)
                let refusal = try await attempt("originals") { [progress] in
                    let result = try await keeper.run { summary in
                        progress.noteOriginals(summary.done)
                        self.findings.withLock { $0.originals = summary }
                    }
                    self.findings.withLock { $0.finishOriginals(result) }
                }
                if let refusal { findings.withLock { $0.end(by: refusal) } }
            }
            let isWhole = found.unlisted == nil
            let written = try await cancelWhenGracefulShutdown {
                try await self.services.catalog.round(isWhole: isWhole)
            }
            findings.withLock { $0.catalog = written }
        } catch is CancellationError {
            // Both go on with the next pass.
        } catch let error as StoreError {
            // The photos of this pass are stored, and what is left goes on with the next one.
            logger.warning("restores, shares and originals wait for the store: \(error)")
            findings.withLock { $0.end(by: error) }
        } catch let error as LedgerError where error.code == .busy {
            logger.warning("restores, shares and originals wait for the ledger: \(error)")
            findings.withLock { $0.end(by: error) }
        }
    }
}

struct RetryCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Retry what failed or is waiting.",
        discussion: """
            Makes photos that failed, and photos that wait for their next try, due at once: all of them, or those at \
            the paths that are named. A running agent takes them up within a few seconds; without one, the next sync \
            does.

            Use it when the cause that `sync-agent status` reports is gone: a permission was granted, a disk has space \
            again, a program was updated.

            EXAMPLES
              sync-agent retry
              sync-agent retry ~/Pictures/Gallery/IMG_0001.jpg
              sync-agent retry --json | jq .retried
            """
    )

    @Argument(help: "Files or folders to try again; all when none is named.", completion: .file())
    var paths: [PathArgument] = []

    @OptionGroup var options: AnswerOptions

    func answer(_ workspace: Workspace) async throws -> Answer {
        let (paths, locator) = (paths.map(\.text), workspace.installation.pathLocator)
        let (retried, unknown) = try await workspace.ledger { ledger in
            var photos: [Int64] = []
            let unknown = try locator.photos(at: paths, in: ledger) { photo in
                if photo.state == .failed || photo.state == .pending { photos.append(photo.id) }
            }
            // Where nothing that was named is known, there is nothing to do.
            if !paths.isEmpty, unknown.paths.count == paths.count, let failure = unknown.failure { throw failure }
            return (try ledger.retry(paths.isEmpty ? nil : photos), unknown)
        }
        let report = RetryReport(
            retried: retried.failed + retried.waiting, failed: retried.failed, waiting: retried.waiting,
            agentRunning: try workspace.installation.agentRuns())
        return Answer(report, failure: unknown.failure)
    }
}
