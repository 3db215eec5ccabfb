import FoundationEssentials
import ServiceLifecycle
import SyncCore
import SyncSystem

/// The tasks of a run: how many there are of each, and how long they have when the agent stops.
extension PhotoPipeline {
    /// How long uploads may go on when the agent stops.
    private static let grace = Duration.seconds(5)
    /// How soon the agent sees what another process has put into the queue.
    private static let glance = Duration.seconds(5)

    /// Waits until something may be due.
    /// - Parameters:
    ///   - due: when the next photo is; `nil` when none waits.
    ///   - glance: at the ledger, begun when nothing was in hand and no folder was left out.
    func waitForWork(_ mode: Mode, until due: Date?, _ glance: LedgerGlance?) async {
        // A pass without patience waits for what is in hand, and not for what comes due again.
        if case .untilDone(.zero) = mode {
            await work.wait(atMost: nil, time: time)
            return
        }
        if let glance, isCalm { return await glance.wait(lookingEvery: Self.glance, orFor: work, until: due) }
        let wait = due.map { max($0 - time.now(), .zero) }
        await work.wait(atMost: mode.isPass ? wait : min(wait ?? Self.glance, Self.glance), time: time)
    }

    /// Whether no store is waited for, and no photo that was put off for its disk: the ledger would not tell that they are
    /// back.
    private var isCalm: Bool {
        gate.closedBy == nil && gate.trial == nil && state.withLock { $0.silenced.isEmpty }
    }

    func inParallel(_ count: Int, _ worker: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask(operation: worker) }
            try await group.waitForAllOrFirstFailure()
        }
    }

    /// When the agent stops, what is on its way to the store has some seconds to get there. What is not there by then
    /// is sent again after the next start.
    func withinGrace(_ uploads: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Lock(false)
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await uploads()
                    return true
                }
                group.addTask {
                    do {
                        try await gracefulShutdown()
                        // Also where nobody has a place to claim in, and hears of it by that.
                        self.state.withLock { $0.isStopping = true }
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
