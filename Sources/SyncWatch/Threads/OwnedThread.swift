import Glibc
import Synchronization
import SystemPackage

/// One thread of ours, for code that blocks in the kernel (pthreads(7)). Signals are left to the other threads.
final class OwnedThread: Sendable {
    private struct State {
        /// `nil` once somebody joins it.
        var thread: pthread_t?
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    private init() {}

    /// Starts a thread.
    /// - Parameter name: what `ps -L` and `top -H` show; the kernel keeps 15 bytes.
    /// - Throws: EAGAIN when the limit of threads is reached.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) -> OwnedThread {
        let owned = OwnedThread()
        let context = Unmanaged.passRetained(Context(name: name, body: body, thread: owned))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let context = Unmanaged<Context>.fromOpaque(argument).takeRetainedValue()
                OwnedThread.setUp(name: context.name)
                context.body()
                context.thread.end()
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
    func join() async {
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

    private static func setUp(name: String) {
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        // pthread_setname_np(3) is a GNU extension that Swift's Glibc does not show; this is what it does (proc(5)).
        let names = try? FileDescriptor.open("/proc/thread-self/comm", .writeOnly, options: .closeOnExec)
        _ = try? names?.closeAfter { try names?.writeAll(name.utf8) }
    }

    private final class Context {
        let name: String
        let body: @Sendable () -> Void
        let thread: OwnedThread

        init(name: String, body: @escaping @Sendable () -> Void, thread: OwnedThread) {
            self.name = name
            self.body = body
            self.thread = thread
        }
    }
}
