/// Work at disks that may hang, on threads that all of them share.
///
/// A disk that hangs would take one thread after the other, and none were left for what lies on others. So a thread
/// that gives no sign of life is given up, and nothing else is begun at its disk until it is back: no more of them hang
/// at a disk than were at it when it began to.
package final class DiskThreads<Disk: Identifiable & Sendable>: Sendable {
    private struct Visit {
        let disk: Disk
        /// When its thread began.
        let since: Duration
        /// Whether its thread was given up.
        var isHeld = false
    }

    private struct State {
        var lastVisit = 0
        /// By their numbers, those that have a thread.
        var visits: [Int: Visit] = [:]

        func check(_ disk: Disk) throws {
            if visits.values.contains(where: { $0.isHeld && $0.disk.id == disk.id }) { throw NoSignOfLife() }
        }
    }

    private let state = Mutex(State())
    private let monotonic: @Sendable () -> Duration

    /// - Parameter monotonic: a reading since some fixed moment.
    package init(monotonic: @escaping @Sendable () -> Duration) {
        self.monotonic = monotonic
    }

    /// By the clock of this machine.
    package convenience init() {
        let start = ContinuousClock.now
        self.init(monotonic: { ContinuousClock.now - start })
    }

    /// The disks that hold threads which were given up, one for each of these.
    package var held: [Disk] {
        state.withLock { state in state.visits.values.filter(\.isHeld).map(\.disk) }
    }

    /// The disks at which threads are that were not given up, one for each of these; `nil` while none of them has been
    /// there for so long.
    package func disksBesideSlow(for span: Duration) -> [Disk]? {
        let now = monotonic()
        return state.withLock { state -> [Disk]? in
            let visits = state.visits.values.filter { !$0.isHeld }
            guard visits.contains(where: { now - $0.since >= span }) else { return nil }
            return visits.map(\.disk)
        }
    }

    /// As ``BlockingPool/run(givingUpAfter:onSilence:_:)``, for ``SignOfLife/patience``.
    /// - Parameter onReturn: called when a thread that was given up is back.
    /// - Throws: what `body` throws; ``NoSignOfLife``, at once for a disk that holds a thread; `CancellationError`.
    package func run<Value: Sendable>(
        at disk: Disk, on pool: BlockingPool, onReturn: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let number = try state.withLock { state throws -> Int in
            try state.check(disk)
            state.lastVisit += 1
            return state.lastVisit
        }
        let onSilence: @Sendable () -> Void = { [state] in state.withLock { $0.visits[number]?.isHeld = true } }
        return try await pool.run(givingUpAfter: SignOfLife.patience, onSilence: onSilence) { [state, monotonic] in
            let now = monotonic()
            try state.withLock { state throws in
                // It may have waited for a thread until now, which was given up.
                try state.check(disk)
                state.visits[number] = Visit(disk: disk, since: now)
            }
            defer {
                let visit = state.withLock { $0.visits.removeValue(forKey: number) }
                if visit?.isHeld == true { onReturn() }
            }
            return try body()
        }
    }
}
