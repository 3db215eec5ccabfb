import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger
import SyncSystem
import SystemPackage

/// Brings what happens in the watched folders into the ledger's queue, for as long as the agent runs.
///
/// Hints say where to look, a scan or a look at the file says what is there, and the ledger decides what is new. What
/// is done for a folder is done in order; folders wait for each other only where they share a thread (``DiskLanes``).
package actor Intake {
    private let folders: [FolderRecord]
    private let ledger: LedgerQueue
    private let scanner: any TreeScanner
    private let source: any ChangeSource
    private let disks: DiskLanes
    private let triage: FileTriage
    private let scan: FolderScan
    private let rescanEvery: Duration
    private let patience: LedgerPatience
    private let watchdog: DiskWatchdog
    private let work: Wakeup
    private let rescanned: @Sendable () -> Void
    private let skipped: @Sendable () -> Void
    private let time: TimeSource
    private let logger: Logger

    private let settle: Duration
    private var lanes: [IntakeLane]
    private var turns = ScanTurns()
    private var knownProblems: Set<ScanError> = []
    /// In which no file was seen by the last scan, though some are known there.
    private var emptyFolders: Set<FolderID> = []
    private var told = ToldWatching()
    /// What is new and older than that came while nobody watched.
    private var watchedSince: Date?

    /// - Parameters:
    ///   - reducer: looks at what is new.
    ///   - disks: a thread for each folder, so that looks and scans of it never overtake each other.
    ///   - watchdog: told what is looked at; `nil` where nobody asks.
    ///   - work: signalled when the queue has got something new.
    ///   - rescanned: called when all folders were read anew, as they are now and then.
    ///   - skipped: called when something new needs no place in the queue.
    package init(
        folders: [FolderRecord], ledger: LedgerQueue, scanner: any TreeScanner, reducer: any PhotoReducer,
        source: any ChangeSource, disks: DiskLanes, settle: Duration, rescanEvery: Duration, patience: LedgerPatience,
        watchdog: DiskWatchdog? = nil, work: Wakeup,
        rescanned: @escaping @Sendable () -> Void = {}, skipped: @escaping @Sendable () -> Void = {},
        time: TimeSource, logger: Logger
    ) {
        self.folders = folders
        self.ledger = ledger
        self.scanner = scanner
        self.source = source
        self.disks = disks
        triage = FileTriage(scanner: scanner, reducer: reducer, time: time)
        let watchdog = watchdog ?? DiskWatchdog(time: time)
        self.scan = FolderScan(
            ledger: ledger.ledger, scanner: scanner, settle: settle, triage: triage, watched: folders.map(\.path),
            isBusy: watchdog.isBusy)
        self.rescanEvery = rescanEvery
        self.patience = patience
        self.watchdog = watchdog
        self.work = work
        self.rescanned = rescanned
        self.skipped = skipped
        self.time = time
        self.logger = logger
        self.settle = settle
        lanes = disks.groups(of: folders).map { IntakeLane($0, settle: settle) }
    }

    /// Watches until the task is cancelled. While the ledger cannot be written to, the watching goes on; what was hinted
    /// at meanwhile and not written down is found by the scan of all folders with which it goes on.
    /// - Throws: ``LedgerError`` that does not pass, `CancellationError`.
    /// - Parameter onWatching: called once, when every change from now on will be seen.
    package func run(onWatching: @Sendable () async -> Void) async throws {
        let began = time.now()
        watchedSince = began
        await watchdog.during(folders) { await source.start(folders.map(\.path), untold: folders.untold(at: began)) }
        do {
            // What is told to end before it watches does not say that it does.
            try Task.checkCancellation()
            var isFirst = true
            try await patience.riding("new photos") {
                var obstacle: (any Error)?
                do { try await noteWatching() } catch { obstacle = error }
                if isFirst {
                    isFirst = false
                    await onWatching()
                } else {
                    for folder in folders { enqueue(folder.path) }
                }
                if let obstacle { throw obstacle }
                try await work()
            }
        } catch {
            await source.stop()
            throw error
        }
    }

    private func work() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in lanes.indices {
                group.addTask { try await self.followHints(lane) }
                group.addTask { try await self.scanTrees(lane) }
            }
            group.addTask { try await self.rescanNowAndThen() }
            try await group.waitForAllOrFirstFailure()
        }
    }

    // MARK: Hints

    /// Takes what is hinted at in a lane, and sees it to its look: at once where something is gone, when it is quiet where
    /// something was written. While a disk holds up such a look, the hints of that lane wait in the source.
    private func followHints(_ lane: Int) async throws {
        while true {
            try Task.checkCancellation()
            for folder in lanes[lane].folders { note(source.take(of: folder.path), lane) }
            let (gone, trees) = lanes[lane].takeHinted()
            if !gone.isEmpty { try await handleGone(gone, lane) }
            for tree in trees { enqueue(tree) }
            try await settleFiles(lane)
            let wait = lanes[lane].nextCheck.map { max($0 - time.monotonic(), .zero) }
            if wait == .zero { continue }
            note(await nextHints(lane, atMost: wait), lane)
        }
    }

    private func note(_ hints: [ChangeHint], _ lane: Int) {
        let now = time.monotonic()
        for hint in hints {
            guard let index = self.lane(of: hint.path) else { continue }
            lanes[index].note(hint, at: now)
            // One root may lie in another.
            if index != lane { lanes[index].changed.signal() }
        }
    }

    /// Waits for hints, or until a scan has found what is to settle, or until so much time has passed.
    private func nextHints(_ lane: Int, atMost wait: Duration?) async -> [ChangeHint] {
        let (roots, changed) = (lanes[lane].folders.map(\.path), lanes[lane].changed)
        return await withTaskGroup(of: [ChangeHint].self) { [source, time] group in
            for root in roots { group.addTask { await source.next(of: root) ?? [] } }
            group.addTask {
                await changed.wait(atMost: wait, time: time)
                return []
            }
            var hints: [ChangeHint] = []
            while let found = await group.next() {
                hints += found
                group.cancelAll()
            }
            return hints
        }
    }

    /// Something was removed or moved away: files, folders, or roots. The disk says which, and whether it is so.
    private func handleGone(_ paths: [FilePath], _ lane: Int) async throws {
        var gone: [FolderID: [FilePath]] = [:]
        for path in paths {
            if let folder = folder(of: path), path != folder.path {
                gone[folder.id, default: []].append(path)
            } else {
                enqueue(path)
            }
        }
        let now = time.now()
        for folder in lanes[lane].folders {
            guard let paths = gone[folder.id] else { continue }
            let answer = try await runOnDisk(of: folder) { [scan] _ in try scan.noteGone(paths, in: folder, at: now) }
            if answer.needsScan { enqueue(folder.path) }
            for place in answer.foldersThere { enqueue(place) }
            for file in answer.filesThere { lanes[lane].settling.note(file, at: time.monotonic()) }
            if answer.missing > 0 {
                let place = paths.count == 1 ? paths[0] : folder.path
                logger.info("\(place): \(answer.missing) no longer on the disk; what is stored stays stored")
            }
        }
    }

    // MARK: Settling

    private func settleFiles(_ lane: Int) async throws {
        let due = lanes[lane].settling.takeDue(at: time.monotonic())
        if !due.isEmpty { try await observe(due, lane) }
        let unfinished = lanes[lane].settling.takeUnfinished(at: time.monotonic())
        if !unfinished.isEmpty { try await observeUnfinished(unfinished, lane) }
        let mixed = lanes[lane].othersSettling.takeDue(at: time.monotonic())
        if !mixed.isEmpty { try await noteOthers(in: mixed) }
    }

    private func observe(_ files: [FilePath], _ lane: Int) async throws {
        let now = time.now()
        let batch = located(files)
        guard let first = batch.first?.folder else { return }
        let unsettled = try await runOnDisk(of: first) {
            [ledger = ledger.ledger, scanner, scan, triage] watchdog in
            let folders = batch.map(\.folder)
            var (settled, unsettled): ([SettledFile], [(file: FilePath, wait: Duration)]) = ([], [])
            var mixed: [FilePath: FolderRecord] = [:]
            for (folder, file) in batch {
                watchdog.note(folder)
                // An unreadable file is the next scan's to tell; a vanished one has a hint of its own.
                guard let stamp = try? scanner.stamp(of: file) else {
                    // A link has a name like a file's.
                    if scanner.isThere(file) { mixed[file.removingLastComponent()] = folder }
                    continue
                }
                // The settle time has gone by since the last event.
                if let wait = stamp.timeToSettle(.zero, at: now) {
                    unsettled.append((file, wait))
                } else {
                    settled.append(SettledFile(folder: folder.id, path: file.relative(to: folder.path), stamp: stamp))
                }
            }
            let observed = try ledger.observe(
                settled, drive: scan.drives.seen(in: folders), stillThere: scanner.isFile,
                whySkipped: triage.reasons(in: folders), at: now)
            // It was tried while a program had it open.
            if !observed.delayed.isEmpty { try ledger.makeDue(observed.delayed, at: now) }
            // What settles may have had a name until now that is left out.
            try scan.noteOthers(in: mixed.map { ($0.value, $0.key) }, reviewing: folders, at: now)
            // From here: whoever takes it from the queue need not wait for this actor.
            self.report(queued: observed.queued, skipped: observed.skipped)
            return unsettled
        }
        for (file, wait) in unsettled { lanes[lane].settling.note(file, after: wait, at: time.monotonic()) }
        // It is on another drive, or says that all was removed on purpose: only the whole folder tells.
        for (folder, _) in batch where emptyFolders.remove(folder.id) != nil { enqueue(folder.path) }
    }

    private func noteOthers(in directories: [FilePath]) async throws {
        let now = time.now()
        let batch = located(directories)
        guard let first = batch.first?.folder else { return }
        try await runOnDisk(of: first) { [scan] _ in
            try scan.noteOthers(in: batch, reviewing: batch.map(\.folder), at: now)
        }
    }

    /// What is not whole yet is known from now on, and nobody claims it until it is, or has been changing for long. It may
    /// look like anything: its first bytes are not asked.
    private func observeUnfinished(_ files: [FilePath], _ lane: Int) async throws {
        let now = time.now()
        let batch = located(files)
        guard let first = batch.first?.folder else { return }
        let unseen = try await runOnDisk(of: first) {
            [ledger = ledger.ledger, scanner, settle, drives = scan.drives] watchdog in
            var (changing, unseen): ([SettledFile], [FilePath]) = ([], [])
            for (folder, file) in batch {
                watchdog.note(folder)
                if let stamp = try? scanner.stamp(of: file) {
                    changing.append(SettledFile(folder: folder.id, path: file.relative(to: folder.path), stamp: stamp))
                } else {
                    unseen.append(file)
                }
            }
            let longest = SettleQueue.longestWait(settle: settle)
            let drive = drives.seen(in: batch.map(\.folder))
            try ledger.hold(changing, for: longest, drive: drive, stillThere: scanner.isFile, at: now)
            // Whoever works off the queue learns when it has to look again.
            self.report(queued: changing.count, skipped: 0)
            return unseen
        }
        for file in unseen { lanes[lane].settling.forgetTelling(of: file) }
    }

    /// Runs what waits for disks. That a folder could not be looked at stays its problem until all of it was.
    private func runOnDisk<Value: Sendable>(
        of folder: FolderRecord, _ body: @escaping @Sendable (DiskWatchdog) throws -> Value
    ) async throws -> Value {
        let value = try await watchdog.run(at: folder, on: disks) { [watchdog] in try body(watchdog) }
        for heard in watchdog.takeHeard() { enqueue(heard.path) }
        return value
    }

    private func located(_ files: [FilePath]) -> [(folder: FolderRecord, file: FilePath)] {
        files.compactMap { file in folder(of: file).map { ($0, file) } }
    }

    // MARK: Scanning

    private func enqueue(_ tree: FilePath) {
        guard let index = lane(of: tree) else { return }
        lanes[index].treesToScan.add(tree: tree)
        lanes[index].treesChanged.signal()
    }

    private func scanTrees(_ lane: Int) async throws {
        while true {
            try Task.checkCancellation()
            guard !lanes[lane].treesToScan.isEmpty else {
                await lanes[lane].treesChanged.wait(atMost: nil, time: time)
                continue
            }
            let tree = lanes[lane].treesToScan.removeFirst()
            if let folder = folder(of: tree) { try await scanInTurn(folder, from: tree, lane) }
            if lanes[lane].isRescanning, lanes[lane].treesToScan.isEmpty {
                lanes[lane].isRescanning = false
                if !lanes.contains(where: \.isRescanning) { rescanned() }
            }
        }
    }

    /// Waits until few others are scanned.
    private func scanInTurn(_ folder: FolderRecord, from tree: FilePath, _ lane: Int) async throws {
        while !turns.isFree(at: time.monotonic(), { watchdog.isQuiet($0, for: DiskWatchdog.turn) }) {
            try Task.checkCancellation()
            await lanes[lane].turn.wait(atMost: DiskWatchdog.turn, time: time)
        }
        turns.begin(folder, lane, at: time.monotonic())
        defer {
            turns.end(lane)
            for other in lanes { other.turn.signal() }
        }
        try await scan(folder, from: tree, lane)
    }

    private func scan(_ folder: FolderRecord, from tree: FilePath, _ lane: Int) async throws {
        let now = time.now()
        let (result, cost) = try await runOnDisk(of: folder) { [scan, watchedSince] watchdog in
            let clock = StepWatch.clockOfThread()
            let start = clock()
            let result = try scan.run(folder, from: tree, at: now, appearedAfter: watchedSince) { _ in
                watchdog.note(folder)
            }
            let end = clock()
            let cost = ScanCost(lasted: end.wall - start.wall, processor: end.processor - start.processor)
            return (result, cost)
        }
        source.noteScan(of: tree, cost)
        if !result.appeared.isEmpty { source.judge(result.appeared, below: folder.path) }
        for (file, wait) in result.unsettled {
            lanes[lane].settling.note(file, after: wait, at: time.monotonic())
        }
        for directory in result.mixed { lanes[lane].othersSettling.note(directory, at: time.monotonic()) }
        lanes[lane].changed.signal()
        report(queued: result.queued, skipped: result.skipped)
        if tree == folder.path {
            if result.seemsEmpty { emptyFolders.insert(folder.id) } else { emptyFolders.remove(folder.id) }
            report(result.problems, of: folder)
        } else if Set(result.problems) != knownProblems.filter({ $0.path.starts(with: tree) }) {
            // What a folder's problems are is noted by a scan of all of it; a part with a known one is polled alone.
            enqueue(folder.path)
        }
        try await noteWatching()
        logger.debug(
            """
            \(tree): \(result.filesSeen.counted("file")), \(result.queued) new, \(result.skipped) skipped, \
            \(result.missing) missing
            """)
    }

    private func rescanNowAndThen() async throws {
        while true {
            try await time.sleep(rescanEvery)
            for lane in lanes.indices { lanes[lane].isRescanning = true }
            for folder in folders { enqueue(folder.path) }
        }
    }

    private nonisolated func report(queued: Int, skipped: Int) {
        if queued > 0 { work.signal() }
        if skipped > 0 { self.skipped() }
    }

    // MARK: Reports

    /// A problem is told when it appears and not at every scan.
    private func report(_ problems: [ScanError], of folder: FolderRecord) {
        for problem in problems where !knownProblems.contains(problem) { logger.warning("\(problem)") }
        knownProblems = knownProblems.filter { !$0.path.starts(with: folder.path) }.union(problems)
    }

    private func noteWatching() async throws {
        let reports = source.reports()
        told.logCauses(reports, logger)
        let overflowed = told.countOverflows(reports)
        try await ledger { [folders] ledger in
            if overflowed > 0 { try ledger.countOverflows(overflowed) }
            for folder in folders {
                guard let report = reports.first(where: { $0.root == folder.path }) else { continue }
                try ledger.noteWatching(folder.id, report)
            }
        }
    }

    private func folder(of path: FilePath) -> FolderRecord? {
        folders.first { path.starts(with: $0.path) }
    }

    private func lane(of path: FilePath) -> Int? {
        lanes.firstIndex { lane in lane.folders.contains { path.starts(with: $0.path) } }
    }
}
