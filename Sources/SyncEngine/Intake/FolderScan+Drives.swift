import FoundationEssentials
import SyncCore
import SyncLedger
import SystemPackage

/// What a scan does about drives that are not there, and about others in their places.
extension FolderScan {
    /// Places in the folder whose photos are on a drive that is not mounted. Nothing is concluded about them.
    /// - Parameters:
    ///   - before: what the scan began with. A drive may have been changed since.
    ///   - place: what was scanned, below the folder. Other places are not looked at.
    ///   - isBare: whether there is no file in the whole folder, which is told as such.
    func unseen(
        of folder: FolderRecord, _ mounts: ScannedMounts, _ before: FolderDrives.Look, at place: FilePath,
        isBare: Bool, at now: Date, _ result: inout Summary
    ) throws -> [FilePath] {
        let after = try drives.look(at: folder)
        // Before a mount that has just come is known as one of the folder's.
        try drives.note(after, of: folder)
        let known = Set(before.strangers.map(\.place))
        var strangers = before.strangers + after.strangers.filter { !known.contains($0.place) }
        strangers.removeAll { !$0.place.starts(with: place) && !place.starts(with: $0.place) }
        if isBare { strangers.removeAll(where: \.place.isEmpty) }
        let strange = Set(strangers.map(\.place))
        let absent = try ledger.noteMounts(
            folder.id, mounted: scanner.mountPoints(below: folder.path), inUse: mounts.inUse.subtracting(strange),
            at: now)
        for (mount, files) in absent where !mounts.inUse.contains(mount.path) {
            result.problems.append(
                ScanError(
                    .missing, path: folder.path.pushing(mount.path),
                    message: "no drive is mounted here, and \(files.counted("file is", "files are")) known on the one "
                        + "that was. They cannot be seen now, and nothing was marked as missing. Mount it again"))
        }
        let told = Set(absent.map(\.mount.path)).subtracting(mounts.inUse)
        for stranger in strangers where !told.contains(stranger.place) {
            let other = try drives.describe(stranger, in: after, of: folder)
            // Its files may have been found elsewhere by this scan.
            if other.filesNotSeen > 0 { result.problems.append(other.problem) }
        }
        return absent.map(\.mount.path) + strangers.map(\.place)
    }

    /// Takes in what a drive holds that is mounted in the place of another one. What is not on it is not missing, and a
    /// file that has a known name and another size is not taken for that one: it waits until somebody says what is so.
    func sight(
        _ folder: FolderRecord, _ scanned: ScannedFolder, at now: Date, _ looks: inout FirstLook.Looks?,
        _ result: inout Summary
    ) throws {
        var (settled, changing): ([SettledFile], [SettledFile]) = ([], [])
        let directory = try ledger.directories(of: folder.id, below: scanned.path).first { $0.path == scanned.path }
        let known = try directory.map { try ledger.knownFiles(in: $0.id) } ?? []
        let sizes = Dictionary(known.map { ($0.name, $0.stamp.size) }, uniquingKeysWith: { first, _ in first })
        for file in scanned.files where sizes[file.name, default: file.stamp.size] == file.stamp.size {
            let seen = SettledFile(folder: folder.id, path: scanned.path.appending(file.name), stamp: file.stamp)
            if let wait = file.stamp.timeToSettle(settle, at: now) {
                result.unsettled.append((folder.path.pushing(seen.path), wait))
                changing.append(seen)
            } else {
                settled.append(seen)
            }
        }
        try ledger.hold(
            changing, for: SettleQueue.longestWait(settle: settle), stillThere: scanner.isFile, at: now)
        let sighted = try ledger.sight(
            settled, stillThere: scanner.isFile,
            whySkipped: { looks?.reason($0.path, $0.stamp, in: folder) }, at: now)
        result.queued += sighted.queued
        result.skipped += sighted.skipped
    }
}
