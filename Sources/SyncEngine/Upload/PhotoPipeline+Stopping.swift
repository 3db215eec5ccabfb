import ServiceLifecycle
import SyncCore
import SyncLedger
import SyncSystem

/// What becomes of photos in hand when the agent stops, and of those that never end.
extension PhotoPipeline {
    /// How long uploads may go on when the agent stops.
    private static let grace = Duration.seconds(5)

    /// What is being read when the agent stops is not read to its end.
    func prepare(_ claim: Claim) async throws -> Preparer.Result {
        do {
            let pool = claim.isLarge ? largePool : pool
            return try await cancelWhenGracefulShutdown { [preparer] in
                try await pool.run { try preparer.prepare(claim) }
            }
        } catch let error as PhotoError {
            // Its thread was given up.
            return .done(try await pool.run { [preparer] in try preparer.outcome(of: error, for: claim) })
        } catch is CancellationError {
            try Task.checkCancellation()
            return .done(.released)
        }
    }

    /// When the agent stops, what is on its way to the store has some seconds to get there. What is not there by then is
    /// sent again after the next start.
    func withinGrace(_ uploads: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Mutex(false)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await uploads()
                    return true
                }
                group.addTask {
                    do {
                        try await gracefulShutdown()
                        try await self.time.sleep(Self.grace)
                        isOver.withLock { $0 = true }
                    } catch {
                        // The uploads have ended, or are cancelled as this is: they tell what comes of it.
                    }
                    return false
                }
                while let areDone = try await group.next() {
                    if areDone || isOver.withLock({ $0 }) { group.cancelAll() }
                }
            }
        } catch is CancellationError where isOver.withLock({ $0 }) {
        }
    }
}
