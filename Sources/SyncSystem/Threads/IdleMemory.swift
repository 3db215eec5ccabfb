import CSyncLinux

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

    /// Several threads end one after the other.
    private static let interval = Duration.seconds(5)
    private static let state = Mutex(State())

    /// All threads allocate from the same memory: what one frees, another takes (mallopt(3), M_ARENA_MAX). Before the second
    /// thread.
    package static func shareArena() {
        CSyncLinux_ShareArena()
    }

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
