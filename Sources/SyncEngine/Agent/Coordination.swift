package import FoundationEssentials
import Glibc
package import SyncCore
import SyncLedger
import SyncSystem
package import SystemPackage

/// Wakes one waiting task: "there is work", "look again". Signals that nobody waits for are remembered as one.
package final class Wakeup: Sendable {
    private struct State {
        var isSignalled = false
        /// Resumed with whether it was signalled.
        var waiter: (id: UInt64, continuation: CheckedContinuation<Bool, Never>)?
        var lastID: UInt64 = 0
    }

    private let state = Lock(State())

    package init() {}

    package func signal() {
        let waiter = state.withLock { state in
            if state.waiter == nil { state.isSignalled = true }
            return exchange(&state.waiter, with: nil)
        }
        waiter?.continuation.resume(returning: true)
    }

    /// Waits for a signal, or until `timeout` has passed, or the task is cancelled; whichever comes first.
    /// - Parameter timeout: `nil` to wait for a signal only.
    /// - Returns: whether there was a signal.
    @discardableResult
    package func wait(atMost timeout: Duration?, time: TimeSource) async -> Bool {
        guard let timeout else { return await wait() }
        // No sleep begins for a moment only: whoever moves a clock by hand would take it for one that lasts.
        if state.withLock({ exchange(&$0.isSignalled, with: false) }) { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                // A cancelled sleep throws, and that is the end of waiting either way.
                try? await time.sleep(timeout)
                return false
            }
            var isSignalled = await group.next() ?? false
            group.cancelAll()
            // One that came as the time ended is told, too: nobody else has taken it.
            for await result in group where result { isSignalled = true }
            return isSignalled
        }
    }

    private func wait() async -> Bool {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignalled: Bool? = state.withLock { state in
                    if exchange(&state.isSignalled, with: false) { return true }
                    if Task.isCancelled { return false }
                    precondition(state.waiter == nil, "a Wakeup has one waiter")
                    state.waiter = (id, continuation)
                    return nil
                }
                if let isSignalled { continuation.resume(returning: isSignalled) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiter?.id == id ? exchange(&$0.waiter, with: nil) : nil }
            waiter?.continuation.resume(returning: false)
        }
    }
}

extension Result where Failure == any Error {
    /// What comes of work that is awaited.
    init(_ work: () async throws -> Success) async {
        do { self = .success(try await work()) } catch { self = .failure(error) }
    }
}

extension Lock where Value == Int {
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

/// Runs what needs much memory for its frames, as a part of this task. A task keeps such memory until it ends, and one
/// that waits for the next piece of work does not end.
func inTaskOfItsOwn(_ work: @escaping @Sendable () async throws -> Void) async throws {
    async let end: Void = work()
    try await end
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

/// Who takes work from the ledger, and what is known of others who have.
package struct ClaimOwner: Sendable {
    /// Of this process, and of no other.
    package let name: String
    /// Whether a process of this name is known to be no more: what it had in hand is free.
    package let hasEnded: @Sendable (String) -> Bool

    package init(name: String, hasEnded: @escaping @Sendable (String) -> Bool = { _ in false }) {
        self.name = name
        self.hasEnded = hasEnded
    }

    package init(_ lock: OwnerLock) {
        self.init(name: lock.name, hasEnded: lock.hasEnded)
    }
}

/// Tells which processes are still there: each locks one byte of a file, the one that its name tells, for as long as it
/// lives (an open file description lock, fcntl(2)). The kernel drops the lock with the process, however it ends, so that
/// nobody has to wait for one that was killed.
package final class OwnerLock: Sendable {
    /// Bytes of a file are numbered with 63 bits.
    package static let largestNumber: Int64 = 1 << 62

    /// Of this process, and of no other: process ids are used again, the number is not.
    package let name: String
    private let descriptor: FileDescriptor?

    /// - Parameters:
    ///   - path: the file, the same for all processes of a ledger. Where it cannot be locked, nobody is known to have
    ///     ended.
    ///   - number: random, 1 to ``largestNumber``.
    package init(at path: FilePath, pid: Int32, number: Int64 = .random(in: 1...largestNumber)) {
        descriptor = Self.lock(number, of: path)
        // Whoever holds no lock must not be taken for one that has lost it.
        name = "\(pid)\(descriptor == nil ? "?" : "-")\(String(number, radix: 16))"
    }

    deinit {
        try? descriptor?.close()
    }

    /// Whether a process of this name is known to be no more.
    package func hasEnded(_ name: String) -> Bool {
        guard let descriptor, name != self.name, let dash = name.firstIndex(of: "-"),
            let number = Int64(name[name.index(after: dash)...], radix: 16), (1...Self.largestNumber).contains(number)
        else { return false }
        return (try? descriptor.areBytesLocked(from: number, 1)) == false
    }

    private static func lock(_ number: Int64, of path: FilePath) -> FileDescriptor? {
        guard
            let descriptor = try? FileDescriptor.open(
                path, .readWrite, options: [.create, .noFollow, .closeOnExec], permissions: [.ownerReadWrite])
        else { return nil }
        if (try? descriptor.tryLockBytes(from: number, 1)) == true { return descriptor }
        try? descriptor.close()
        return nil
    }
}

/// One agent per ledger: an open file description lock (fcntl(2)) on `agent.lock`, which the kernel drops with the
/// process, however it ends. The file's text tells who holds it. Unlike flock(2), such a lock can be looked at without
/// taking it, so that `status` never gets in the way of an agent that starts.
package final class AgentLock: Sendable {
    /// Who holds the lock.
    package struct Holder: Codable, Hashable, Sendable {
        package var pid: Int32
        package var since: Date
    }

    /// The lock is another's.
    package struct Held: Error, CustomStringConvertible {
        package var holder: Holder?

        package var description: String {
            let who = holder.map { "process \($0.pid), since \($0.since.formatted(.iso8601))" } ?? "another process"
            return "another sync-agent is at work on this ledger (\(who)); wait for it, or stop it first"
        }
    }

    private let descriptor: FileDescriptor

    /// Takes the lock without waiting.
    /// - Throws: ``Held``; `Errno` when the file cannot be made or locked.
    package init(at path: FilePath, pid: Int32, now: Date) throws {
        // A link in its place would have another file of the user's emptied.
        let descriptor = try FileDescriptor.open(
            path, .readWrite, options: [.create, .noFollow, .closeOnExec], permissions: [.ownerReadWrite])
        do {
            try Self.tighten(descriptor)
            guard try descriptor.tryLockBytes(from: 0, 0) else { throw Held(holder: Self.holder(in: descriptor)) }
            let text = try JSONEncoder().encode(Holder(pid: pid, since: now))
            try descriptor.cut()
            try descriptor.writeAll(toAbsoluteOffset: 0, text)
        } catch {
            try? descriptor.close()
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        try? descriptor.close()
    }

    /// Who holds the lock at this moment; `nil` when nobody does.
    /// - Throws: `Errno`; a lock file that was never made is no error.
    package static func currentHolder(at path: FilePath) throws -> Holder? {
        do {
            let descriptor = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .nonBlocking, .closeOnExec])
            defer { try? descriptor.close() }
            return try descriptor.areBytesLocked(from: 0, 0) ? holder(in: descriptor) : nil
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }

    /// Whoever may open the file may hold the lock, and keep the agent from its work.
    private static func tighten(_ descriptor: FileDescriptor) throws(Errno) {
        let status = try FileStatus(of: descriptor)
        guard status.permissions.rawValue & 0o077 != 0, status.user == geteuid() else { return }
        // A file system without modes of its own refuses; the lock holds all the same.
        try? descriptor.setPermissions(.ownerReadWrite)
    }

    private static func holder(in descriptor: FileDescriptor) -> Holder? {
        try? JSONDecoder().decode(Holder.self, from: Data(descriptor.bytes(atMost: 512)))
    }
}
