package import FoundationEssentials
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Compares one watched folder, or a part of it, with the ledger. Blocks; runs on a thread of the caller's choice.
package struct FolderScan: Sendable {
    package struct Summary: Sendable {
        fileprivate let appearedAfter: Date?
        package var filesSeen = 0
        package var queued = 0
        /// Of the files that were not known before, or not whole, those that nothing is stored of.
        package var skipped = 0
        package var moved = 0
        package var missing = 0
        /// Of the files that were not known before, the first that changed after the time that the caller has given.
        package var appeared: [AppearedFile] = []
        /// Files that changed less than the settle time ago, and how long they have to be left alone still. They are
        /// pending, and not among the ``queued`` ones.
        package var unsettled: [(file: FilePath, wait: Duration)] = []
        /// Folders with something that is never stored, and that changed less than the settle time ago: what it is cannot be
        /// told yet.
        var mixed: [FilePath] = []
        /// No file is in the folder, and some are known in it.
        var seemsEmpty = false
        /// What could not be read, and what was done about it. State is kept wherever the disk could not be seen.
        package var problems: [ScanError] = []
    }

    /// How often a folder is looked at whose drives are changed meanwhile.
    private static let mostScans = 2

    let ledger: Ledger
    let scanner: any TreeScanner
    let settle: Duration
    /// At what is new; `nil` where each file waits for its turn in the queue.
    var triage: FileTriage?
    /// All watched folders, in the order of the configuration.
    var watched: [FilePath] = []
    /// Whether somebody is at a watched folder, which may not answer: then it is not asked for its names.
    var isBusy: @Sendable (FilePath) -> Bool = { _ in false }
    /// Of the watched folders that were looked at as a whole, without symbolic links.
    let names = Lock<[FilePath: [FilePath]]>([:])

    /// Where a drive is mounted or taken out meanwhile, nothing there counts as missing, and the scan is done again.
    /// - Parameters:
    ///   - start: the folder's path, or one below it.
    ///   - appearedAfter: which files are told in ``Summary/appeared``; `nil` for none.
    ///   - seen: called after each folder with the number of files that were found so far.
    /// - Throws: ``LedgerError``. What the disk refuses is in the result.
    package func run(
        _ folder: FolderRecord, from start: FilePath, at now: Date, appearedAfter: Date? = nil,
        seen: (Int) -> Void = { _ in }
    ) throws -> Summary {
        var result = Summary(appearedAfter: appearedAfter)
        if start == folder.path {
            let own = scanner.names(of: start)
            names.withLock { $0[start] = own }
        }
        for count in 1...Self.mostScans {
            let isSteady = try scanOnce(folder, from: start, now, seen, &result)
            if isSteady || count == Self.mostScans { break }
            result.beginAnew()
        }
        if start == folder.path {
            result.problems += sharedPlaces(of: folder.path)
            // One that was given up for its disk may come back much later.
            try PooledWork.checkCancellation()
            try ledger.noteScan(folder.id, problem: Self.words(result.problems), at: now)
        }
        return result
    }

    /// Where the folder is one with a watched folder before it, or one of the two lies in the other. The configuration
    /// compares paths; that a link or a mount makes two folders one, only the disk tells.
    private func sharedPlaces(of folder: FilePath) -> [ScanError] {
        let names = knownNames(of: folder)
        func isAny(of names: [FilePath], in others: [FilePath]) -> Bool {
            names.contains { name in others.contains { name.starts(with: $0) } }
        }
        return watched.prefix(while: { $0 != folder }).compactMap { other -> ScanError? in
            let others = knownNames(of: other)
            let relation: String
            switch (isAny(of: names, in: others), isAny(of: others, in: names)) {
            case (true, true): relation = "is"
            case (true, false): relation = "is in"
            case (false, true): relation = "holds"
            case (false, false): return nil
            }
            return ScanError(
                .failed, path: folder,
                message: "the folder \(relation) the watched folder \(other.string.escapingControls), and what is in "
                    + "both is counted twice; leave one of the two out of watch")
        }
    }

    /// No other disk than that of the scan is waited for.
    private func knownNames(of folder: FilePath) -> [FilePath] {
        if let known = names.withLock({ $0[folder] }) { return known }
        return isBusy(folder) ? [] : scanner.names(of: folder)
    }

    /// How many folders with a problem are named beside the first one.
    private static let problemsNamed = 10

    /// The first problem with its reason, and where the others are.
    private static func words(_ problems: [ScanError]) -> String? {
        guard let first = problems.first else { return nil }
        let others = problems.dropFirst()
        guard !others.isEmpty else { return first.description }
        let names = others.prefix(problemsNamed).map(\.path.string.escapingControls).joined(separator: ", ")
        let rest = others.count > problemsNamed ? ", …" : ""
        return "\(first); and \(others.count) more: \(names)\(rest)"
    }

    /// - Returns: whether the drives were the same all the time.
    private func scanOnce(
        _ folder: FolderRecord, from start: FilePath, _ now: Date, _ seen: (Int) -> Void, _ result: inout Summary
    ) throws -> Bool {
        var batch = triage?.begin()
        var met = MetDirectories()
        var unread: [FilePath] = []
        var emptyRoot: ScannedFolder?
        var leftOut: [LeftOutSummary.Item] = []
        let place = start.relative(to: folder.path)
        let knownMounts = try ledger.mounts(of: folder.id).map(\.path)
        let known = try ledger.knownDirectories(of: folder.id, below: place)
        var mounts = ScannedMounts(places: Set(knownMounts + scanner.mountPoints(below: folder.path)))
        var scannedDrives = try ScannedDrives(drives, of: folder)
        let before = scannedDrives.before
        // On another drive than the one that is known, it takes more than stamps to tell that all is as it was.
        let isOther = { (directory: FilePath) in before.stranger(above: directory) != nil }
        let digest = { (directory: FilePath) -> SHA256Digest? in
            isOther(directory) ? nil : known[directory]?.digest
        }
        do {
            try scanner.scan(root: folder.path, from: start, known: digest) { scanned in
                try PooledWork.checkCancellation()
                if let error = scanned.error {
                    result.problems.append(error)
                    unread.append(scanned.path)
                    return
                }
                defer { seen(result.filesSeen) }
                if scanned.isUnchanged, let directory = known[scanned.path] {
                    result.filesSeen += directory.files
                    met.ids.insert(directory.id)
                    mounts.meet(filesIn: scanned.path)
                    return
                }
                result.filesSeen += scanned.files.count
                let others = entries(scanned, of: folder, at: now)
                leftOut += others
                if isSettling(scanned, at: now) { result.mixed.append(folder.path.pushing(scanned.path)) }
                var scanned = scanned
                if !others.isEmpty || isOther(scanned.path) || !isTold(byDigest: scanned, at: now) {
                    scanned.digest = nil
                }
                // A drive that is not mounted looks like an empty root. Only the rest of the scan tells which it is.
                if scanned.path.isEmpty, scanned.files.isEmpty {
                    emptyRoot = scanned
                    return
                }
                guard mounts.meet(scanned) else { return }
                try reconcile(folder, scanned, at: now, &scannedDrives, &batch, &met, &result)
            }
        } catch let error as ScanError {
            guard error.code == .missing, start != folder.path else {
                result.problems.append(error)
                return true
            }
            let places = try drives.places(of: folder)
            try PooledWork.checkCancellation()
            if !knownMounts.contains(where: { $0.starts(with: place) || place.starts(with: $0) }),
                !places.isOther(atOrBelow: place)
            {
                result.missing += try ledger.markGone(folder.id, path: place, drive: places.seen, at: now)
                return true
            }
        }
        try PooledWork.checkCancellation()
        let isBare = emptyRoot != nil && result.filesSeen == 0
        scannedDrives.recheck()
        let unseen = try unseen(of: folder, mounts, scannedDrives, at: place, isBare: isBare, at: now, &result)
        let absent = unseen.all
        let isSteady = scannedDrives.changes(near: place).isEmpty
        let filesNotSeen = try isBare ? ledger.knownFileCount(folder.id) : 0
        try ledger.noteLeftOutEntries(
            leftOut, of: folder.id, in: .below(place), except: filesNotSeen > 0 ? [place] : unread + absent)
        if let emptyRoot {
            guard filesNotSeen == 0 else {
                result.seemsEmpty = true
                if !absent.isEmpty { return isSteady }
                let hidden = unread.first.map { folder.path.pushing($0).string.escapingControls }
                let state =
                    hidden.map { "no file can be seen in the folder (\($0) cannot be read)" } ?? "the folder is empty"
                result.problems.append(
                    ScanError(
                        .missing, path: folder.path,
                        message: "\(state), and \(filesNotSeen.counted("file is", "files are")) known in "
                            + "it. Is its drive mounted? Nothing was marked as missing. "
                            + "Were they removed on purpose: put a file (a note) into it"))
                return isSteady
            }
            try reconcile(folder, emptyRoot, at: now, &scannedDrives, &batch, &met, &result)
        }
        for scanned in mounts.empty where !absent.contains(where: { scanned.path.starts(with: $0) }) {
            try reconcile(folder, scanned, at: now, &scannedDrives, &batch, &met, &result)
        }
        try met.noteDigests(in: ledger)
        try PooledWork.checkCancellation()
        result.missing += try ledger.finishScan(
            folder.id, below: place, visited: met.ids, unread: unread + unseen.unclear,
            drive: { scannedDrives.drive(at: $0) }, at: now)
        return isSteady
    }

    private func reconcile(
        _ folder: FolderRecord, _ scanned: ScannedFolder, at now: Date, _ drives: inout ScannedDrives,
        _ batch: inout FileTriage.Batch?, _ met: inout MetDirectories, _ result: inout Summary
    ) throws {
        var seen = SeenDrive.known
        let difference = try ledger.reconcile(
            folder.id, directory: scanned.path, files: scanned.files,
            drive: {
                seen = drives.drive(at: scanned.path)
                return seen
            },
            settled: { $0.isSettled(settle, at: now) }, holding: SettleQueue.longestWait(settle: settle),
            stillThere: scanner.isFile,
            whySkipped: { file in
                SignOfLife.give()
                return batch?.reason(scanned.path.appending(file.name), file.stamp, in: folder)
            }, at: now)
        // Once it is told which drive the files are on, their photos are to learn it.
        try met.add(scanned, difference, isDriveTold: seen != .untold, to: ledger)
        drives.note(difference, in: scanned.path)
        result.queued += difference.new.count + difference.released - difference.skipped
        result.queued += difference.changed + difference.requeued
        result.skipped += difference.skipped
        result.note(difference.new, in: scanned.path)
        result.moved += difference.moved
        result.missing += difference.missing
        let directory = folder.path.appending(scanned.path.components)
        for file in difference.unsettled {
            let wait = file.stamp.timeToSettle(settle, at: now) ?? .zero
            result.unsettled.append((directory.appending(file.name), wait))
        }
    }
}

extension FolderScan.Summary {
    /// What was found out by a look stays; what it saw is told by the next one.
    fileprivate mutating func beginAnew() { (filesSeen, unsettled, problems, seemsEmpty) = (0, [], [], false) }

    /// One that came without a hint is enough to be told, and seldom comes alone.
    private static let mostAppeared = 64

    fileprivate mutating func note(_ new: [ScannedFile], in directory: FilePath) {
        guard let appearedAfter, appeared.count < Self.mostAppeared else { return }
        let after = Int64(appearedAfter.timeIntervalSince1970 * 1e9)
        for file in new.prefix(Self.mostAppeared - appeared.count) {
            guard let changed = file.stamp.changed, changed > after else { continue }
            appeared.append(AppearedFile(path: directory.appending(file.name), changed: changed))
        }
    }
}

extension TreeScanner {
    /// Whether there is a regular file at the path. One that cannot be looked at counts as there: nothing is concluded
    /// from what was not seen.
    func isFile(_ path: FilePath) -> Bool {
        do {
            return try stamp(of: path) != nil
        } catch {
            return error.code != .missing
        }
    }

    /// Whether there is a folder at the path that can be read.
    func isFolder(_ path: FilePath) -> Bool {
        do {
            try scan(root: path.removingLastComponent(), from: path) { _ in throw FolderIsSeen() }
            return false
        } catch {
            return error is FolderIsSeen
        }
    }
}

/// Ends a scan that was only to look at one folder, or whether there is one.
struct FolderIsSeen: Error {}

/// The directories of the ledger that a scan has met.
private struct MetDirectories {
    /// Files of directories whose digests are noted in one transaction.
    private static let groupSize = 4_096

    var ids: Set<DirectoryID> = []
    /// Those that are as the ledger knows them, which it is still to be told.
    private var compared: [ComparedDirectory] = []
    private var files = 0

    mutating func add(
        _ folder: ScannedFolder, _ difference: DirectoryDifference, isDriveTold: Bool, to ledger: Ledger
    ) throws {
        guard let id = difference.directoryID else { return }
        ids.insert(id)
        guard isDriveTold, difference.isEmpty, difference.unsettled.isEmpty, !folder.files.isEmpty,
            let digest = folder.digest
        else { return }
        compared.append(ComparedDirectory(id: id, digest: digest, files: folder.files))
        files += folder.files.count
        if files >= Self.groupSize { try noteDigests(in: ledger) }
    }

    mutating func noteDigests(in ledger: Ledger) throws {
        try ledger.noteDigests(of: compared)
        (compared, files) = ([], 0)
    }
}

/// What a scan meets at and below places where a drive is mounted, or was. A drive that is not mounted looks like an empty
/// folder, or like none; only the whole scan, and the table of mounts after it, tell which it is. So folders there that
/// hold no files wait for the end.
struct ScannedMounts {
    /// Below the watched folder.
    let places: Set<FilePath>
    /// Places at or below which there are files.
    private(set) var inUse: Set<FilePath> = []
    /// Folders there without files.
    private(set) var empty: [ScannedFolder] = []

    /// A folder there has files.
    mutating func meet(filesIn path: FilePath) { inUse.formUnion(places(above: path)) }

    /// - Returns: whether the folder is to be compared with the ledger at once.
    mutating func meet(_ folder: ScannedFolder) -> Bool {
        let above = places(above: folder.path)
        guard !above.isEmpty, folder.files.isEmpty else {
            inUse.formUnion(above)
            return true
        }
        empty.append(folder)
        return false
    }

    private func places(above path: FilePath) -> Set<FilePath> {
        places.isEmpty ? [] : places.filter { path.starts(with: $0) }
    }
}
