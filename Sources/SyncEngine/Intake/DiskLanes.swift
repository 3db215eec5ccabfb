import SyncLedger
package import SyncSystem
package import SystemPackage

/// The threads that look at watched folders: one for each folder, started when it is needed. Looks and scans of a
/// folder never overtake each other, and no folder waits for the disk of another.
package final class DiskLanes: Sendable {
    private let makePool: @Sendable () -> BlockingPool
    private let isShared: Bool
    private let pools = Lock<[FilePath: BlockingPool]>([:])

    package convenience init(name: String) {
        self.init(isShared: false) { BlockingPool(name: name, threads: 1, abandoningAfter: SignOfLife.patienceAtEnd) }
    }

    /// All folders share one thread: what happens is always in one order.
    package convenience init(sharing pool: BlockingPool) {
        self.init(isShared: true) { pool }
    }

    private init(isShared: Bool, makePool: @escaping @Sendable () -> BlockingPool) {
        self.isShared = isShared
        self.makePool = makePool
    }

    /// - Parameter folder: a watched one.
    package func pool(for folder: FilePath) -> BlockingPool {
        pools.withLock { pools in
            if let pool = pools[folder] { return pool }
            let pool = makePool()
            pools[folder] = pool
            return pool
        }
    }

    /// Folders that share a lane, in their order.
    func groups(of folders: [FolderRecord]) -> [[FolderRecord]] {
        isShared ? [folders] : folders.map { [$0] }
    }

    /// As ``BlockingPool/shutDown()``.
    package func shutDown() async {
        for pool in pools.withLock({ Array($0.values) }) { await pool.shutDown() }
    }
}
