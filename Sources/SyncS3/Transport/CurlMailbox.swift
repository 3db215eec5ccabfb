import CSyncCurl
import SyncSystem

/// What the transport's thread is asked to do. Any thread posts, the one thread takes.
final class CurlMailbox: Sendable {
    typealias Reply = CheckedContinuation<HTTPResponse, any Error>

    struct Submission: Sendable {
        let id: UInt64
        let request: HTTPRequest
        let target: HTTPResponseTarget
        let reply: Reply
    }

    struct Work: Sendable {
        var submissions: [Submission] = []
        var cancelled: Set<UInt64> = []
        var isClosing = false
    }

    /// CSyncCurl_MultiWakeup is all that other threads do with it, under the mailbox's lock.
    struct Multi: @unchecked Sendable {
        let handle: OpaquePointer
    }

    private struct State {
        var lastID: UInt64 = 0
        var work = Work()
        /// `nil` once the thread has ended.
        var multi: Multi?
        var closeWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(multi: Multi) {
        state = Mutex(State(multi: multi))
    }

    func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func submit(_ submission: Submission) {
        let isOpen = state.withLock { state in
            guard let multi = state.multi, !state.work.isClosing else { return false }
            state.work.submissions.append(submission)
            CSyncCurl_MultiWakeup(multi.handle)
            return true
        }
        if !isOpen { submission.reply.resume(throwing: Self.closed) }
    }

    /// Also before the submission, which then ends at once.
    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard let multi = state.multi else { return }
            state.work.cancelled.insert(id)
            CSyncCurl_MultiWakeup(multi.handle)
        }
    }

    /// The transfer is over; its cancellation, if there was one, came too late.
    func forget(_ id: UInt64) {
        state.withLock { _ = $0.work.cancelled.remove(id) }
    }

    /// Asks the thread to end.
    /// - Parameter waiter: resumed when it has.
    func close(waiter: CheckedContinuation<Void, Never>? = nil) {
        let isOver = state.withLock { state in
            guard let multi = state.multi else { return true }
            if let waiter { state.closeWaiters.append(waiter) }
            state.work.isClosing = true
            CSyncCurl_MultiWakeup(multi.handle)
            return false
        }
        if isOver { waiter?.resume() }
    }

    // MARK: The transport's thread

    /// Takes the submissions; cancellations stay until they are forgotten.
    func take() -> Work {
        state.withLock { state in
            defer { state.work.submissions = [] }
            return state.work
        }
    }

    /// From now on nobody wakes the multi, and it can be freed.
    func retire() -> [CheckedContinuation<Void, Never>] {
        state.withLock { state in
            state.multi = nil
            defer { state.closeWaiters = [] }
            return state.closeWaiters
        }
    }

    static let closed = TransportError(.closed, "the connection to the store was shut down")
}
