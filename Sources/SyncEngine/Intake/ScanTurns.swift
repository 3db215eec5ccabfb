import SyncLedger

/// Whose turn it is to be scanned: where folders lie on one disk that turns, it would seek between all of them.
struct ScanTurns {
    /// So many folders are scanned at once.
    static let atOnce = 3
    /// With those that have had their turn and are not through: a small folder does not wait for three large ones.
    static let most = 6

    private struct Scan {
        let folder: FolderRecord
        let since: Duration
    }

    /// By their lanes.
    private var scans: [Int: Scan] = [:]

    /// Whether another scan may begin. One of which nothing comes takes nobody's turn.
    func isFree(at now: Duration, _ isQuiet: (FolderRecord) -> Bool) -> Bool {
        let others = scans.values.filter { !isQuiet($0.folder) }
        let begun = others.count { now - $0.since < DiskWatchdog.turn }
        return begun < Self.atOnce && others.count < Self.most
    }

    mutating func begin(_ folder: FolderRecord, _ lane: Int, at now: Duration) {
        scans[lane] = Scan(folder: folder, since: now)
    }

    mutating func end(_ lane: Int) { scans[lane] = nil }
}
