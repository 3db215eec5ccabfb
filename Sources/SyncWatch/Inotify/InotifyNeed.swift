package import SystemPackage

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
