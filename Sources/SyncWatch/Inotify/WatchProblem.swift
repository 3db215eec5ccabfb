import SyncCore
import SystemPackage

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
