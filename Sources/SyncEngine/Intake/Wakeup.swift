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
