package import SyncCore
import SyncSystem
package import SystemPackage

/// Watches folders with inotify, and polls what inotify does not reach: network file systems, and what is beyond the
/// system's limits (inotify(7)).
///
/// One thread waits in the kernel for all roots. A root that is missing is looked for until it is there. Used once:
/// start, consume, stop.
package final class FolderWatcher: ChangeSource {
    private struct Session {
        var board: WatcherState
        var thread: OwnedThread
    }

    private enum State {
        case idle
        case running(Session)
        /// Nothing could be started; the reports say why.
        case broken([WatchReport])
        case stopped([WatchReport])
    }

    private let calls: WatchCalls
    private let pollInterval: Duration
    private let checkInterval: Duration
    private let mailbox = HintMailbox()
    private let state = Mutex(State.idle)

    /// - Parameters:
    ///   - pollInterval: how often a root, or a part of it, that cannot be watched gets a `.tree` hint.
    ///   - checkInterval: how often it is seen whether a root is still there, or there again.
    package convenience init(pollInterval: Duration = .seconds(30), checkInterval: Duration = .seconds(5)) {
        self.init(pollInterval: pollInterval, checkInterval: checkInterval, calls: .system)
    }

    init(pollInterval: Duration, checkInterval: Duration, calls: WatchCalls) {
        self.pollInterval = pollInterval
        self.checkInterval = checkInterval
        self.calls = calls
    }

    deinit {
        if case .running(let session) = state.withLock({ $0 }) { session.board.requestStop() }
    }

    package func start(_ roots: [FilePath]) async {
        await withCheckedContinuation { ready in
            let isRunning = state.withLock { state in
                if case .stopped = state { return false }
                guard case .idle = state else { preconditionFailure("a watcher is started once") }
                do throws(Errno) {
                    state = .running(try session(roots) { ready.resume() })
                    return true
                } catch {
                    let note = WatchProblem.noThread(error).note(poll: pollInterval, check: checkInterval)
                    state = .broken(roots.map { WatchReport(root: $0, mode: .polling, note: note) })
                    return false
                }
            }
            if !isRunning {
                for root in roots { mailbox.post([.tree(root)], of: root) }
                ready.resume()
            }
        }
    }

    package func next() async -> [ChangeHint]? {
        await mailbox.next()
    }

    package func reports() -> [WatchReport] {
        state.withLock { reports(in: $0) }
    }

    private func reports(in state: State) -> [WatchReport] {
        switch state {
        case .idle: []
        case .running(let session): session.board.reports
        case .broken(let reports), .stopped(let reports): reports
        }
    }

    package func stop() async {
        mailbox.close()
        let running = state.withLock { state -> Session? in
            if case .running(let session) = state { return session }
            state = .stopped(reports(in: state))
            return nil
        }
        guard let session = running else { return }
        session.board.requestStop()
        await session.thread.join()
        session.board.wakePipe.close()
        state.withLock { $0 = .stopped(session.board.reports) }
    }

    private func session(_ roots: [FilePath], ready: @escaping @Sendable () -> Void) throws(Errno) -> Session {
        let board = try WatcherState(mailbox: mailbox)
        let (calls, pollInterval, checkInterval) = (calls, pollInterval, checkInterval)
        let thread = try calls.startThread("sync-watch") {
            let loop = WatchLoop(
                roots: roots, calls: calls, pollInterval: pollInterval, checkInterval: checkInterval, board: board)
            loop.run(ready: ready)
        }
        return Session(board: board, thread: thread)
    }
}
