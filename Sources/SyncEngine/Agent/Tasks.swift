package import SyncCore
import SyncLedger
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
            if state.waiter == nil { state.isSignalled = true }
            return exchange(&state.waiter, with: nil)
        }
        waiter?.continuation.resume()
    }

    /// Waits for a signal, or until `timeout` has passed, or the task is cancelled; whichever comes first.
    /// - Parameter timeout: `nil` to wait for a signal only.
    package func wait(atMost timeout: Duration?, time: TimeSource) async {
        guard let timeout else { return await wait() }
        // No sleep begins for a moment only: whoever moves a clock by hand would take it for one that lasts.
        if state.withLock({ exchange(&$0.isSignalled, with: false) }) { return }
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
            let waiter = state.withLock { $0.waiter?.id == id ? exchange(&$0.waiter, with: nil) : nil }
            waiter?.continuation.resume()
        }
    }
}

extension Result where Failure == any Error {
    /// What comes of work that is awaited.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

extension Mutex where Value == Int {
    /// Counts what several tasks do.
    /// - Returns: how many there are by now.
    @discardableResult
    func add(_ more: Int = 1) -> Int {
        withLock { count in
            count += more
            return count
        }
    }
}

/// Lets at most so many work at once; whoever comes later waits for a turn, the first first.
///
/// Waiting is not cancelled: whoever has a slot is in a bounded request.
package final class Slots: Sendable {
    package let count: Int
    private let turns: Mutex<Turns>

    package init(_ count: Int) {
        self.count = count
        turns = Mutex(Turns(free: count))
    }

    package func withSlot<Result>(_ work: () async throws -> Result) async rethrows -> Result {
        await withCheckedContinuation { continuation in
            if turns.withLock({ $0.take(continuation) }) { continuation.resume() }
        }
        defer { turns.withLock { $0.end() }?.resume() }
        return try await work()
    }
}

/// Lets one upload at a time work on a key. Two copies of a photo that arrive together have the same key: the second
/// waits, and then finds the photo stored.
///
/// Waiting is not cancelled, as with ``Slots``.
package final class KeyedLock<Key: Hashable & Sendable>: Sendable {
    /// Of the keys that somebody has.
    private let turns = Mutex<[Key: Turns]>([:])

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
        if waiting.isEmpty {
            free += 1
            return nil
        }
        return waiting.removeFirst()
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
    func grouped(atMost size: Int, alone isAlone: (Element) -> Bool = { _ in false }) -> [[Element]] {
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

/// What the ledger has of something, page by page: each begins behind the last row of the one before.
struct LedgerPages<Row: Sendable, Place: Sendable>: AsyncSequence, Sendable {
    typealias Element = [Row]

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: LedgerPages
        fileprivate var last: Place?

        mutating func next() async throws -> [Row]? {
            let page = try await pages.ledger { [pages, last] in try pages.read($0, last) }
            guard let end = page.last else { return nil }
            last = pages.place(end)
            return page
        }
    }

    let ledger: LedgerQueue
    /// Behind which the first page begins; `nil` for all.
    var start: Place?
    let place: @Sendable (Row) -> Place
    let read: @Sendable (Ledger, Place?) throws -> [Row]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self, last: start) }
}
