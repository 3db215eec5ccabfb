package import SyncCore
import SyncSystem

/// Wakes one waiting task: "there is work", "look again". Signals that nobody waits for are remembered as one.
package final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: (id: UInt64, continuation: CheckedContinuation<Void, Never>)?
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func signal() {
        let waiter = state.withLock { state in
            guard let waiter = state.waiter else {
                state.isSignalled = true
                return nil as CheckedContinuation<Void, Never>?
            }
            state.waiter = nil
            return waiter.continuation
        }
        waiter?.resume()
    }

    /// Waits for a signal, or until `timeout` has passed, or the task is cancelled; whichever comes first.
    /// - Parameter timeout: `nil` to wait for a signal only.
    package func wait(atMost timeout: Duration?, time: TimeSource) async {
        guard let timeout else { return await wait() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait() }
            // A cancelled sleep throws, and that is the end of waiting either way.
            group.addTask { try? await time.sleep(timeout) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumeNow = state.withLock { state in
                    if state.isSignalled || Task.isCancelled {
                        state.isSignalled = false
                        return true
                    }
                    precondition(state.waiter == nil, "a Wakeup has one waiter")
                    state.waiter = (id, continuation)
                    return false
                }
                if resumeNow { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let waiter = state.waiter, waiter.id == id else {
                    return nil as CheckedContinuation<Void, Never>?
                }
                state.waiter = nil
                return waiter.continuation
            }
            waiter?.resume()
        }
    }
}

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

/// Lets at most so many work at once; whoever comes later waits for a turn, the first first.
package final class Slots: Sendable {
    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    package init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// Waiting is not cancelled: whoever has a slot is in a bounded request.
    package func withSlot<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = state.withLock { state in
                if state.waiting.isEmpty {
                    state.free += 1
                    return nil as CheckedContinuation<Void, Never>?
                }
                return state.waiting.removeFirst()
            }
            next?.resume()
        }
        return try await work()
    }
}

extension ThrowingTaskGroup where ChildTaskResult == Void, Failure == any Error {
    /// Waits for all tasks; the first failure is thrown at once, and leaving the group's body by it cancels the others.
    ///
    /// `waitForAll()` throws it only when all of them have ended. Tasks that wait for one another never do then: the one
    /// that would have sent them something has failed.
    mutating func waitForAllOrFirstFailure(isolation: isolated (any Actor)? = #isolation) async throws {
        while try await next(isolation: isolation) != nil {}
    }
}

extension Array where Element: Sendable {
    /// Maps with at most so many elements under way at once; the next begins when one ends. Results are in order.
    ///
    /// The first error ends it: what is under way is cancelled and awaited.
    func concurrently<Result: Sendable>(
        _ limit: Int, _ body: @escaping @Sendable (Element) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            var results = [Result?](repeating: nil, count: count)
            for (index, element) in enumerated() {
                if index >= limit, let (done, result) = try await group.next() { results[done] = result }
                group.addTask { (index, try await body(element)) }
            }
            for try await (done, result) in group { results[done] = result }
            return results.compactMap(\.self)
        }
    }
}

extension Array {
    /// Neighbours in groups of at most so many. What has to stand alone is a group of its own. The order stays.
    func grouped(atMost size: Int, alone isAlone: (Element) -> Bool) -> [[Element]] {
        var (groups, open): ([[Element]], [Element]) = ([], [])
        for element in self {
            if !open.isEmpty, open.count == size || isAlone(element) {
                groups.append(open)
                open = []
            }
            if isAlone(element) { groups.append([element]) } else { open.append(element) }
        }
        return open.isEmpty ? groups : groups + [open]
    }
}
