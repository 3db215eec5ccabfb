import ServiceLifecycle
package import SyncCore
package import SyncLedger
package import SyncSystem

/// Looks after projects folders now and then: lists that changed unnoticed, and projects that are given up.
package struct ProjectService: Service {
    private static let interval = Duration.seconds(600)

    private let folders: [FolderRecord]
    private let shelf: ProjectListSync
    private let pool: BlockingPool
    private let work: Wakeup
    private let loop: ServiceLoop

    /// - Parameters:
    ///   - pool: that of the intake.
    ///   - work: signalled when files may have come due.
    package init(
        folders: [FolderRecord], shelf: ProjectListSync, pool: BlockingPool, work: Wakeup, patience: LedgerPatience,
        time: TimeSource
    ) {
        self.folders = folders.filter { $0.kind == .projects }
        self.shelf = shelf
        self.pool = pool
        self.work = work
        loop = ServiceLoop(name: "projects", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        try await loop.run {
            try await round()
            return .round(after: Self.interval)
        }
    }

    /// One look at every folder.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func round() async throws {
        for folder in folders {
            try await pool.run { [shelf] in
                try shelf.look(at: folder.path, isUrgent: true)
                try shelf.giveUp(in: folder.path)
            }
        }
        if !folders.isEmpty { work.signal() }
    }
}
