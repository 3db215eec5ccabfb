import CSyncLinux
import Glibc
package import SystemPackage

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

    private let state = Mutex(State())

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
