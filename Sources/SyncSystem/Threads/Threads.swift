import CSyncLinux
import Glibc
package import SystemPackage

import struct Synchronization.Atomic

/// One thread of ours, for code that blocks in the kernel or burns CPU (pthreads(7)).
///
/// All signals are blocked in it from its first instruction on: those of the process go to threads that want them, and a
/// SIGPIPE of a library's own writes, which signal(7) directs at the writing thread, is never delivered. Unlike SIG_IGN
/// for the process, that changes nothing for stdout, nor for programs that we start.
package final class OwnedThread: Sendable {
    private struct State {
        /// `nil` once somebody joins it.
        var thread: pthread_t?
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    private init() {}

    /// Starts a thread. It runs on when nobody holds the value any more.
    /// - Parameter name: what `ps -L` and `top -H` show; the kernel keeps 15 bytes.
    /// - Throws: EAGAIN when the limit of threads is reached.
    package static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(Errno) -> OwnedThread {
        let owned = OwnedThread()
        let context = Unmanaged.passRetained(Context(name: name, body: body, thread: owned))
        // A new thread inherits the mask of the one that makes it (pthread_sigmask(3)).
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Context>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard failure == 0 else {
            context.release()
            throw Errno(rawValue: failure)
        }
        owned.state.withLock { $0.thread = thread }
        return owned
    }

    deinit {
        if let thread = state.withLock({ $0.thread }) { pthread_detach(thread) }
    }

    /// Waits until the thread has ended, and takes it off the process.
    package func join() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
        let thread = state.withLock { state in
            defer { state.thread = nil }
            return state.thread
        }
        // Its last line of ours has run: this waits for the few instructions of its exit.
        if let thread { pthread_join(thread, nil) }
    }

    /// Waits until the thread has ended, but not for ever: it may hang in a call of the system that no signal
    /// interrupts. Whether the task is cancelled makes no difference.
    /// - Returns: whether it has ended. If not, it runs on, and is taken off the process with its last step.
    package func join(within patience: Duration) async -> Bool {
        let poller = Lock<OwnedThread?>(nil)
        let hasEnded = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let thread = Deadline.poll(for: patience, until: { self.state.withLock { $0.hasEnded } }) {
                continuation.resume(returning: $0)
            }
            poller.withLock { $0 = thread }
        }
        await poller.withLock { $0 }?.join()
        if hasEnded { await join() }
        return hasEnded
    }

    private func end() {
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// What a new thread is given.
    private final class Context {
        private let name: String
        private let body: @Sendable () -> Void
        private let thread: OwnedThread

        init(name: String, body: @escaping @Sendable () -> Void, thread: OwnedThread) {
            self.name = name
            self.body = body
            self.thread = thread
        }

        func run() {
            CSyncLinux_NameThread(name)
            body()
            thread.end()
        }
    }
}

/// Waits for something that may never come. A thread of its own does it, for a few seconds.
enum Deadline {
    private static let shortest: UInt32 = 1_000
    private static let longest: UInt32 = 50_000

    /// - Parameter then: called once, with whether it came in time; on another thread, where the system gives one.
    /// - Returns: that thread.
    @discardableResult static func poll(
        for patience: Duration, until isOver: @escaping @Sendable () -> Bool,
        then: @escaping @Sendable (Bool) -> Void
    ) -> OwnedThread? {
        if isOver() {
            then(true)
            return nil
        }
        let wait: @Sendable () -> Void = {
            let end = ContinuousClock.now + patience
            var pause = shortest
            while !isOver() {
                guard ContinuousClock.now < end else { return then(false) }
                usleep(pause)
                pause = min(pause * 2, longest)
            }
            then(true)
        }
        let thread = try? OwnedThread.start(name: "deadline", wait)
        if thread == nil { wait() }
        return thread
    }
}

/// Tells work on a thread that its task was cancelled.
package final class CancellationFlag: Sendable {
    private let cancelled = Atomic(false)

    package init() {}

    package func set() {
        cancelled.store(true, ordering: .relaxed)
    }

    package var isSet: Bool { cancelled.load(ordering: .relaxed) }

    /// - Throws: `CancellationError` once the task was cancelled.
    package func check() throws {
        if isSet { throw CancellationError() }
    }
}

/// What an idle process gives back to the system: caches that others have told of, free memory of the heap, pages of the program.
/// It is idle when a thread of a pool ends for want of work, and no other one works.
package enum IdleMemory {
    private struct State {
        /// Threads of pools that do not wait for work.
        var working = 0
        var caches: [Int: @Sendable () -> Void] = [:]
        var lastCache = 0
        var released: ContinuousClock.Instant?
    }

    /// Several threads end one after the other. Shorter than they wait for work: what was done since is given back when
    /// its own thread ends.
    private static let interval = Duration.seconds(2)
    private static let state = Lock(State())

    /// - Parameter release: lets go what can be made again. Called on a thread of some pool.
    /// - Returns: what ``removeCache(_:)`` takes.
    package static func addCache(_ release: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastCache += 1
            state.caches[state.lastCache] = release
            return state.lastCache
        }
    }

    /// It may be under way for the last time.
    package static func removeCache(_ cache: Int) {
        state.withLock { _ = $0.caches.removeValue(forKey: cache) }
    }

    static func beginWork() {
        state.withLock { $0.working += 1 }
    }

    static func endWork() {
        state.withLock { $0.working -= 1 }
    }

    /// - Parameter isIdle: whether it ends for want of work, and not because its pool is shut down.
    static func endThread(isIdle: Bool) {
        let caches: [@Sendable () -> Void]? = state.withLock { state in
            state.working -= 1
            let now = ContinuousClock.now
            guard isIdle, state.working == 0, state.released.map({ now - $0 >= interval }) ?? true else { return nil }
            state.released = now
            return Array(state.caches.values)
        }
        guard let caches else { return }
        for release in caches { release() }
        CSyncLinux_ReleaseMemory()
    }
}
