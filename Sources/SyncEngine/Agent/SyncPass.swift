import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// One whole pass: scan every folder, wait for the files that are just being written, store all that is due.
///
/// It shares every part with the agent that watches; only the watching is left out.
package struct SyncPass: Sendable {
    package struct Scanned: Sendable {
        /// Files that have to be stored now.
        package var queued = 0
        /// New files of which nothing is stored.
        package var skipped = 0
        package var problems: [ScanError] = []
        /// Folders that have not answered; each is among the problems.
        package var silent: Set<FilePath> = []
        /// Files that kept changing for as long as the pass had patience. They are in the queue, and wait there.
        package var stillChanging: [FilePath] = []

        package init() {}

        fileprivate mutating func note(_ result: FolderScan.Summary) {
            queued += result.queued
            skipped += result.skipped
            problems += result.problems
        }

        /// All of a folder was looked at once more: what was told of it before is over.
        fileprivate mutating func noteAgain(_ folder: FolderRecord, _ result: FolderScan.Summary) {
            problems.removeAll { $0.path.starts(with: folder.path) }
            silent.remove(folder.path)
            note(result)
        }

        fileprivate mutating func noteSilent(_ problems: [ScanError]) {
            for problem in problems where silent.insert(problem.path).inserted { self.problems.append(problem) }
        }
    }

    private let folders: [FolderRecord]
    private let ledger: Ledger
    private let scanner: any TreeScanner
    private let disks: DiskLanes
    private let settle: Duration
    private let triage: FileTriage
    private let watchdog: DiskWatchdog
    private let time: TimeSource

    /// - Parameters:
    ///   - reducer: looks at what is new.
    ///   - disks: a thread for each folder, so that none waits for the disk of another.
    ///   - watchdog: told what is looked at; `nil` where nobody asks: then a folder that does not answer is waited for.
    ///   - isForecast: nobody works off the queue, and what is in it is told: whatever can be known before is found out.
    package init(
        folders: [FolderRecord], ledger: Ledger, scanner: any TreeScanner, reducer: any PhotoReducer,
        disks: DiskLanes, settle: Duration, watchdog: DiskWatchdog? = nil, isForecast: Bool = false, time: TimeSource
    ) {
        self.folders = folders
        self.ledger = ledger
        self.scanner = scanner
        self.disks = disks
        self.settle = settle
        triage = FileTriage(scanner: scanner, reducer: reducer, isPatient: isForecast, time: time)
        self.watchdog = watchdog ?? DiskWatchdog(time: time)
        self.time = time
    }

    /// Brings what is in the folders into the queue, one after the other. A folder that does not answer is waited for
    /// last: the others have their turns meanwhile, and when its time is over, it is a problem of the pass.
    /// - Parameter part: only this folder, absolute and below one of them. When it is not there, the whole folder above is
    ///   looked at: only that tells a folder that was removed from a drive that is not mounted.
    /// - Parameter seen: called now and then with the number of files that were found so far.
    /// - Parameter onWait: called with the folders that do not answer once all others have been looked at: what is in
    ///   the queue by then need not wait for them.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func takeIn(
        only part: FilePath? = nil, seen: @escaping @Sendable (Int) -> Void = { _ in },
        onWait: @escaping @Sendable (Set<FilePath>) -> Void = { _ in }
    ) async throws -> Scanned {
        var intake = Scanned()
        let scan = FolderScan(
            ledger: ledger, scanner: scanner, settle: settle, triage: triage, watched: folders.map(\.path),
            isBusy: watchdog.isBusy)
        let counts = FileCounts(report: seen)
        var unsettled: [UnsettledFile] = []
        let wanted = folders.filter { part?.starts(with: $0.path) ?? true }
        let found = try await inTurns(wanted, onWait: onWait) { folder in
            let now = time.now()
            return try await watchdog.run(at: folder, on: disks) { [scanner, watchdog] in
                let start = part.flatMap { scanner.isFolder($0) ? $0 : nil } ?? folder.path
                return try scan.run(folder, from: start, at: now) { count in
                    watchdog.note(folder)
                    counts.note(count, in: folder)
                }
            }
        }
        for folder in wanted {
            guard let result = found.results[folder.id] else { continue }
            intake.note(result)
            unsettled += unsettledFiles(result, in: folder)
        }
        intake.noteSilent(found.silent)
        // A look at all of a folder tells how it is.
        let early = watchdog.takeHeard().filter { part != nil || found.results[$0.id] == nil }
        unsettled = try await waitUntilWhole(unsettled, scan, &intake)
        // That one could not be looked at stays its problem until all of it was.
        let heard = Set((early + watchdog.takeHeard()).map(\.id))
        let again = folders.filter { heard.contains($0.id) }
        let wholes = try await inTurns(again, onWait: onWait) { folder in
            let now = time.now()
            return try await watchdog.run(at: folder, on: disks) { [watchdog] in
                try scan.run(folder, from: folder.path, at: now) { _ in watchdog.note(folder) }
            }
        }
        var late: [UnsettledFile] = []
        for folder in again {
            guard let result = wholes.results[folder.id] else { continue }
            intake.noteAgain(folder, result)
            late += unsettledFiles(result, in: folder)
        }
        intake.noteSilent(wholes.silent)
        let known = Set(unsettled.map(\.file))
        unsettled += try await waitUntilWhole(late, scan, &intake).filter { !known.contains($0.file) }
        intake.stillChanging = unsettled.map(\.file)
        return intake
    }

    private typealias UnsettledFile = (folder: FolderRecord, file: FilePath, wait: Duration)

    private func unsettledFiles(_ result: FolderScan.Summary, in folder: FolderRecord) -> [UnsettledFile] {
        result.unsettled.map { (folder: folder, file: $0.file, wait: $0.wait) }
    }

    /// Waits until files are whole that are just being written, and brings them into the queue.
    /// - Returns: those that kept changing.
    private func waitUntilWhole(
        _ files: [UnsettledFile], _ scan: FolderScan, _ intake: inout Scanned
    ) async throws -> [UnsettledFile] {
        var unsettled = files
        for round in 1...SettleQueue.rounds {
            guard let wait = unsettled.map(\.wait).max() else { break }
            try await time.sleep(wait)
            let (batch, now) = (unsettled, time.now())
            let isLast = round == SettleQueue.rounds
            unsettled = []
            let waiting = folders.filter { folder in batch.contains { $0.folder.id == folder.id } }
            let outcomes = try await inTurns(waiting, onWait: { _ in }) { folder in
                try await watchdog.run(at: folder, on: disks) {
                    try self.recheck(
                        batch.filter { $0.folder.id == folder.id }, of: folder, scan, isLast: isLast, now: now)
                }
            }
            for folder in waiting {
                guard let outcome = outcomes.results[folder.id] else { continue }
                intake.queued += outcome.observed.queued
                intake.skipped += outcome.observed.skipped
                unsettled += outcome.unsettled
            }
            intake.noteSilent(outcomes.silent)
        }
        return unsettled
    }

    /// Looks at folders in their order. The next one has its turn when the one before is through, or quiet for a while.
    /// - Parameter onWait: called with those that are waited for when all have had their turns.
    /// - Returns: what came of each, and those that did not answer in time: their looks are given up.
    private func inTurns<Value: Sendable>(
        _ folders: [FolderRecord], onWait: (Set<FilePath>) -> Void,
        _ look: @escaping @Sendable (FolderRecord) async throws -> Value
    ) async throws -> (results: [FolderID: Value], silent: [ScanError]) {
        let ended = Lock<[FolderID: Result<Value, any Error>]>([:])
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for folder in folders {
                group.addTask { [watchdog] in
                    let result: Result<Value, any Error>
                    do { result = .success(try await look(folder)) } catch { result = .failure(error) }
                    ended.withLock { $0[folder.id] = result }
                    watchdog.checked.signal()
                }
                try await wait(for: [folder], ended) { watchdog.isQuiet($0, for: DiskWatchdog.turn) }
            }
            let awaited = ended.withLock { ended in folders.filter { ended[$0.id] == nil } }
            if !awaited.isEmpty { onWait(Set(awaited.map(\.path))) }
            while true {
                try await wait(for: folders, ended) { watchdog.told(of: $0) != nil }
                let results = try ended.withLock { $0 }.mapValues { try $0.get() }
                let left = folders.filter { results[$0.id] == nil }
                let silent = left.compactMap { folder in
                    watchdog.told(of: folder).map { ScanError(.failed, path: folder.path, message: $0) }
                }
                // One may have come back just now.
                guard silent.count == left.count else { continue }
                group.cancelAll()
                return (results, silent)
            }
        }
    }

    /// Waits until each folder has been looked at, or is not to be waited for.
    /// - Throws: what a look has thrown, at once; `CancellationError`.
    private func wait<Value: Sendable>(
        for folders: [FolderRecord], _ ended: Lock<[FolderID: Result<Value, any Error>]>,
        unless isLeft: (FolderRecord) -> Bool
    ) async throws {
        while true {
            try Task.checkCancellation()
            let results = ended.withLock { $0 }
            for result in results.values { _ = try result.get() }
            if folders.allSatisfy({ results[$0.id] != nil || isLeft($0) }) { return }
            await watchdog.checked.wait(atMost: nil, time: time)
        }
    }

    /// - Parameter isLast: what still changes is put into the queue, too: from then on it is known, and waits there.
    private func recheck(
        _ files: [UnsettledFile], of folder: FolderRecord, _ scan: FolderScan, isLast: Bool, now: Date
    ) throws -> (observed: ObservedFiles, unsettled: [UnsettledFile]) {
        var (settled, changing): ([SettledFile], [SettledFile]) = ([], [])
        var unsettled: [UnsettledFile] = []
        var gone: [FilePath] = []
        for var file in files {
            try PooledWork.checkCancellation()
            watchdog.note(folder)
            let found: FileStamp?
            // What cannot be seen is the next pass's to tell.
            do { found = try scanner.stamp(of: file.file) } catch { continue }
            guard let stamp = found else {
                // It went before it was whole: nobody waits for it.
                gone.append(file.file)
                continue
            }
            let seen = SettledFile(folder: folder.id, path: file.file.relative(to: folder.path), stamp: stamp)
            if let unfinished = scanner.whyUnfinished(file.file, stamp, settle: settle, at: now) {
                file.wait = unfinished.wait
                unsettled.append(file)
                changing.append(seen)
            } else {
                settled.append(seen)
            }
        }
        if !gone.isEmpty { _ = try scan.noteGone(gone, in: folder, at: now) }
        let drive = scan.drives.seen(in: [folder])
        var observed = try ledger.observe(
            settled, drive: drive, stillThere: scanner.isFile, whySkipped: triage.reasons(in: [folder]), at: now)
        // What is not whole yet may look like anything: its first bytes are not asked.
        if isLast {
            observed.queued += try ledger.observe(changing, drive: drive, stillThere: scanner.isFile, at: now).queued
        }
        return (observed, unsettled)
    }
}

/// Files that were found in several folders, as one number.
private final class FileCounts: Sendable {
    private let counts = Lock<[FolderID: Int]>([:])
    private let report: @Sendable (Int) -> Void

    init(report: @escaping @Sendable (Int) -> Void) { self.report = report }

    func note(_ count: Int, in folder: FolderRecord) {
        report(
            counts.withLock { counts in
                counts[folder.id] = count
                return counts.values.reduce(0, +)
            })
    }
}
