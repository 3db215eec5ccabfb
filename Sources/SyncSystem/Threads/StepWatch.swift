import CSyncLinux
import Glibc
import SyncCore

/// Sees that no step of pooled work lasts for ever: a file that keeps a decoder busy for longer than a minute is given up
/// (``PooledWork/step(_:)``), and its neighbours go on.
///
/// A minute is over when it has passed on the clock, and the thread has used the processor for five seconds of it: a slow
/// disk is no fault of the file. Threads that were given up burn what the others leave of the processor until the process
/// ends; of more than a few, it has to be started anew.
///
/// It also sees which threads a disk holds: those of visits (``Visit``) that give no sign of life. They use nothing but
/// their memory, and come back when the disk answers.
package final class StepWatch: Sendable {
    /// That of all pools, unless they are given another. A thread of its own looks once a second while there are steps.
    package static let ofProcess = StepWatch(isAutomatic: true)

    /// How long a step has lasted.
    package struct Reading: Sendable {
        package var wall: Duration
        /// Time of the processor that the step's thread had.
        package var processor: Duration
    }

    package static let longestStep = Duration.seconds(60)
    package static let leastProcessorTime = Duration.seconds(5)
    /// Threads.
    package static let mostStuck = 8
    private static let interval: UInt32 = 1
    /// So much counts at most between two looks: while a process is stopped, no thread can give a sign.
    private static let longestGap = Duration.seconds(2)
    /// Looks without a step or a visit, after which the thread ends. Few: rounds that visit a disk each minute would
    /// keep it awake.
    private static let mostIdleChecks = 3

    private struct Step {
        let work: PooledWork
        let clock: @Sendable () -> Reading
        /// As the kernel numbers them.
        let thread: Int32?
        var start: Reading
        var isGivenUp = false
    }

    /// Work that may wait for a disk which hangs, and what becomes of it then.
    struct Visit: Sendable {
        /// For how long its thread gives no sign.
        let patience: Duration
        /// Whether the work is given up then.
        let isGivenUp: Bool
        /// Called once, before that, and while the work is under way for certain. It must not wait.
        let onSilence: @Sendable () -> Void
    }

    private struct Guest {
        let work: PooledWork
        let visit: Visit
        let clock: @Sendable () -> Reading
        var seen: Reading
        var signs: Int
        var quiet = Duration.zero
        var isOver = false
    }

    private struct State {
        var steps: [Int: Step] = [:]
        var guests: [Int: Guest] = [:]
        var lastTicket = 0
        var isWatching = false
        var onExhaustion: (@Sendable () -> Void)?

        /// Whether there is nothing to look at. For a visit that is over nothing more is done, however long it lasts.
        var isIdle: Bool { steps.isEmpty && guests.values.allSatisfy(\.isOver) }
    }

    private let isAutomatic: Bool
    private let makeClock: @Sendable () -> @Sendable () -> Reading
    private let state = Lock(State())

    /// - Parameters:
    ///   - isAutomatic: whether it looks by itself.
    ///   - makeClock: called on a step's thread; gives what tells the times of that thread, from any thread.
    package init(
        isAutomatic: Bool = false,
        makeClock: @escaping @Sendable () -> @Sendable () -> Reading = StepWatch.clockOfThread
    ) {
        self.isAutomatic = isAutomatic
        self.makeClock = makeClock
    }

    /// How many threads were given up and are still busy.
    package var stuck: Int { state.withLock { $0.steps.values.count(where: \.isGivenUp) } }

    /// Whether there is nothing to look at.
    var isIdle: Bool { state.withLock { $0.isIdle } }

    /// - Parameter handler: called once so many threads are stuck that the process has to be started anew. It ends it.
    package func onExhaustion(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onExhaustion = handler }
    }

    /// Gives up what has lasted too long. Those who waited for it have had a second to note why before the process ends.
    package func check() {
        for work in findSilent() { work.giveUp(NoSignOfLife(), anywhere: true) }
        let (overdue, handler) = state.withLock { state in
            let stuck = state.steps.values.count(where: \.isGivenUp)
            if stuck >= Self.mostStuck { return ([PooledWork](), state.onExhaustion) }
            var overdue: [PooledWork] = []
            // A thread of a step that is over belongs to others: priorities change while the lock is held.
            for (ticket, step) in state.steps where !step.isGivenUp {
                let now = step.clock()
                guard now.wall - step.start.wall >= Self.longestStep,
                    now.processor - step.start.processor >= Self.leastProcessorTime
                else { continue }
                state.steps[ticket]?.isGivenUp = true
                // nice(2) is of a thread on Linux (sched(7)): those who wait come first.
                if let thread = step.thread { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread), 19) }
                overdue.append(step.work)
            }
            return (overdue, nil)
        }
        handler?()
        for work in overdue { work.giveUp(PhotoError.tooSlow) }
    }

    /// - Returns: the work that is to be given up.
    private func findSilent() -> [PooledWork] {
        state.withLock { state in
            // A thread of a visit that is over belongs to others: none ends while the lock is held.
            var silent: [PooledWork] = []
            for (ticket, guest) in state.guests where !guest.isOver {
                let (now, signs) = (guest.clock(), guest.work.signs)
                var next = guest
                let isHeard = signs != guest.signs || now.processor > guest.seen.processor
                next.quiet = isHeard ? .zero : guest.quiet + min(now.wall - guest.seen.wall, Self.longestGap)
                (next.seen, next.signs) = (now, signs)
                next.isOver = next.quiet >= guest.visit.patience
                state.guests[ticket] = next
                guard next.isOver else { continue }
                guest.visit.onSilence()
                if guest.visit.isGivenUp { silent.append(guest.work) }
            }
            return silent
        }
    }

    // MARK: Visits

    func begin(_ work: PooledWork, _ visit: Visit) -> Int {
        let clock = makeClock()
        let guest = Guest(work: work, visit: visit, clock: clock, seen: clock(), signs: work.signs)
        return add { $0.guests[$1] = guest }
    }

    // MARK: Steps

    func begin(_ work: PooledWork) -> Int {
        let clock = makeClock()
        let start = clock()
        let thread = isAutomatic ? CSyncLinux_ThreadID() : nil
        let step = Step(work: work, clock: clock, thread: thread, start: start)
        return add { $0.steps[$1] = step }
    }

    private func add(_ insert: (inout State, Int) -> Void) -> Int {
        let (ticket, mustWatch) = state.withLock { state in
            let ticket = state.lastTicket + 1
            state.lastTicket = ticket
            insert(&state, ticket)
            defer { state.isWatching = state.isWatching || isAutomatic }
            return (ticket, isAutomatic && !state.isWatching)
        }
        if mustWatch { startWatching() }
        return ticket
    }

    /// Of a step or a visit.
    func end(_ ticket: Int) {
        // Under the lock: the thread of one that is looked at is there.
        state.withLock { state in
            state.steps[ticket] = nil
            state.guests[ticket] = nil
        }
    }

    func restart(_ work: PooledWork) {
        state.withLock { state in
            for (ticket, step) in state.steps where step.work === work {
                state.steps[ticket]?.start = step.clock()
            }
        }
    }

    private func startWatching() {
        let thread = try? OwnedThread.start(name: "step-watch") { [self] in
            var idle = 0
            while idle < Self.mostIdleChecks {
                sleep(Self.interval)
                check()
                idle = isIdle ? idle + 1 : 0
                if idle == Self.mostIdleChecks, !stopWatching() { idle = 0 }
            }
        }
        // Without a thread nothing is given up; the next step tries again.
        if thread == nil { state.withLock { $0.isWatching = false } }
    }

    /// - Returns: `false` when something has begun meanwhile.
    private func stopWatching() -> Bool {
        state.withLock { state in
            state.isWatching = !state.isIdle
            return state.isIdle
        }
    }

    /// Tells the times of the calling thread: clock_gettime(2), pthread_getcpuclockid(3).
    package static let clockOfThread: @Sendable () -> @Sendable () -> Reading = {
        var id = CLOCK_MONOTONIC
        // Where a thread's time cannot be told, that of the wall counts for both.
        if pthread_getcpuclockid(pthread_self(), &id) != 0 { id = CLOCK_MONOTONIC }
        let processor = id
        return { Reading(wall: time(of: CLOCK_MONOTONIC), processor: time(of: processor)) }
    }

    private static func time(of clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
