import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
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
        /// Files that kept changing for as long as the pass had patience. They are in the queue, and wait there.
        package var stillChanging: [FilePath] = []

        package init() {}
    }

    private let folders: [FolderRecord]
    private let ledger: Ledger
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let settle: Duration
    private let firstLook: FirstLook
    private let looks: DiskLooks
    private let time: TimeSource

    /// - Parameters:
    ///   - reducer: looks at what is new.
    ///   - looks: told what is looked at; `nil` where nobody asks.
    ///   - isForecast: nobody works off the queue, and what is in it is told: whatever can be known before is found out.
    package init(
        folders: [FolderRecord], ledger: Ledger, scanner: any TreeScanner, reducer: any PhotoReducer,
        pool: BlockingPool, settle: Duration, looks: DiskLooks? = nil, isForecast: Bool = false, time: TimeSource
    ) {
        self.folders = folders
        self.ledger = ledger
        self.scanner = scanner
        self.pool = pool
        self.settle = settle
        firstLook = FirstLook(scanner: scanner, reducer: reducer, isPatient: isForecast, time: time)
        self.looks = looks ?? DiskLooks(time: time)
        self.time = time
    }

    /// Brings what is in the folders into the queue.
    /// - Parameter part: only this folder, absolute and below one of them. When it is not there, the whole folder above is
    ///   looked at: only that tells a folder that was removed from a drive that is not mounted.
    /// - Parameter seen: called now and then with the number of files that were found so far.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func takeIn(
        only part: FilePath? = nil, seen: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> Scanned {
        var intake = Scanned()
        var found = 0
        let scan = FolderScan(
            ledger: ledger, scanner: scanner, settle: settle, firstLook: firstLook, watched: folders.map(\.path))
        var unsettled: [UnsettledFile] = []
        for folder in folders where part?.starts(with: folder.path) ?? true {
            let now = time.now()
            let before = found
            let result = try await looks.run(at: folder, on: pool) { [scanner, looks] in
                let start = part.flatMap { scanner.isFolder($0) ? $0 : nil } ?? folder.path
                return try scan.run(folder, from: start, at: now) { count in
                    looks.note(folder)
                    seen(before + count)
                }
            }
            found += result.filesSeen
            intake.queued += result.queued
            intake.skipped += result.skipped
            intake.problems += result.problems
            unsettled += result.unsettled.map { (folder: folder, file: $0.file, wait: $0.wait) }
        }
        // A look at all of a folder tells how it is.
        if part == nil { _ = looks.takeHeard() }
        for round in 1...SettleQueue.rounds {
            guard let wait = unsettled.map(\.wait).max() else { break }
            try await time.sleep(wait)
            let (batch, now) = (unsettled, time.now())
            let isLast = round == SettleQueue.rounds
            let outcome = try await looks.run(at: batch.first?.folder, on: pool) {
                try self.lookAgain(at: batch, scan, isLast: isLast, now: now)
            }
            intake.queued += outcome.sighted.queued
            intake.skipped += outcome.sighted.skipped
            unsettled = outcome.unsettled
        }
        // That one could not be looked at stays its problem until all of it was.
        for folder in looks.takeHeard() {
            let now = time.now()
            let result = try await looks.run(at: folder, on: pool) { [looks] in
                try scan.run(folder, from: folder.path, at: now) { _ in looks.note(folder) }
            }
            intake.queued += result.queued
            intake.skipped += result.skipped
        }
        intake.stillChanging = unsettled.map(\.file)
        return intake
    }

    private typealias UnsettledFile = (folder: FolderRecord, file: FilePath, wait: Duration)

    /// - Parameter isLast: what still changes is put into the queue, too: from then on it is known, and waits there.
    private func lookAgain(
        at files: [UnsettledFile], _ scan: FolderScan, isLast: Bool, now: Date
    ) throws -> (sighted: SightedFiles, unsettled: [UnsettledFile]) {
        var (settled, changing): ([SettledFile], [SettledFile]) = ([], [])
        var unsettled: [UnsettledFile] = []
        var gone: [FolderID: [FilePath]] = [:]
        for var file in files {
            try PooledWork.checkCancellation()
            looks.note(file.folder)
            let found: FileStamp?
            // What cannot be seen is the next pass's to tell.
            do { found = try scanner.stamp(of: file.file) } catch { continue }
            guard let stamp = found else {
                // It went before it was whole: nobody waits for it.
                gone[file.folder.id, default: []].append(file.file)
                continue
            }
            let seen = SettledFile(folder: file.folder.id, path: file.file.relative(to: file.folder.path), stamp: stamp)
            if let unfinished = scanner.whyUnfinished(file.file, stamp, settle: settle, at: now) {
                file.wait = unfinished.wait
                unsettled.append(file)
                changing.append(seen)
            } else {
                settled.append(seen)
            }
        }
        for folder in folders {
            guard let gone = gone[folder.id] else { continue }
            _ = try scan.noteGone(gone, in: folder, at: now)
        }
        let drive = scan.drives.seen(in: folders)
        var sighted = try ledger.sight(
            settled, drive: drive, stillThere: scanner.isFile, whySkipped: firstLook.reasons(in: folders), at: now)
        // What is not whole yet may look like anything: its first bytes are not asked.
        if isLast {
            sighted.queued += try ledger.sight(changing, drive: drive, stillThere: scanner.isFile, at: now).queued
        }
        return (sighted, unsettled)
    }
}
