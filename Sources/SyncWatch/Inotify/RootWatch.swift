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
    let pollInterval: Duration
    let checkInterval: Duration
    /// Ends a walk through a large tree when the watcher is stopped.
    let isStopping: () -> Bool

    var tree = WatchTree()
    var hints: [ChangeHint] = []
    var problem: WatchProblem?
    var overflows = 0
    /// The tree of watches can no longer be trusted; set while events are read, acted upon after.
    var hasToStartOver = false
    /// The mounts that decide what is seen of the root, when it was opened last.
    private var mounts: [MountPoint] = []
    /// What the hints have told of, but those of polling.
    private var told: ToldChanges
    /// The next hints are to have one for the whole root, because it is polled.
    private var isPollDue = false
    /// A writer is at work: reading its events one by one would cost as much as its writes.
    var sawWriting = false

    private(set) var phase = Phase.absent
    private var nextCheck = Duration.zero
    private var nextPoll = Duration.zero

    init(
        root: FilePath, calls: WatchCalls, pollInterval: Duration, checkInterval: Duration,
        isStopping: @escaping () -> Bool
    ) {
        self.root = root
        self.calls = calls
        self.pollInterval = pollInterval
        self.checkInterval = checkInterval
        self.isStopping = isStopping
        told = ToldChanges(since: calls.date())
    }

    deinit {
        closeQueue()
    }

    var queue: Int32? {
        if case .present(_, let queue) = phase { queue } else { nil }
    }

    var report: WatchReport {
        WatchReport(
            root: root, mode: problem == nil ? .inotify : .polling,
            note: problem?.note(poll: pollInterval, check: checkInterval), watches: tree.count, overflows: overflows,
            untold: untold)
    }

    private var untold: UntoldFile? {
        if case .untold(let file) = problem { file } else { nil }
    }

    /// When ``tick()`` has something to do.
    var nextTick: Duration { isPolled ? min(nextCheck, nextPoll) : nextCheck }

    /// Begins to watch, and leaves a `.tree` hint for the root once its watches are in place.
    /// - Parameter untold: the file by which it was found out earlier that not all is told.
    func begin(untold: UntoldFile?) {
        open()
        if let untold, problem == nil { problem = .untold(untold) }
        if phase == .absent { hints.append(.tree(root)) }
        let now = calls.now()
        nextCheck = now + checkInterval
        nextPoll = now + pollInterval
    }

    /// Does what is due: polls, looks for a root that is away, and sees whether another folder has taken the root's place.
    func tick() {
        let now = calls.now()
        if now >= nextCheck {
            nextCheck = now + checkInterval
            check()
        }
        if isPolled, now >= nextPoll {
            nextPoll = now + pollInterval
            isPollDue = true
            tryToWatch()
        }
    }

    /// The hints since the last call. They are noted as told.
    func takeHints() -> [ChangeHint] {
        defer {
            hints.removeAll(keepingCapacity: true)
            isPollDue = false
        }
        // What is told of names that are never stored tells nothing of the files beside them.
        let ofFiles = hints.filter { if case .others = $0 { false } else { true } }
        if !ofFiles.isEmpty { told.note(ofFiles, at: calls.date()) }
        return isPollDue ? hints + [.tree(root)] : hints
    }

    /// A scan came upon files that were not known. When one of them appeared while all seemed to be watched and was not
    /// told, the root is polled from now on; until it is opened anew, as after a mount.
    ///
    /// What its queue held when the scan ended has to be read and taken.
    func judge(_ appeared: [AppearedFile]) {
        guard problem == nil || untold != nil, queue != nil,
            let file = appeared.last(where: { !told.explains($0, below: root) })
        else { return }
        if problem == nil { nextPoll = calls.now() }
        problem = .untold(UntoldFile(path: file.path, found: calls.date()))
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
                if problem == nil, calls.tellsOfOpening(handle) == false { problem = .silent }
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
        case .noQueue, .refused:
            startOver()
        case .shownTwice(let path, let other):
            let identities = [path, other].map { place in
                FolderIdentity(at: place.filePath(below: root), followsLinks: place.isEmpty)
            }
            if identities[0] != identities[1] { startOver() }
        case .remoteBelow(_, let type, let device):
            if calls.fileSystem(device) != type { startOver() }
        case .noWatch(let first, _, _):
            // One folder tells for all: setting out for every one of them each time would cost a walk.
            guard let queue, let folder = try? DirectoryHandle(root: root, descending: first) else {
                return startOver()
            }
            if let watch = try? calls.addWatch(queue, folder) {
                calls.removeWatch(queue, watch)
                startOver()
            }
        case .silent:
            if let folder = try? DirectoryHandle(root: root), calls.tellsOfOpening(folder) != false { startOver() }
        case .absent, .remote, .untold, .noThread, nil:
            break
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

/// Which watch stands for which folder below one root. Each folder knows its name and its parent, so a rename moves
/// everything below it in one step.
struct WatchTree {
    typealias WatchID = InotifyEvent.WatchID

    struct Folder {
        /// `nil` for the root.
        fileprivate(set) var parent: WatchID?
        fileprivate(set) var name: EntryName?
        fileprivate var children: [EntryName: WatchID] = [:]
        var access: FolderAccess
    }

    private var folders: [WatchID: Folder] = [:]

    var count: Int { folders.count }

    subscript(id: WatchID) -> Folder? { folders[id] }

    func child(_ name: EntryName, of parent: WatchID) -> WatchID? {
        folders[parent]?.children[name]
    }

    mutating func update(_ access: FolderAccess, of id: WatchID) {
        folders[id]?.access = access
    }

    mutating func insertRoot(_ id: WatchID, access: FolderAccess) {
        folders[id] = Folder(parent: nil, name: nil, access: access)
    }

    /// Puts a folder under `parent`; when it stood elsewhere it is moved, with what is below it.
    /// - Returns: the watches that stood for what had this name before; `nil`, and nothing is done, when `parent` is
    ///   below the folder or unknown.
    mutating func place(
        _ id: WatchID, named name: EntryName, under parent: WatchID, access: FolderAccess
    ) -> [WatchID]? {
        guard folders[parent] != nil, !isAt(parent, orBelow: id) else { return nil }
        var folder = folders[id] ?? Folder(access: access)
        // First out of its old place: that may be below what is displaced, and it stays.
        if let old = folder.parent, let oldName = folder.name { folders[old]?.children[oldName] = nil }
        let displaced = child(name, of: parent).map { remove($0) } ?? []
        folder.parent = parent
        folder.name = name
        folder.access = access
        folders[id] = folder
        folders[parent]?.children[name] = id
        return displaced
    }

    /// Takes out a folder and all below it.
    /// - Returns: their watches.
    mutating func remove(_ id: WatchID) -> [WatchID] {
        guard let top = folders[id] else { return [] }
        if let parent = top.parent, let name = top.name { folders[parent]?.children[name] = nil }
        var removed: [WatchID] = []
        var pending = [id]
        while let next = pending.popLast() {
            guard let folder = folders.removeValue(forKey: next) else { continue }
            removed.append(next)
            pending.append(contentsOf: folder.children.values)
        }
        return removed
    }

    /// Where a watched folder is, relative to the root.
    func path(of id: WatchID) -> RelativePath {
        var names: [EntryName] = []
        var current = folders[id]
        while let name = current?.name {
            names.append(name)
            current = current?.parent.flatMap { folders[$0] }
        }
        return RelativePath(names.reversed())
    }

    private func isAt(_ id: WatchID, orBelow ancestor: WatchID) -> Bool {
        var current: WatchID? = id
        while let here = current {
            if here == ancestor { return true }
            current = folders[here]?.parent
        }
        return false
    }
}
