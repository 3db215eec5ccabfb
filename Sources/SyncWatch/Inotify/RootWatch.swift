import Glibc
import SyncCore
import SyncSystem
import SystemPackage

/// One root, as the watching thread sees it: its inotify instance, the folders that have a watch, and the hints that
/// wait to be posted.
///
/// Every root has an instance of its own: an overflow concerns one root, roots may overlap, and starting over is closing
/// the instance and walking the tree again. It never leaves its thread.
final class RootWatch {
    typealias WatchID = InotifyEvent.WatchID

    enum Phase: Equatable {
        /// Cannot be opened; looked for now and then.
        case absent
        /// `queue` is `nil` when the root is polled.
        case present(FolderIdentity, queue: Int32?)
    }

    let root: FilePath
    let calls: WatchCalls
    let checkInterval: Duration
    /// Ends a walk through a large tree when the watcher is stopped.
    let isStopping: () -> Bool

    var tree = WatchTree()
    var hints: [ChangeHint] = []
    var problem: WatchProblem?
    /// What has no watch, where that is not the whole root.
    var unwatched = UnwatchedTops()
    var overflows = 0
    /// The tree of watches can no longer be trusted; set while events are read, acted upon after.
    var hasToStartOver = false
    /// The mounts that decide what is seen of the root, when it was opened last.
    private var mounts: [MountPoint] = []
    /// What the hints have told of, but those of polling.
    private var told: ToldChanges
    /// The next hints are to have one for each of these, because they are polled.
    private var polled: [FilePath] = []
    /// A writer is at work: reading its events one by one would cost as much as its writes.
    var sawWriting = false

    private(set) var phase = Phase.absent
    private var nextCheck = Duration.zero
    /// Shared with the threads that scan.
    private let pace: Lock<PollPace>

    init(
        root: FilePath, calls: WatchCalls, pollInterval: Duration, checkInterval: Duration,
        isStopping: @escaping () -> Bool
    ) {
        self.root = root
        self.calls = calls
        self.checkInterval = checkInterval
        self.isStopping = isStopping
        told = ToldChanges(since: calls.date())
        pace = Lock(PollPace(shortest: pollInterval, from: calls.now()))
    }

    deinit {
        closeQueue()
    }

    var queue: Int32? {
        if case .present(_, let queue) = phase { queue } else { nil }
    }

    var published: WatchedRoot {
        let report = WatchReport(
            root: root, mode: problem == nil ? .inotify : .polling, watches: tree.count, overflows: overflows,
            untold: untold)
        return WatchedRoot(report: report, problem: problem, pace: pace, checkInterval: checkInterval)
    }

    private var untold: UntoldFile? {
        if case .untold(let file) = problem { file } else { nil }
    }

    /// When ``tick()`` has something to do.
    var nextTick: Duration { isPolled ? min(nextCheck, pace.withLock { $0.nextPoll }) : nextCheck }

    /// Begins to watch, and leaves a `.tree` hint for the root once its watches are in place.
    /// - Parameter untold: the file by which it was found out earlier that not all is told.
    func begin(untold: UntoldFile?) {
        open()
        if let untold, isWatchedAtLeastInPart { problem = .untold(untold) }
        if phase == .absent { hints.append(.tree(root)) }
        nextCheck = calls.now() + checkInterval
    }

    /// Does what is due: polls, looks for a root that is away, and sees whether another folder has taken the root's place.
    func tick() {
        let now = calls.now()
        if now >= nextCheck {
            nextCheck = now + checkInterval
            check()
        }
        if isPolled, pace.withLock({ $0.isDue(at: now) }) { pollUnwatched() }
    }

    /// Has what is not watched scanned, unless it can be watched by now.
    private func pollUnwatched() {
        let clock = StepWatch.clockOfThread()
        let before = clock().processor
        tryToWatch()
        guard isPolled else { return }
        let places =
            problem?.isOfPart == true ? unwatched.all.map { $0.isEmpty ? root : $0.filePath(below: root) } : [root]
        // Opened anew, all of it is scanned.
        polled = hints.contains(.tree(root)) ? [] : places
        let (now, spent) = (calls.now(), clock().processor - before)
        pace.withLock { $0.begin(places, spent: spent, at: now) }
    }

    /// The hints since the last call. They are noted as told.
    func takeHints() -> [ChangeHint] {
        defer {
            hints.removeAll(keepingCapacity: true)
            polled = []
        }
        // What is told of names that are never stored tells nothing of the files beside them.
        let ofFiles = hints.filter { if case .others = $0 { false } else { true } }
        if !ofFiles.isEmpty { told.note(ofFiles, at: calls.date()) }
        return hints + polled.map(ChangeHint.tree)
    }

    /// A scan came upon files that were not known. When one of them appeared in what seemed to be watched and was not
    /// told, the root is polled from now on; until it is opened anew, as after a mount.
    ///
    /// What its queue held when the scan ended has to be read and taken.
    func judge(_ appeared: [AppearedFile]) {
        guard isWatchedAtLeastInPart || untold != nil, queue != nil,
            let file = appeared.last(where: { !isUnwatched($0) && !told.explains($0, below: root) })
        else { return }
        if untold == nil {
            let now = calls.now()
            pace.withLock { $0.pollNow(at: now) }
        }
        problem = .untold(UntoldFile(path: file.path, found: calls.date()))
    }

    private func isUnwatched(_ file: AppearedFile) -> Bool {
        RelativePath(root.pushing(file.path), below: root).map { unwatched.covers($0) } ?? false
    }

    /// A part of the root gets no watch. Of several reasons, what is wrong with the whole root is told first, then that
    /// watches have run out: once they have not, the root is opened anew, and the others are found again.
    func hinder(_ reason: WatchProblem, at top: RelativePath) {
        unwatched.insert(top)
        switch (problem, reason) {
        case (.noWatch, .noWatch): problem = reason
        case (.noWatch, _): break
        default: if isWatchedAtLeastInPart { problem = reason }
        }
    }

    /// For all folders.
    var neededWatches: Int { tree.count + unwatched.waiting }

    /// A folder is gone from its place, with all below it.
    func forgetUnwatched(_ place: RelativePath, at path: FilePath) {
        unwatched.remove(place)
        if case .noWatch(let first, _, let allowed) = problem {
            problem = .noWatch(first: first, needed: neededWatches, allowed: allowed)
        }
        let now = calls.now()
        pace.withLock { $0.forget(path, at: now) }
    }

    /// The table of mounts has changed. What was mounted or unmounted at the root, below it, or on the way to it, changes
    /// what is seen of it: then it is watched and scanned anew. No event of inotify tells of a mount.
    func noteMounts(_ table: [UInt8]) {
        guard phase != .absent, !isRemote else { return check() }
        if MountPoint.around(root.resolved ?? root, in: table) != mounts { startOver() }
    }

    /// Forgets all watches and sets them anew.
    func startOver() {
        hasToStartOver = false
        closeQueue()
        open()
    }

    /// The root is gone. It is looked for at the next check; what comes back may be another folder.
    func lose(_ reason: Errno) {
        let wasPresent = phase != .absent
        closeQueue()
        phase = .absent
        problem = .absent(reason)
        if wasPresent { hints.append(.gone(root)) }
    }

    var isWatchedAtLeastInPart: Bool { problem?.isOfPart ?? true }

    private var isRemote: Bool {
        if case .remote = problem { true } else { false }
    }

    private var isPolled: Bool {
        if case .present = phase { problem != nil } else { false }
    }

    private func closeQueue() {
        if case .present(let identity, let queue?) = phase {
            close(queue)
            phase = .present(identity, queue: nil)
        }
        tree = WatchTree()
        unwatched = UnwatchedTops()
    }

    private func open() {
        let handle: DirectoryHandle
        do throws(Errno) {
            // First, so that what is mounted from here on is told as a change.
            if !isRemote { mounts = MountPoint.around(root.resolved ?? root, in: calls.mountTable()) }
            handle = try DirectoryHandle(root: root)
        } catch {
            lose(error)
            return
        }
        phase = .present(handle.identity, queue: nil)
        problem = nil
        if let type = remoteType(of: handle.identity.device) {
            problem = .remote(type: type)
        } else {
            do throws(Errno) {
                phase = .present(handle.identity, queue: try calls.openQueue())
                addWatches(from: handle, at: RelativePath(), under: nil)
                if calls.reportsOpening(handle) == false { problem = .silent }
            } catch {
                problem = .noQueue(error, allowed: calls.maximumQueues())
            }
        }
        hints.append(.tree(root))
    }

    /// No event tells that a parent of the root was renamed, that a drive was mounted over the root, or that the link that
    /// the root is leads elsewhere now.
    private func check() {
        switch phase {
        case .absent:
            // Without a hint as long as it stays away.
            open()
        case .present(let identity, _):
            if case .remote(let type) = problem {
                // Nothing that could wait for a server that is gone.
                if calls.fileSystem(identity.device) != type { startOver() }
            } else if FolderIdentity(at: root) != identity {
                startOver()
            }
        }
    }

    /// Sees whether what hindered a watch is still there.
    private func tryToWatch() {
        switch problem {
        case .noQueue:
            startOver()
        case .refused(let path, _), .noWatch(let path, _, _):
            // One folder tells for all: setting out for every one of them each time would cost a walk.
            if isWatchable(path) { startOver() }
        case .shownTwice(let path, let other):
            let identities = [path, other].map { place in
                FolderIdentity(at: place.filePath(below: root), followsLinks: place.isEmpty)
            }
            if identities[0] != identities[1] { startOver() }
        case .remoteBelow(_, let type, let device):
            if calls.fileSystem(device) != type { startOver() }
        case .silent:
            if let folder = try? DirectoryHandle(root: root), calls.reportsOpening(folder) != false { startOver() }
        case .absent, .remote, .untold, .noThread, nil:
            break
        }
    }

    /// Whether a folder that got no watch would get one now, or needs none any more.
    private func isWatchable(_ path: RelativePath) -> Bool {
        guard let queue else { return true }
        do throws(Errno) {
            let folder = try DirectoryHandle(root: root, descending: path)
            let watch = try calls.addWatch(queue, folder)
            // It has one, where only what is in it could not be read.
            if tree[watch] == nil { calls.removeWatch(queue, watch) }
            _ = try folder.folders()
            return true
        } catch {
            return error.needsNoWatch
        }
    }

    /// The type of a file system that has to be polled; `nil` for one that tells its changes.
    func remoteType(of device: UInt64) -> String? {
        calls.fileSystem(device).flatMap { MountTable.isRemote($0) ? $0 : nil }
    }
}

/// What was told lately of one root's changes, to find out whether a file that a scan has come upon was told of.
///
/// Bounded: beyond ``limit`` paths it forgets all, and knows nothing of what changed before that.
struct ToldChanges {
    static let limit = 4_096

    /// Nanoseconds since 1970, as are all times here. Of what changed before, nothing is known.
    private var since: Int64
    /// By the hash of a path, when it was told last. Two paths with one hash: then a file counts as told that was not.
    private var times: [Int: Int64] = [:]

    init(since: Int64) {
        self.since = since
    }

    mutating func note(_ hints: [ChangeHint], at now: Int64) {
        guard times.count + hints.count <= Self.limit else {
            self = Self(since: now)
            return
        }
        for hint in hints { times[hint.path.hashValue] = now }
    }

    /// Whether a file's appearance was told, or may have been.
    ///
    /// A hint for the file counts whenever it came: a link that is made or removed elsewhere changes its ctime, and is not
    /// told. One for a folder above counts for what was in it by then.
    func explains(_ file: AppearedFile, below root: FilePath) -> Bool {
        if file.changed <= since { return true }
        var path = root.pushing(file.path)
        if times[path.hashValue] != nil { return true }
        while path != root, path.removeLastComponent() {
            if let told = times[path.hashValue], told >= file.changed { return true }
        }
        return false
    }
}
