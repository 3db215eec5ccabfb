import SyncSystem

/// Threads that block on sockets, and a way to wait until all of them are gone.
final class LoopbackThreads: Sendable {
    private struct State {
        var last = 0
        var threads: [Int: OwnedThread] = [:]
        /// Those that have nothing more to do.
        var ended: Set<Int> = []
    }

    private let state = Lock(State())

    /// Runs `body` on a new thread, and lets go of those that ended before.
    /// - Returns: `false` when the system gives no thread.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let number = state.withLock { state in
            for number in state.ended where state.threads.removeValue(forKey: number) != nil {
                state.ended.remove(number)
            }
            state.last += 1
            return state.last
        }
        let thread = try? OwnedThread.start(name: "loopback") { [self] in
            body()
            state.withLock { _ = $0.ended.insert(number) }
        }
        state.withLock { $0.threads[number] = thread }
        return thread != nil
    }

    /// Waits until no thread is left. To be called when each has been told to end.
    func waitForAll() async {
        // A thread that is waited for may have started another.
        while let thread = state.withLock({ $0.threads.popFirst()?.value }) { await thread.join() }
    }
}
