import SyncSystem

/// Where tasks wait until a test lets them on, and where a test waits until they have come.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, notify: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Lock(State())

    package init() {}

    /// How many have come so far.
    package var arrivals: Int { state.withLock { $0.arrivals } }

    /// Comes to the gate and waits until it is open. Cancellation does not end the wait: the test decides.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let (passes, notified) = state.withLock { state in
                state.arrivals += 1
                let count = state.arrivals
                let notified = state.watchers.filter { $0.count <= count }.map(\.notify)
                state.watchers.removeAll { $0.count <= count }
                if !state.isOpen { state.waiting.append(continuation) }
                return (state.isOpen, notified)
            }
            for watcher in notified { watcher.resume() }
            if passes { continuation.resume() }
        }
    }

    /// Waits until so many have come, gone on or not.
    package func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.arrivals < count { state.watchers.append((count, continuation)) }
                return state.arrivals >= count
            }
            if isDone { continuation.resume() }
        }
    }

    /// Lets everyone on, now and from now on.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Lets the one that has waited longest on. The gate stays closed for the others.
    package func letOne() {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        first?.resume()
    }
}
