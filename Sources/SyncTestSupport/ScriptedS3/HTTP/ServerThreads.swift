import Glibc
import SyncCore

/// Threads that block on sockets, and a way to wait until all of them are gone (pthreads(7)).
final class ServerThreads: Sendable {
    private struct State {
        var running = 0
        /// Ended, but not joined yet.
        var ended: [pthread_t] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs `body` on a new thread, and joins those that ended before.
    /// - Returns: `false` when the system gives no thread.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        joinEnded()
        let context = Unmanaged.passRetained(Context(body: body, threads: self))
        var thread = pthread_t()
        state.withLock { $0.running += 1 }
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let context = Unmanaged<Context>.fromOpaque(argument).takeRetainedValue()
                context.body()
                context.threads.end()
                return nil
            }, context.toOpaque())
        guard failure == 0 else {
            context.release()
            state.withLock { $0.running -= 1 }
            return false
        }
        return true
    }

    /// Waits until no thread is left. To be called when each has been told to end.
    func waitForAll() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.running > 0 { state.waiting.append(continuation) }
                return state.running == 0
            }
            if isDone { continuation.resume() }
        }
        // Their last lines have run: this waits for the few instructions of their exits.
        joinEnded()
    }

    private func joinEnded() {
        let threads = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for thread in threads { pthread_join(thread, nil) }
    }

    /// The calling thread is about to end.
    private func end() {
        let waiting = state.withLock { state in
            state.running -= 1
            state.ended.append(pthread_self())
            guard state.running == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private final class Context {
        let body: @Sendable () -> Void
        let threads: ServerThreads

        init(body: @escaping @Sendable () -> Void, threads: ServerThreads) {
            self.body = body
            self.threads = threads
        }
    }
}
