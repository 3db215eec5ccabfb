package import FoundationEssentials
import GRDB
import SyncCore
package import SystemPackage

extension Ledger {
    /// A file, or a directory with all below it, is no longer there: its photos are missing, or forgotten when nothing
    /// of them is stored.
    /// - Parameters:
    ///   - path: below the folder. Empty, it is the folder itself: the caller has made sure of that.
    ///   - drive: on which drive a directory below the folder is. It is asked while the ledger is written to, and must
    ///     not wait. Photos of other ones are what they were.
    /// - Returns: how many photos that concerned.
    @discardableResult
    package func markGone(
        _ folder: FolderID, path gone: FilePath, drive: (FilePath) -> SeenDrive = { _ in .known }, at time: Date
    ) throws(LedgerError) -> Int {
        try write("note that files are gone") { db in
            let path = try gone.relative(to: db.folder(folder).path)
            let directories = DirectoryTable(db)
            let drives = try DriveTable(db).all()
            var count = 0
            if let name = path.lastComponent,
                let parent = try directories.find(path.removingLastComponent(), in: folder),
                let row = try PhotoTable(db).row(in: parent, named: name)
            {
                let place = path.removingLastComponent()
                let seen = DriveComparison(drive(place), in: place, among: drives)
                count += try db.vanish([row], of: parent, on: seen, at: time)
            }
            for directory in try directories.subtree(path, in: folder) {
                let seen = DriveComparison(drive(directory.path), in: directory.path, among: drives)
                count += try db.vanish(
                    PhotoTable(db).rows(in: directory.id), of: directory.id, on: seen, at: time)
            }
            return count
        }
    }

    /// Ends a scan: the directories that it did not meet are no longer there.
    ///
    /// Call it before the hints that came during the scan are worked off, or add the directories of the files they
    /// named to `visited`.
    /// - Parameters:
    ///   - start: where the scan began, below the folder; empty for the folder itself.
    ///   - visited: the directories that it met, as ``DirectoryDifference/directoryID`` named them.
    ///   - unread: directories that could not be read: nothing is concluded about them and what is below them.
    ///   - drive: on which drive a directory below the folder is, or would be. Photos of other ones are what they were.
    ///   - stillThere: whether there is a directory at an absolute path. It is asked about those that were not met: one
    ///     that appeared during the scan is left alone.
    /// - Returns: how many photos were missing.
    @discardableResult
    package func finishScan(
        _ folder: FolderID, below start: FilePath, visited: Set<DirectoryID>, unread: [FilePath] = [],
        drive: (FilePath) -> SeenDrive = { _ in .known }, stillThere: (FilePath) -> Bool = { _ in false }, at time: Date
    ) throws(LedgerError) -> Int {
        let operation = "finish a scan"
        let (root, candidates) = try read(operation) { db in
            let root = try db.folder(folder).path
            let excluded = unread.map { $0.relative(to: root) }
            let met = try DirectoryTable(db).subtree(start.relative(to: root), in: folder)
            let candidates = try met.filter { directory in
                try !visited.contains(directory.id) && !excluded.contains { directory.path.starts(with: $0) }
                    && PhotoTable(db).rows(in: directory.id).contains(where: \.isOnDisk)
            }
            return (root, candidates)
        }
        let gone = candidates.filter { !stillThere(root.pushing($0.path)) }.map { ($0, drive($0.path)) }
        guard !gone.isEmpty else { return 0 }
        return try write(operation) { db in
            let drives = try DriveTable(db).all()
            return try gone.reduce(0) { count, found in
                let (directory, drive) = found
                let seen = DriveComparison(drive, in: directory.path, among: drives)
                return try count
                    + db.vanish(PhotoTable(db).rows(in: directory.id), of: directory.id, on: seen, at: time)
            }
        }
    }
}
