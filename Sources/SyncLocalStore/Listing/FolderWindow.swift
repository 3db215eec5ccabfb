import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// The first entries of a folder in the order of keys, as many as memory allows.
///
/// A folder of a million records is read once for every `capacity` of them, not once for every page: the pages of a
/// listing share a window.
package struct FolderWindow: Sendable {
    /// Some 4 MiB.
    package static let defaultCapacity = 32_768
    /// Fewer entries than this are quicker to read again than to keep.
    private static let largeCount = 1_024

    /// What tells one state of a folder from another.
    private struct Version: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
        var modified: Int64

        init(_ stamp: FileStamp) {
            (device, inode, modified) = (stamp.device, stamp.inode, stamp.modified)
        }
    }

    private(set) var entries = EntryList()
    /// There is nothing behind `entries`.
    private(set) var isComplete = true
    private let folder: FilePath
    private let bounds: PieceBounds
    private let version: Version
    private let isSettled: Bool

    var isWorthKeeping: Bool { !isComplete || entries.count >= Self.largeCount }

    /// The window at the beginning of `bounds`: the cached one where it serves, else read anew. `nil` when the folder is
    /// not there.
    static func read(
        _ folder: FilePath, _ bounds: PieceBounds, capacity: Int, cached: FolderWindow?
    ) throws(FileError) -> FolderWindow? {
        guard let stamp = try Disk.folderStatus(folder)?.stamp else { return nil }
        if let cached, cached.serves(folder, bounds, Version(stamp)) { return cached }
        var window = FolderWindow(folder: folder, bounds: bounds, stamp: stamp)
        let isThere = try Disk.forEachName(in: folder) { name in
            guard let (piece, kind) = RecordPath.piece(ofEntry: name) else { return }
            if bounds.admit(EntryList.Entry(piece: piece[...], kind: kind)) {
                window.entries.append(name, piece: piece, kind)
            }
            // Cutting at twice the capacity keeps the cost of sorting at a constant for each entry.
            if window.entries.count == 2 * capacity { window.sortAndCut(to: capacity) }
        }
        guard isThere else { return nil }
        window.sortAndCut(to: capacity)
        return window
    }

    private init(folder: FilePath, bounds: PieceBounds, stamp: FileStamp) {
        self.folder = folder
        self.bounds = bounds
        version = Version(stamp)
        // Two changes within a tick of the kernel's clock leave one time: a folder that was changed just now is not
        // known by its time. The kernel's clock it is, hence not the store's.
        var clock = timespec()
        clock_gettime(CLOCK_REALTIME, &clock)
        isSettled = stamp.modified / 1_000_000_000 + 2 < Int64(clock.tv_sec)
    }

    private func serves(_ folder: FilePath, _ bounds: PieceBounds, _ version: Version) -> Bool {
        guard self.folder == folder, isSettled, self.version == version, bounds.isWithin(self.bounds) else {
            return false
        }
        return isComplete || (entries.last.map(bounds.admit) ?? false)
    }

    private mutating func sortAndCut(to capacity: Int) {
        if entries.count > capacity { isComplete = false }
        entries.sort(keeping: capacity)
    }
}
