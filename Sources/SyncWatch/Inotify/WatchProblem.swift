import SyncCore
import SyncSystem
package import SystemPackage

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

    /// Whether all but some folders is watched as it should be. Else the whole root is polled.
    var isOfPart: Bool {
        switch self {
        case .remoteBelow, .noWatch, .shownTwice, .refused: true
        case .absent, .remote, .noQueue, .silent, .untold, .noThread: false
        }
    }

    var cause: WatchReport.Cause {
        switch self {
        case .absent: .absent
        case .noQueue, .noWatch, .noThread: .limit
        case .remote, .remoteBelow, .silent, .untold: .untold
        case .shownTwice, .refused: .refused
        }
    }

    /// What `status` shows: the reason and the remedy.
    /// - Parameters:
    ///   - poll: how often what is not watched is polled; `check`: how often a root that is absent is looked for.
    func note(poll: PollPace, check: Duration) -> String {
        let polled = poll.words
        switch self {
        case .absent(let reason):
            return "the folder cannot be opened (\(reason.description)); looked for every \(check.inWords)"
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
