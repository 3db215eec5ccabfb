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
        /// What is to be let go of when a thread is back that such a disk holds.
        var left: [Disk.ID: [@Sendable () -> Void]] = [:]

        func isHeld(_ disk: Disk) -> Bool {
            visits.values.contains { $0.isHeld && $0.disk.id == disk.id }
        }

        func check(_ disk: Disk) throws {
            if isHeld(disk) { throw NoSignOfLife() }
        }

        /// - Returns: whether it is left to a thread that the disk holds.
        mutating func isLeft(_ release: @escaping @Sendable () -> Void, at disk: Disk) -> Bool {
            guard isHeld(disk) else { return false }
            left[disk.id, default: []].append(release)
            return true
        }

        mutating func nextVisit() -> Int {
            lastVisit += 1
            return lastVisit
        }

        /// Its thread is through with its work.
        mutating func leave(_ number: Int) -> Departure {
            guard let visit = visits[number] else { return .over(wasHeld: false) }
            if visit.isHeld, let release = left[visit.disk.id]?.popLast() { return .letsGo(release) }
            visits[number] = nil
            return .over(wasHeld: visit.isHeld)
        }
    }

    private enum Departure {
        /// Not before this is done.
        case letsGo(@Sendable () -> Void)
        case over(wasHeld: Bool)
    }

    private let state = Lock(State())
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
            return state.nextVisit()
        }
        let work: @Sendable () throws -> Value = { [self] in
            let now = monotonic()
            try state.withLock { state throws in
                // It may have waited for a thread until now, which was given up.
                try state.check(disk)
                state.visits[number] = Visit(disk: disk, since: now)
            }
            defer { leave(number, onReturn) }
            return try body()
        }
        return try await pool.run(givingUpAfter: SignOfLife.patience, onSilence: hold(number), work)
    }

    /// Lets go of something at a disk: close(2) of a file on a server, or of one that a program shows, may wait there as
    /// long as a read does. Nobody waits for it here. While the disk holds a thread, it is left to that one; of a disk
    /// that never answers, it is never done.
    /// - Parameter release: called once, on a thread of the pool.
    package func letGo(at disk: Disk, on pool: BlockingPool, _ release: @escaping @Sendable () -> Void) {
        let found = state.withLock { state -> Int? in state.isLeft(release, at: disk) ? nil : state.nextVisit() }
        guard let number = found else { return }
        pool.add(givingUpAfter: SignOfLife.patience, onSilence: hold(number)) { [self] in
            let now = monotonic()
            let isLeft = state.withLock { state -> Bool in
                // It may have waited for a thread until now, which was given up.
                if state.isLeft(release, at: disk) { return true }
                state.visits[number] = Visit(disk: disk, since: now)
                return false
            }
            guard !isLeft else { return }
            defer { leave(number) {} }
            release()
        }
    }

    /// What is done when the thread of a visit gives no sign of life.
    private func hold(_ number: Int) -> @Sendable () -> Void {
        let state = state
        return { state.withLock { $0.visits[number]?.isHeld = true } }
    }

    /// Of one that was given up, nobody waits for the thread: it does what was left to it first.
    private func leave(_ number: Int, _ onReturn: () -> Void) {
        while true {
            switch state.withLock({ $0.leave(number) }) {
            case .letsGo(let release): release()
            case .over(let wasHeld):
                if wasHeld { onReturn() }
                return
            }
        }
    }
}
