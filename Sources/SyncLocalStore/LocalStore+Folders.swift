import SyncCore
import SyncSystem
import SystemPackage

/// Folders of the store, and what of them is on the disk.
///
/// A folder that is there may have been made a moment ago, by us before a sync failed or by a process that was killed: its
/// name need not be on the disk. So each process syncs the folder above once before it leans on a folder, and remembers
/// those that it has done so for.
struct SyncedFolders: Sendable {
    /// Forgotten all at once: then they are synced once more.
    private static let capacity = 4_096

    private var folders: [FilePath: FolderIdentity] = [:]

    func contains(_ path: FilePath, _ status: FileStatus) -> Bool {
        folders[path] == FolderIdentity(of: status)
    }

    mutating func remove(_ path: FilePath) {
        folders[path] = nil
    }

    mutating func insert(_ path: FilePath, _ status: FileStatus) {
        if folders.count >= Self.capacity { folders = [:] }
        folders[path] = FolderIdentity(of: status)
    }
}

extension LocalStore {
    /// fsync(2) of a folder: its entries are on the disk.
    func syncFolder(_ path: FilePath) throws {
        try onStep(.syncing(path))
        try Disk.syncFolder(path)
    }

    /// Makes the folders below `objects/` that a key's file stands in; relative to `objects/`.
    func makeContentFolder(for key: ObjectKey) throws -> FilePath {
        var folder = FilePath()
        for segment in key.segments.dropLast() {
            if let plain = ContentName.plain(segment) {
                let candidate = layout.objects.pushing(folder).appending(plain)
                if try makeSyncedFolder(candidate) {
                    folder.append(plain)
                    continue
                }
            }
            folder.append(ContentName.folderSubstitute(segment))
            guard try makeSyncedFolder(layout.objects.pushing(folder)) else {
                throw FileError(call: "mkdir", path: layout.objects.pushing(folder), errno: .notDirectory)
            }
        }
        return folder
    }

    func makeRecordFolder(for key: ObjectKey) throws {
        for folder in folders(above: layout.record(for: key), below: layout.records) {
            _ = try makeSyncedFolder(folder)
        }
    }

    /// Makes a folder where there is none, and sees that its name is on the disk. A folder above may vanish meanwhile: then
    /// the caller's rename fails and is tried again.
    /// - Returns: `false` when something that is no folder has the name.
    private func makeSyncedFolder(_ path: FilePath) throws -> Bool {
        do {
            if let status = try Disk.folderStatus(path), syncedFolders.withLock({ $0.contains(path, status) }) {
                return true
            }
            let isNew = try Disk.makeFolder(path)
            guard let status = try Disk.folderStatus(path) else { return isNew }
            // A new folder may have got the inode of one that was removed.
            if isNew { syncedFolders.withLock { $0.remove(path) } }
            try syncName(of: path, status)
            return true
        } catch let error as FileError where error.isMissing {
            return true
        }
    }

    /// Syncs the folder above, unless this process has done so since the folder is there.
    private func syncName(of path: FilePath, _ status: FileStatus) throws {
        if syncedFolders.withLock({ $0.contains(path, status) }) { return }
        try syncFolder(path.removingLastComponent())
        syncedFolders.withLock { $0.insert(path, status) }
    }

    /// Syncs the folder of a file, and the names of the folders above it up to `top`. Of folders that were pruned
    /// meanwhile the next one above that is there is synced.
    func syncFolders(above path: FilePath, below top: FilePath) throws {
        var last = top
        for folder in folders(above: path, below: top) {
            guard let status = try Disk.folderStatus(folder) else { break }
            do {
                try syncName(of: folder, status)
            } catch let error as FileError where error.isMissing {
                break
            }
            last = folder
        }
        while true {
            do {
                return try syncFolder(last)
            } catch let error as FileError where error.isMissing && last != top {
                last.removeLastComponent()
            }
        }
    }

    /// The folders between `top` and a path below it, from the top.
    private func folders(above path: FilePath, below top: FilePath) -> [FilePath] {
        var folder = top
        return path.removingLastComponent().components.dropFirst(top.components.count).map { component in
            folder.append(component)
            return folder
        }
    }

    /// Tells "it is not there" from "the disk that it is on is not mounted", where a folder of the store was moved to
    /// another disk and linked.
    /// - Throws: ``FileError`` that becomes `.storeMissing`.
    func requireReachable(_ path: FilePath, below top: FilePath) throws {
        let folders = [top] + folders(above: path, below: top)
        // Where the last one is there, all above it are.
        if let last = folders.last, try Disk.folderStatus(last) != nil { return }
        for folder in folders {
            if try Disk.folderStatus(folder) != nil { continue }
            guard try folder == top || Disk.status(folder)?.kind == .link else {
                return
            }
            throw FileError(call: "stat", path: folder, errno: .noSuchFileOrDirectory)
        }
    }
}
