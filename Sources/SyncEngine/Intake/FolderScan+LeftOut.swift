import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem
import SystemPackage

/// What a scan says of entries that are never stored.
extension FolderScan {
    /// Tells what is left out in some directories, as a scan does: something that is never stored came into them, or
    /// left.
    /// - Parameters:
    ///   - directories: absolute, folders themselves or below them. Those within them are not looked at.
    ///   - folders: where what is told already is looked at again, once for all directories: what has left one of them
    ///     may have been a folder, or has got its name. A folder may be named several times.
    /// - Throws: ``LedgerError``, `CancellationError`.
    func noteOthers(
        in directories: [(folder: FolderRecord, file: FilePath)], reviewing folders: [FolderRecord], at now: Date
    ) throws {
        for (folder, directory) in directories {
            try PooledWork.checkCancellation()
            try noteOthers(in: directory, of: folder, at: now)
        }
        var reviewed: Set<FolderID> = []
        for folder in folders where reviewed.insert(folder.id).inserted {
            let absent = try drives.absentMounts(of: folder)
            try ledger.reviewLeftOutEntries(of: folder.id) { path in
                let place = path.relative(to: folder.path)
                return absent.contains { place.starts(with: $0) } || scanner.isThere(path)
            }
        }
    }

    private func noteOthers(in directory: FilePath, of folder: FolderRecord, at now: Date) throws {
        var seen: ScannedFolder?
        do {
            try scanner.scan(root: folder.path, from: directory) { scanned in
                seen = scanned
                throw FolderIsSeen()
            }
        } catch is FolderIsSeen {
            // What is below it is not asked for.
        } catch is ScanError {
            // It is gone, or a scan tells why it cannot be read.
        }
        if let seen, seen.error == nil {
            try ledger.noteLeftOutEntries(
                entries(seen, of: folder, at: now), of: folder.id, in: .directory(seen.path),
                except: drives.absentMounts(of: folder))
        }
    }

    /// Whether a folder's digest tells all that has to be known of it.
    func isTold(byDigest scanned: ScannedFolder, at now: Date) -> Bool {
        scanned.others.allSatisfy { other in
            if case .ignoredName(let stamp) = other.kind { stamp.isSettled(settle, at: now) } else { false }
        }
    }

    /// Whether something that is never stored has not been quiet for long enough to be told.
    func isSettling(_ scanned: ScannedFolder, at now: Date) -> Bool {
        scanned.others.contains { other in
            if case .ignoredName(let stamp) = other.kind { !stamp.isSettled(settle, at: now) } else { false }
        }
    }

    /// What is never stored, and may be a photo all the same. Paths are below the folder.
    func entries(_ scanned: ScannedFolder, of folder: FolderRecord, at now: Date) -> [LeftOutSummary.Item] {
        scanned.others.compactMap { other in
            let path = scanned.path.appending(other.name)
            if folder.filter.exclusion(of: path) != nil { return nil }
            switch other.kind {
            case .linkedEvents where folder.kind != .gallery: return nil
            case .link, .linkedEvents:
                return LeftOutSummary.Item(path: path, reason: "a symbolic link: links are not followed")
            case .ignoredName(let stamp):
                // What a program is at work on is not left out: it is about to get its name.
                guard stamp.isSettled(settle, at: now), scanner.holdsPicture(folder.path.pushing(path)) else {
                    return nil
                }
                return LeftOutSummary.Item(
                    path: path, reason: "a picture under a name that programs use while they work, or a hidden one")
            case .ignoredFolder:
                guard scanner.holdsPictures(folder.path.pushing(path)) else { return nil }
                return LeftOutSummary.Item(
                    path: path,
                    reason: "a folder with pictures that is not looked into: it is hidden, or has a name that programs"
                        + " use while they work")
            }
        }
    }
}
