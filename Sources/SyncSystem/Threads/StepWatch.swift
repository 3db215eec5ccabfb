import CSyncLinux
import Glibc
import SyncCore

/// Sees that no step of pooled work lasts for ever: a file that keeps a decoder busy for longer than a minute is given up
/// (``PooledWork/step(_:)``), and its neighbours go on.
///
/// A minute is over when it has passed on the clock, and the thread has used the processor for five seconds of it: a slow
/// disk is no fault of the file. Threads that were given up burn what the others leave of the processor until the process
/// ends; of more than a few, it has to be started anew.
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
    /// Looks without a step, after which the thread ends.
    private static let mostIdleLooks = 30

    private struct Step {
        let work: PooledWork
        let clock: @Sendable () -> Reading
        /// As the kernel numbers them.
        let thread: Int32?
        var start: Reading
        var isGivenUp = false
    }

    private struct State {
        var steps: [Int: Step] = [:]
        var lastTicket = 0
        var isLooking = false
        var onExhaustion: (@Sendable () -> Void)?
    }

    private let isAutomatic: Bool
    private let makeClock: @Sendable () -> @Sendable () -> Reading
    private let state = Mutex(State())

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

    /// - Parameter handler: called once so many threads are stuck that the process has to be started anew. It ends it.
    package func onExhaustion(_ handler: @escaping @Sendable () -> Void) {
        state.withLock { $0.onExhaustion = handler }
    }

    /// Gives up what has lasted too long. Those who waited for it have had a second to note why before the process ends.
    package func look() {
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

    // MARK: Steps

    func begin(_ work: PooledWork) -> Int {
        let clock = makeClock()
        let start = clock()
        let thread = isAutomatic ? CSyncLinux_ThreadID() : nil
        let (ticket, mustLook) = state.withLock { state in
            state.lastTicket += 1
            state.steps[state.lastTicket] = Step(work: work, clock: clock, thread: thread, start: start)
            defer { state.isLooking = state.isLooking || isAutomatic }
            return (state.lastTicket, isAutomatic && !state.isLooking)
        }
        if mustLook { startLooking() }
        return ticket
    }

    func end(_ ticket: Int) {
        // Under the lock: the thread of a step that is looked at is there.
        state.withLock { _ = $0.steps.removeValue(forKey: ticket) }
    }

    func restart(_ work: PooledWork) {
        state.withLock { state in
            for (ticket, step) in state.steps where step.work === work {
                state.steps[ticket]?.start = step.clock()
            }
        }
    }

    private func startLooking() {
        let thread = try? OwnedThread.start(name: "step-watch") { [self] in
            var idle = 0
            while idle < Self.mostIdleLooks {
                sleep(Self.interval)
                look()
                idle = state.withLock { $0.steps.isEmpty } ? idle + 1 : 0
                if idle == Self.mostIdleLooks, !stopLooking() { idle = 0 }
            }
        }
        // Without a thread nothing is given up; the next step tries again.
        if thread == nil { state.withLock { $0.isLooking = false } }
    }

    /// - Returns: `false` when a step has begun meanwhile.
    private func stopLooking() -> Bool {
        state.withLock { state in
            state.isLooking = !state.steps.isEmpty
            return state.steps.isEmpty
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
