package import FoundationEssentials
import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// What a scan does about drives that are not there, about others in their places, and about those that come and go
/// while it reads.
extension FolderScan {
    var drives: FolderDrives { FolderDrives(ledger: ledger, scanner: scanner) }

    /// Places in the folder whose photos are on a drive that is not mounted, or may be.
    struct Unseen {
        /// Those that are not told by the drive of each photo: nothing is concluded about them.
        var unclear: [FilePath] = []
        /// Those where another drive is since before the scan.
        var others: [FilePath] = []

        var all: [FilePath] { unclear + others }
    }

    /// What cannot be seen of the folder, and is told as its problems.
    /// - Parameters:
    ///   - scanned: its drives, which were looked at again after all was read.
    ///   - place: what was scanned, below the folder. Other places are not looked at.
    ///   - isBare: whether there is no file in the whole folder, which is told as such.
    func unseen(
        of folder: FolderRecord, _ mounts: ScannedMounts, _ scanned: ScannedDrives, at place: FilePath, isBare: Bool,
        at now: Date, _ result: inout Summary
    ) throws -> Unseen {
        let before = scanned.before
        let after = try drives.check(folder)
        // Before a mount that has just come is known as one of the folder's.
        try drives.note(after, of: folder)
        let changed = scanned.changes(near: place)
        let known = Set(before.strangers.map(\.place))
        var strangers = before.strangers + after.strangers.filter { !known.contains($0.place) }
        strangers.removeAll { !$0.place.isNear(place) }
        if isBare { strangers.removeAll(where: \.place.isEmpty) }
        let strange = Set(strangers.map(\.place))
        // Files that were seen on a drive that is gone by now do not make its place a plain folder.
        let plain = mounts.inUse.subtracting(strange).subtracting(scanned.changed)
        let absent = try ledger.noteMounts(
            folder.id, mounted: scanner.mountPoints(below: folder.path), inUse: plain, at: now)
        for (mount, files) in absent where !mounts.inUse.contains(mount.path) {
            result.problems.append(
                ScanError(
                    .missing, path: folder.path.pushing(mount.path),
                    message: "no drive is mounted here, and \(files.counted("file is", "files are")) known on the one "
                        + "that was. They cannot be seen now, and nothing was marked as missing. Mount it again"))
        }
        var told = Set(absent.map(\.mount.path)).subtracting(mounts.inUse)
        for stranger in strangers where !told.contains(stranger.place) {
            var other = try drives.describe(stranger, in: after, of: folder)
            if let waiting = scanned.waiting[stranger.place] {
                other.namesakes = max(other.namesakes, waiting.count)
                other.namesake = other.namesake ?? folder.path.pushing(waiting.first)
            }
            // Its files may have been found elsewhere by this scan.
            guard other.filesNotSeen > 0 else { continue }
            result.problems.append(other.problem)
            told.insert(stranger.place)
        }
        for place in changed where !told.contains(place) {
            result.problems.append(
                ScanError(
                    .missing, path: folder.path.pushing(place),
                    message: "a drive was mounted or taken out here while the folder was looked at. Nothing was marked "
                        + "as missing; the next sync looks again"))
        }
        for (place, waiting) in scanned.waiting.sorted(by: { $0.key.string < $1.key.string })
        where !told.contains(place) {
            let path = folder.path.pushing(place)
            let name = OtherDrive.name(folder.path.pushing(waiting.first), of: waiting.count)
            result.problems.append(
                ScanError(
                    .missing, path: path,
                    message: "\(waiting.count.counted("file is", "files are")) not stored: known files of the same "
                        + "names were found on another drive that takes turns with this one\(name). Give them other "
                        + "names, or, where that drive does not come back, and while no agent runs: "
                        + OtherDrive.command(at: path)))
        }
        let others = strangers.map(\.place).filter { known.contains($0) }
        let new = strangers.map(\.place).filter { !known.contains($0) }
        return Unseen(unclear: absent.map(\.mount.path) + new + changed, others: others)
    }

    /// What has become of it that files or folders are said to be gone.
    package struct Gone: Hashable, Sendable {
        /// How many photos are missing by that.
        package var missing = 0
        /// A drive that is not mounted, or another one in its place, may be the reason: only a scan of the whole folder
        /// tells.
        package var needsScan = false
        /// Files that are there all the same, and may be others than those that were: of two that exchange their names
        /// (renameat2(2)), the last that is told of one is that it is gone.
        package var filesThere: [FilePath] = []
        /// Folders, likewise. Of what is below them nothing is concluded before they are scanned.
        package var foldersThere: [FilePath] = []
    }

    /// Files or folders are said to be gone.
    /// - Parameter paths: absolute, below the folder.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func noteGone(_ paths: [FilePath], in folder: FolderRecord, at now: Date) throws -> Gone {
        var result = Gone()
        var gone: [FilePath] = []
        for path in paths {
            do throws(ScanError) {
                if try scanner.stamp(of: path) != nil {
                    result.filesThere.append(path)
                } else if scanner.isFolder(path) {
                    result.foldersThere.append(path)
                } else {
                    gone.append(path.relative(to: folder.path))
                }
            } catch {
                // Not seen is not gone.
                result.needsScan = true
            }
        }
        if gone.isEmpty { return result }
        // Once for all of them, after they were looked at: to read the table of mounts for each took most of the time.
        let absent = try drives.absentMounts(of: folder)
        let places = try drives.places(of: folder)
        for path in gone {
            try PooledWork.checkCancellation()
            if absent.contains(where: path.isNear) {
                result.needsScan = true
                continue
            }
            if places.isOther(atOrBelow: path) {
                result.needsScan = true
            } else {
                try ledger.forgetLeftOutEntries(at: path, of: folder.id)
            }
            result.missing += try ledger.markGone(folder.id, path: path, drive: places.seen, at: now)
        }
        return result
    }
}

/// The drives of a folder while it is scanned. One may be mounted over photos, or taken out, between the beginning and
/// the moment when their directory is read: before anything counts as missing or as changed by what was read, the
/// drives are looked at again.
struct ScannedDrives {
    /// What the scan began with.
    let before: FolderDrives.Findings
    private let drives: FolderDrives
    private let folder: FolderRecord
    /// Places at which it was another one later, for however short a time.
    private(set) var changed: Set<FilePath> = []
    /// Files that have the names of photos of another drive, by their places.
    private(set) var waiting: [FilePath: Waiting] = [:]
    /// The mounts when they were looked at last.
    private var mountTable: [UInt8]

    /// Looks at the drives, and notes what is to be known of them.
    /// - Throws: ``LedgerError``.
    init(_ drives: FolderDrives, of folder: FolderRecord) throws {
        mountTable = drives.mountTable()
        before = try drives.check(folder)
        try drives.note(before, of: folder)
        self.drives = drives
        self.folder = folder
    }

    mutating func recheck() { changed.formUnion(drives.changes(since: before, in: folder)) }

    /// On which drive a directory is. To be asked after it was read.
    /// - Parameter path: below the folder.
    mutating func drive(at path: FilePath) -> SeenDrive {
        let table = drives.mountTable()
        // To ask of each place costs more than many a directory.
        if table.isEmpty || table != mountTable {
            mountTable = table
            recheck()
        }
        guard !changed.isEmpty else { return before.seen(at: path) }
        let place = changed.union(before.places).filter { path.starts(with: $0) }
            .max { $0.components.count < $1.components.count }
        return place.map { changed.contains($0) } == true ? .untold : before.seen(at: path)
    }

    struct Waiting {
        var count = 0
        /// Below the folder.
        let first: FilePath
    }

    /// - Parameter directory: where files wait, below the folder.
    mutating func note(_ difference: DirectoryDifference, in directory: FilePath) {
        guard let first = difference.firstWaiting else { return }
        let place = before.place(above: directory)
        waiting[place, default: Waiting(first: directory.appending(first))].count += difference.waiting
    }

    /// Changed places above or below a directory, in the order of their texts.
    func changes(near path: FilePath) -> [FilePath] {
        changed.filter { $0.isNear(path) }.sorted { $0.string < $1.string }
    }
}

extension FilePath {
    /// Whether one of both lies in the other, or they are one.
    fileprivate func isNear(_ other: FilePath) -> Bool { starts(with: other) || other.starts(with: self) }
}
