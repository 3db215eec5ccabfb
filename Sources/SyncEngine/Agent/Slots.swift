import SyncSystem

/// Lets at most so many work at once; whoever comes later waits for a turn, the first first.
///
/// Waiting is not cancelled: whoever has a slot is in a bounded request.
package final class Slots: Sendable {
    private struct State {
        var count: Int
        var turns: Turns
    }

    private let state: Lock<State>

    package init(_ count: Int) {
        state = Lock(State(count: count, turns: Turns(free: count)))
    }

    package var count: Int { state.withLock { $0.count } }

    package func withSlot<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        await wait()
        defer { end() }
        return try await work()
    }

    /// Waits for a slot, and has it until it is given back.
    func take() async -> Slot {
        await wait()
        return Slot(giveBack: end)
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            if state.withLock({ $0.turns.take(continuation) }) { continuation.resume() }
        }
    }

    private func end() {
        state.withLock { $0.turns.end() }?.resume()
    }

    /// So many from now on. Whoever has a slot keeps it: where there are fewer, nobody comes before enough have ended.
    package func resize(to count: Int) {
        let next = state.withLock { state in
            let more = count - state.count
            state.count = count
            return state.turns.add(more)
        }
        for continuation in next { continuation.resume() }
    }
}

/// A slot that somebody has. It may be given back before the work of its owner is over, by whoever knows first.
final class Slot: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    fileprivate init(giveBack: @escaping @Sendable () -> Void) {
        end = Lock(giveBack)
    }

    /// Once is enough, and more is no error.
    func giveBack() {
        let end = end.withLock { exchange(&$0, with: nil) }
        end?()
    }
}

/// Lets one upload at a time work on a key. Two copies of a photo that arrive together have the same key: the second
/// waits, and then finds the photo stored.
///
/// Waiting is not cancelled, as with ``Slots``.
package final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// Of the keys that somebody has.
    private let turns = Lock<[Key: Turns]>([:])

    /// Runs `work` while nobody else has the key.
    package func withKey<Result>(_ key: Key, _ work: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = turns.withLock { $0[key, default: Turns(free: 1)].take(continuation) }
            if isFree { continuation.resume() }
        }
        defer { release(key) }
        return try await work()
    }

    private func release(_ key: Key) {
        let next = turns.withLock { turns in
            let next = turns[key]?.end()
            if next == nil { turns[key] = nil }
            return next
        }
        next?.resume()
    }
}

/// Who waits for something that so many may have at once.
private struct Turns {
    /// Below 0 while more have it than may.
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Returns: whether it may go on now; else it waits.
    mutating func take(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        if free > 0 {
            free -= 1
            return true
        }
        waiting.append(continuation)
        return false
    }

    /// - Returns: whose turn it is now.
    mutating func end() -> CheckedContinuation<Void, Never>? {
        if waiting.isEmpty || free < 0 {
            free += 1
            return nil
        }
        return waiting.removeFirst()
    }

    /// - Parameter more: how many more may have it; fewer where it is negative.
    /// - Returns: whose turn it is now.
    mutating func add(_ more: Int) -> [CheckedContinuation<Void, Never>] {
        free += more
        let next = Array(waiting.prefix(max(free, 0)))
        waiting.removeFirst(next.count)
        free -= next.count
        return next
    }
}
