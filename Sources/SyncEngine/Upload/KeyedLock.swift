import SyncSystem

/// Lets one upload at a time work on a key. Two copies of a photo that arrive together have the same key: the second
/// waits, and then finds the photo stored.
package final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var held: Set<Key> = []
        var waiting: [Key: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Runs `work` while nobody else has the key. Waiting is not cancelled: whoever holds a key is in a bounded request.
    package func withKey<Result>(_ key: Key, _ work: () async throws -> Result) async rethrows -> Result {
        await acquire(key)
        defer { release(key) }
        return try await work()
    }

    private func acquire(_ key: Key) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.held.insert(key).inserted { return true }
                state.waiting[key, default: []].append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func release(_ key: Key) {
        let next = state.withLock { state in
            guard var queue = state.waiting[key], !queue.isEmpty else {
                state.held.remove(key)
                return nil as CheckedContinuation<Void, Never>?
            }
            let next = queue.removeFirst()
            state.waiting[key] = queue.isEmpty ? nil : queue
            return next
        }
        next?.resume()
    }
}
