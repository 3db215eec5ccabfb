package import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SystemPackage

/// Compares one watched folder, or a part of it, with the ledger. Blocks; runs on a thread of the caller's choice.
package struct FolderScan: Sendable {
    package struct Result: Sendable {
        package var filesSeen = 0
        package var queued = 0
        package var moved = 0
        package var missing = 0
        /// Files that were modified less than the settle time ago, with their age.
        package var unsettled: [(file: FilePath, age: Duration)] = []
        /// What could not be read, and what was done about it. State is kept wherever the disk could not be seen.
        package var problems: [ScanError] = []
    }

    private let ledger: Ledger
    private let scanner: any TreeScanner
    private let settle: Duration

    package init(ledger: Ledger, scanner: any TreeScanner, settle: Duration) {
        self.ledger = ledger
        self.scanner = scanner
        self.settle = settle
    }

    /// - Parameter start: the folder's path, or one below it.
    /// - Throws: ``LedgerError``. What the disk refuses is in the result.
    package func run(_ folder: FolderRecord, from start: FilePath, at now: Date) throws -> Result {
        let result = try look(at: folder, from: start, now)
        if start == folder.path {
            try ledger.noteScan(folder.id, problem: result.problems.first?.description, at: now)
        }
        return result
    }

    private func look(at folder: FolderRecord, from start: FilePath, _ now: Date) throws -> Result {
        var result = Result()
        var visited: Set<DirectoryID> = []
        var unread: [FilePath] = []
        var emptyRoot: ScannedFolder?
        do {
            try scanner.scan(root: folder.path, from: start) { scanned in
                if let error = scanned.error {
                    result.problems.append(error)
                    unread.append(scanned.path)
                    return
                }
                result.filesSeen += scanned.files.count
                // A drive that is not mounted looks like an empty root. Only the rest of the scan tells which it is.
                if scanned.path.isEmpty, scanned.files.isEmpty {
                    emptyRoot = scanned
                    return
                }
                try reconcile(folder, scanned, at: now, &visited, &result)
            }
        } catch let error as ScanError {
            if error.code == .missing, start != folder.path {
                result.missing += try ledger.markGone(folder.id, path: start.relative(to: folder.path), at: now)
            } else {
                result.problems.append(error)
            }
            return result
        }
        if let emptyRoot {
            let known = try ledger.knownFileCount(folder.id)
            guard result.filesSeen > 0 || known == 0 else {
                result.problems.append(
                    ScanError(
                        .missing, path: folder.path,
                        message: "the folder is empty, and \(known) files are known in it. Is its drive mounted?"
                            + " Nothing was marked as missing"))
                return result
            }
            try reconcile(folder, emptyRoot, at: now, &visited, &result)
        }
        result.missing += try ledger.finishScan(
            folder.id, below: start.relative(to: folder.path), visited: visited, unread: unread)
        return result
    }

    private func reconcile(
        _ folder: FolderRecord, _ scanned: ScannedFolder, at now: Date, _ visited: inout Set<DirectoryID>,
        _ result: inout Result
    ) throws {
        let difference = try ledger.reconcile(
            folder.id, directory: scanned.path, files: scanned.files,
            settled: { $0.age(at: now) >= settle }, stillThere: scanner.isFile, at: now)
        if let directory = difference.directoryID { visited.insert(directory) }
        result.queued += difference.added + difference.changed + difference.requeued
        result.moved += difference.moved
        result.missing += difference.missing
        let directory = folder.path.appending(scanned.path.components)
        for file in difference.unsettled {
            result.unsettled.append((directory.appending(file.name), file.stamp.age(at: now)))
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
}

extension FilePath {
    /// The path below `root`, empty for the root itself; the path as it is when it does not lie below.
    package func relative(to root: FilePath) -> FilePath {
        var relative = self
        _ = relative.removePrefix(root)
        return relative
    }
}
