import SyncCore
import SyncLedger
import SystemPackage

/// What the intake has to do for folders that share a thread (``DiskLanes``).
struct IntakeLane {
    /// When more than so many paths are gone, the whole folder tells which.
    private static let mostGone = 4_096

    let folders: [FolderRecord]
    var settling: SettleQueue
    /// Folders into which something came that is never stored, or from which it left.
    var othersSettling: SettleQueue
    /// Paths that are gone, by the hints since the last look.
    private var gone: [FilePath] = []
    /// What is to be scanned once these were looked after.
    private var treesAfterGone: [FilePath] = []
    /// Signalled when others than its own hints have something for it.
    let changed = Wakeup()
    var treesToScan: [FilePath] = []
    let treesChanged = Wakeup()
    /// Signalled when another lane's scan has ended.
    let turn = Wakeup()
    /// Whether some of its folders are still to be read anew, as all are now and then.
    var isRescanning = false

    init(_ folders: [FolderRecord], settle: Duration) {
        self.folders = folders
        settling = SettleQueue(settle: settle)
        othersSettling = SettleQueue(settle: settle)
    }

    /// When something of it is to be looked at; `nil` when nothing waits.
    var nextCheck: Duration? { [settling.nextCheck, othersSettling.nextDue].compactMap(\.self).min() }

    mutating func note(_ hint: ChangeHint, at now: Duration) {
        switch hint {
        case .file(let path): settling.note(path, at: now)
        case .writing(let path): settling.noteWriting(path, at: now)
        case .tree(let path): treesAfterGone.add(tree: path)
        case .others(let path): othersSettling.note(path, at: now)
        case .gone(let path):
            settling.remove(path)
            gone.append(path)
            // The looks may wait for a disk for long.
            guard gone.count > Self.mostGone else { return }
            gone = []
            for folder in folders { treesAfterGone.add(tree: folder.path) }
        }
    }

    mutating func takeHinted() -> (gone: [FilePath], trees: [FilePath]) {
        defer { (gone, treesAfterGone) = ([], []) }
        return (gone, treesAfterGone)
    }
}

extension [FilePath] {
    /// Adds a tree, unless it is in one of these; what is in it need not be named beside it.
    mutating func add(tree: FilePath) {
        guard !contains(where: { tree.starts(with: $0) }) else { return }
        removeAll { $0.starts(with: tree) }
        append(tree)
    }
}
