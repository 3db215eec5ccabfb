package import SyncCore
import SyncSystem
package import SystemPackage

import struct Synchronization.Atomic

/// Watches folders with inotify, and polls what inotify does not reach: network file systems, what is beyond the
/// system's limits (inotify(7)), and roots in which files turn up that no event has told of.
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
    private let progress: @Sendable (FilePath) -> Void
    private let mailboxes = HintMailboxes()
    private let state = Lock(State.idle)

    /// - Parameters:
    ///   - pollInterval: how often a root, or a part of it, that cannot be watched gets a `.tree` hint, at most. Less
    ///     often where its scans take long (``PollPace``).
    ///   - checkInterval: how often it is seen whether a root is still there, or there again.
    ///   - progress: called with the root, when its watches begin to be set at the start, and while that gets on.
    package convenience init(
        pollInterval: Duration = .seconds(30), checkInterval: Duration = .seconds(5),
        progress: @escaping @Sendable (FilePath) -> Void = { _ in }
    ) {
        self.init(pollInterval: pollInterval, checkInterval: checkInterval, calls: .system, progress: progress)
    }

    init(
        pollInterval: Duration, checkInterval: Duration, calls: WatchCalls,
        progress: @escaping @Sendable (FilePath) -> Void = { _ in }
    ) {
        self.pollInterval = pollInterval
        self.checkInterval = checkInterval
        self.calls = calls
        self.progress = progress
    }

    deinit {
        if case .running(let session) = state.withLock({ $0 }) { session.board.requestStop() }
    }

    package func start(_ roots: [FilePath]) async {
        await start(roots, untold: [:])
    }

    package func start(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async {
        let isReady = Readiness()
        await withTaskCancellationHandler {
            begin(roots, untold, isReady)
            await isReady.wait()
        } onCancel: {
            isReady.signal()
        }
    }

    private func begin(_ roots: [FilePath], _ untold: [FilePath: UntoldFile], _ ready: Readiness) {
        let isRunning = state.withLock { state in
            if case .stopped = state { return false }
            guard case .idle = state else { preconditionFailure("a watcher is started once") }
            do throws(Errno) {
                state = .running(try session(roots, untold) { ready.signal() })
                return true
            } catch {
                let problem = WatchProblem.noThread(error)
                let pace = Lock(PollPace(shortest: pollInterval, from: calls.now()))
                state = .broken(
                    roots.map { root in
                        WatchedRoot(
                            report: WatchReport(root: root, mode: .polling), problem: problem, pace: pace,
                            checkInterval: checkInterval
                        ).current
                    })
                return false
            }
        }
        if !isRunning {
            for root in roots { mailboxes[root].post([.tree(root)], of: root) }
            ready.signal()
        }
    }

    package func next(of root: FilePath) async -> [ChangeHint]? {
        await mailboxes[root].next()
    }

    package func take(of root: FilePath) -> [ChangeHint] { mailboxes[root].take() }

    package func judge(_ appeared: [AppearedFile], below root: FilePath) {
        if case .running(let session) = state.withLock({ $0 }) { session.board.appear(appeared, below: root) }
    }

    package func noteScan(of tree: FilePath, _ cost: ScanCost) {
        if case .running(let session) = state.withLock({ $0 }) {
            session.board.noteScan(of: tree, cost, endedAt: calls.now())
        }
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

    /// How long the thread may take to end: it may be in a call that a disk holds for ever.
    private static let endPatience = Duration.seconds(3)

    package func stop() async {
        mailboxes.close()
        let running = state.withLock { state -> Session? in
            if case .running(let session) = state { return session }
            state = .stopped(reports(in: state))
            return nil
        }
        guard let session = running else { return }
        session.board.requestStop()
        // Where it hangs, its pipe goes when it does.
        if await session.thread.join(within: Self.endPatience) { session.board.wakePipe.close() }
        state.withLock { $0 = .stopped(session.board.reports) }
    }

    private func session(
        _ roots: [FilePath], _ untold: [FilePath: UntoldFile], ready: @escaping @Sendable () -> Void
    ) throws(Errno) -> Session {
        let board = try WatcherState(mailboxes: mailboxes)
        let (calls, pollInterval, checkInterval, progress) = (calls, pollInterval, checkInterval, progress)
        let thread = try calls.startThread("sync-watch") {
            let loop = WatchLoop(
                roots: roots, calls: calls, pollInterval: pollInterval, checkInterval: checkInterval, board: board)
            loop.run(untold: untold, progress: progress, ready: ready)
        }
        return Session(board: board, thread: thread)
    }
}

/// That every folder has its watch, or that nobody waits for it any more.
private final class Readiness: Sendable {
    private struct State {
        var isTold = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    func signal() {
        state.withLock { state in
            state.isTold = true
            return exchange(&state.waiting, with: nil)
        }?.resume()
    }

    /// Called once.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isTold = state.withLock { state in
                if !state.isTold { state.waiting = continuation }
                return state.isTold
            }
            if isTold { continuation.resume() }
        }
    }
}

/// What the watching thread and the rest of the program share.
final class WatcherState: Sendable {
    let mailboxes: HintMailboxes
    let wakePipe: WakePipe
    private let stopping = Atomic(false)
    private let published = Lock<[WatchedRoot]>([])
    /// What scans have found to be new, by root. Few: a scan hands over no more than it needs to.
    private let appeared = Lock<[FilePath: [AppearedFile]]>([:])

    init(mailboxes: HintMailboxes) throws(Errno) {
        self.mailboxes = mailboxes
        wakePipe = try WakePipe()
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    var reports: [WatchReport] { published.withLock { $0 }.map(\.current) }

    func publish(_ roots: [WatchedRoot]) {
        published.withLock { $0 = roots }
    }

    /// Whoever asks for the reports next finds how often what is polled is polled from now on.
    func noteScan(of tree: FilePath, _ cost: ScanCost, endedAt now: Duration) {
        for root in published.withLock({ $0 }) where tree.starts(with: root.report.root) {
            root.pace.withLock { $0.noteScan(of: tree, cost, endedAt: now) }
        }
    }

    /// For the watching thread, which knows what was told. It looks at its next turn, some seconds from now at the latest.
    func appear(_ files: [AppearedFile], below root: FilePath) {
        appeared.withLock { $0[root, default: []] += files }
    }

    func takeAppeared(below root: FilePath) -> [AppearedFile] {
        appeared.withLock { $0.isEmpty ? [] : $0.removeValue(forKey: root) ?? [] }
    }

    /// Makes the thread end soon.
    func requestStop() {
        stopping.store(true, ordering: .relaxed)
        wakePipe.wake()
    }
}

/// What the watching thread tells of a root. Its note is made when it is asked for.
struct WatchedRoot: Sendable {
    /// Without note and cause.
    var report: WatchReport
    var problem: WatchProblem?
    let pace: Lock<PollPace>
    let checkInterval: Duration

    var current: WatchReport {
        var report = report
        let pace = pace.withLock { $0 }
        report.note = problem?.note(poll: pace, check: checkInterval)
        report.cause = problem?.cause
        return report
    }
}
