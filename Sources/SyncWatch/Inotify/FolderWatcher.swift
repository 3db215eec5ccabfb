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
        await start(roots, untold: [:])
    }

    package func start(_ roots: [FilePath], untold: [FilePath: UntoldFile]) async {
        await withCheckedContinuation { ready in
            let isRunning = state.withLock { state in
                if case .stopped = state { return false }
                guard case .idle = state else { preconditionFailure("a watcher is started once") }
                do throws(Errno) {
                    state = .running(try session(roots, untold) { ready.resume() })
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

    package func judge(_ appeared: [AppearedFile], below root: FilePath) {
        if case .running(let session) = state.withLock({ $0 }) { session.board.appear(appeared, below: root) }
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

    private func session(
        _ roots: [FilePath], _ untold: [FilePath: UntoldFile], ready: @escaping @Sendable () -> Void
    ) throws(Errno) -> Session {
        let board = try WatcherState(mailbox: mailbox)
        let (calls, pollInterval, checkInterval) = (calls, pollInterval, checkInterval)
        let thread = try calls.startThread("sync-watch") {
            let loop = WatchLoop(
                roots: roots, calls: calls, pollInterval: pollInterval, checkInterval: checkInterval, board: board)
            loop.run(untold: untold, ready: ready)
        }
        return Session(board: board, thread: thread)
    }
}

/// What the watching thread and the rest of the program share.
final class WatcherState: Sendable {
    let mailbox: HintMailbox
    let wakePipe: WakePipe
    private let stopping = Atomic(false)
    private let published = Mutex<[WatchReport]>([])
    /// What scans have found to be new, by root. Few: a scan hands over no more than it needs to.
    private let appeared = Mutex<[FilePath: [AppearedFile]]>([:])

    init(mailbox: HintMailbox) throws(Errno) {
        self.mailbox = mailbox
        wakePipe = try WakePipe()
    }

    var isStopping: Bool { stopping.load(ordering: .relaxed) }

    var reports: [WatchReport] { published.withLock { $0 } }

    func publish(_ reports: [WatchReport]) {
        published.withLock { $0 = reports }
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

/// Why a root, or a part of it, is not watched by inotify.
enum WatchProblem: Hashable {
    /// There is nothing to watch: the root cannot be opened.
    case absent(Errno)
    /// The root is on a file system whose changes others make.
    case remote(type: String)
    /// A folder below the root is.
    case remoteBelow(RelativePath, type: String, device: UInt64)
    /// No inotify instance.
    case noQueue(Errno, allowed: Int?)
    /// The table of watches is full. `first` is a folder, relative to the root, that got none.
    case noWatch(first: RelativePath, needed: Int, allowed: Int?)
    /// A bind mount shows the same folder at two places; events tell only one of them.
    case shownTwice(RelativePath, and: RelativePath)
    /// The kernel grants the watch, and tells nothing of the folder.
    case silent
    /// A file turned up that no event has told of.
    case untold(UntoldFile)
    /// A folder could not be watched for any other reason.
    case refused(RelativePath, Errno)
    /// The thread could not be started; there are no hints at all.
    case noThread(Errno)

    /// What `status` shows: the reason and the remedy.
    /// - Parameters:
    ///   - poll: how often a root is polled; `check`: how often one that is absent is looked for.
    func note(poll: Duration, check: Duration) -> String {
        let polled = "looked at every \(poll.inSeconds)"
        switch self {
        case .absent(let reason):
            return "the folder cannot be opened (\(reason.description)); looked for every \(check.inSeconds)"
        case .remote(let type):
            return "\(type) does not tell of changes that others make; \(polled)"
        case .remoteBelow(let path, let type, _):
            return "\(Self.shown(path)) is on \(type), which does not tell of changes that others make; \(polled)"
        case .noQueue(let reason, let allowed):
            let limit = allowed.map { "the limit is \($0) for each user" } ?? reason.description
            return "no inotify instance is left (\(limit)); \(polled). "
                + Self.sysctl("max_user_instances", atLeast: (allowed ?? 128) * 2)
        case .noWatch(_, let needed, let allowed):
            let limit = allowed.map { "the system allows \($0) for all programs of the user" } ?? "too few are left"
            let folders = needed.counted("folder needs", "folders need")
            return "\(folders) an inotify watch each and \(limit); what is left over is \(polled). "
                + Self.sysctl("max_user_watches", atLeast: max((allowed ?? 0) + needed, 524_288))
        case .shownTwice(let path, _):
            return "\(Self.shown(path)) shows a folder that is watched at another place already; \(polled)"
        case .silent:
            return "the kernel takes a watch of the folder, and tells nothing of it; \(polled)"
        case .untold(let file):
            return "\(file.path.string.escapingControls) came without an event, as where others change the file system,"
                + " too; \(polled)"
        case .refused(let path, let reason):
            return "\(Self.shown(path)) cannot be watched (\(reason.description)); \(polled)"
        case .noThread(let reason):
            return "no thread could be started to watch (\(reason.description)); only the regular rescan finds changes"
        }
    }

    private static func shown(_ path: RelativePath) -> String {
        path.isEmpty ? "the folder" : path.filePath.string.escapingControls
    }

    static func sysctl(_ name: String, atLeast value: Int) -> String {
        "Allow more: put fs.inotify.\(name)=\(value) in /etc/sysctl.d/60-sync-agent.conf and run sysctl --system"
    }
}

extension Duration {
    fileprivate var inSeconds: String {
        let tenths = (components.seconds * 10) + components.attoseconds / 100_000_000_000_000_000
        return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
    }
}

/// What inotify allows each user (inotify(7)), and what watching takes of it. Every folder needs a watch.
package enum InotifyNeed {
    /// `fs.inotify.max_user_watches`; `nil` where the system does not tell.
    package static var allowedWatches: Int? { WatchCalls.system.maximumWatches() }
    /// `fs.inotify.max_user_instances`, of which each watched root takes one.
    package static var allowedInstances: Int? { WatchCalls.system.maximumQueues() }

    /// Folders below a root, with itself. Goes through the whole tree; what cannot be opened is not counted.
    package static func folders(below root: FilePath) throws(Errno) -> Int {
        var count = 0
        FolderWalk.run(from: try DirectoryHandle(root: root), at: RelativePath()) { visit in
            guard case .success(let folder) = visit.folder else { return [] }
            count += 1
            return (try? folder.folders()) ?? []
        }
        return count
    }

    /// Opens and reads a root, as the watcher would.
    package static func requireReadable(_ root: FilePath) throws(Errno) {
        _ = try DirectoryHandle(root: root).folders()
    }

    /// The setting that allows more, as a remedy.
    package static func remedy(watches: Int) -> String {
        WatchProblem.sysctl("max_user_watches", atLeast: watches)
    }

    package static func remedy(instances: Int) -> String {
        WatchProblem.sysctl("max_user_instances", atLeast: instances)
    }
}

/// Hands hints from the thread that sees changes to the one task that consumes them.
///
/// Bounded: for each path the latest hint is kept, at the place of the first; when a root has more than ``limit`` paths,
/// they become one `.tree` hint for it. Posting never waits.
package final class HintMailbox: Sendable {
    /// Paths per root.
    package let limit: Int

    fileprivate struct Entry {
        var hint: ChangeHint
        var root: FilePath
    }

    fileprivate struct State {
        /// In order of arrival; `nil` where a collapse took one out.
        var entries: [Entry?] = []
        var places: [FilePath: Int] = [:]
        var counts: [FilePath: Int] = [:]
        var collapsed: Set<FilePath> = []
        var waiting: CheckedContinuation<[ChangeHint]?, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())

    package init(limit: Int = 4_096) {
        self.limit = limit
    }

    /// Adds hints about a root and what is below it. Ignored after ``close()``.
    package func post(_ hints: [ChangeHint], of root: FilePath) {
        guard !hints.isEmpty else { return }
        let delivery = state.withLock { state -> (CheckedContinuation<[ChangeHint]?, Never>, [ChangeHint])? in
            guard !state.isClosed else { return nil }
            for hint in hints { state.add(hint, of: root, limit: limit) }
            guard let waiting = state.waiting else { return nil }
            state.waiting = nil
            return (waiting, state.takeAll())
        }
        if let (waiting, hints) = delivery { waiting.resume(returning: hints) }
    }

    /// Takes all hints, oldest first, and waits when there are none. `nil` once closed, or when the task is cancelled: then
    /// the hints stay for the next call. One task may wait at a time.
    package func next() async -> [ChangeHint]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> [ChangeHint]?? in
                    precondition(state.waiting == nil, "a mailbox has one consumer")
                    // A cancellation from here on finds the continuation; one from before is seen here.
                    if state.isClosed || Task.isCancelled { return .some(nil) }
                    if !state.places.isEmpty { return state.takeAll() }
                    state.waiting = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiting = nil }
                return state.waiting
            }?.resume(returning: nil)
        }
    }

    /// Drops what was not taken and ends the consumer's waiting.
    package func close() {
        state.withLock { state in
            let waiting = state.waiting
            state = State(isClosed: true)
            return waiting
        }?.resume(returning: nil)
    }
}

extension HintMailbox.State {
    fileprivate mutating func add(_ hint: ChangeHint, of root: FilePath, limit: Int) {
        let path = hint.path
        if let place = places[path] {
            // Whoever looks at what else is there for a folder sees this, too.
            if case .others = hint { return }
            entries[place]?.hint = hint
            return
        }
        // The root's own hint is pending, and above this one.
        if collapsed.contains(root) { return }
        if counts[root, default: 0] >= limit {
            collapse(root)
            return
        }
        places[path] = entries.count
        counts[root, default: 0] += 1
        entries.append(.init(hint: hint, root: root))
    }

    private mutating func collapse(_ root: FilePath) {
        for (place, entry) in entries.enumerated() {
            guard let entry, entry.root == root else { continue }
            places[entry.hint.path] = nil
            entries[place] = nil
        }
        collapsed.insert(root)
        counts[root] = 1
        places[root] = entries.count
        entries.append(.init(hint: .tree(root), root: root))
    }

    fileprivate mutating func takeAll() -> [ChangeHint] {
        let hints = entries.compactMap { $0?.hint }
        entries.removeAll(keepingCapacity: entries.count <= 1_024)
        places.removeAll(keepingCapacity: entries.count <= 1_024)
        counts.removeAll()
        collapsed.removeAll()
        return hints
    }
}

extension ChangeHint {
    var path: FilePath {
        switch self {
        case .file(let path), .writing(let path), .tree(let path), .gone(let path), .others(let path): path
        }
    }
}
