import SyncCore
import SyncSystem
import SystemPackage

extension RootWatch {
    /// Gives a watch to a folder and to every folder below it. Each is watched before it is read, so that what is made in
    /// between shows up in one of the two.
    /// - Parameters:
    ///   - path: where the folder is, relative to the root.
    ///   - parent: the watch of its parent; `nil` for the root.
    ///   - unlessKnown: do nothing when the folder is watched at this very place: then a walk has come by already, and
    ///     a hint for it is on its way.
    /// - Returns: whether a hint for the folder is due.
    @discardableResult
    func addWatches(
        from start: DirectoryHandle, at path: RelativePath, under parent: WatchID?, unlessKnown: Bool = false
    ) -> Bool {
        var walk = WatchWalk()
        var isDue = true
        FolderWalk.run(from: start, at: path) { visit in
            guard !isStopping() else { return [] }
            do throws(Errno) {
                let folder = try visit.folder.get()
                let above = visit.depth == 0 ? parent : walk.chain[visit.depth - 1]
                let device = visit.depth == 0 ? folder.identity.device : walk.devices[visit.depth - 1]
                if folder.identity.device != device, let type = remoteType(of: folder.identity.device) {
                    problem = .remoteBelow(visit.path, type: type, device: folder.identity.device)
                    return []
                }
                let outcome = add(folder, at: visit.path, under: above, of: &walk)
                if case .known = outcome, visit.depth == 0, unlessKnown { isDue = false }
                guard isDue, let outcome else { return [] }
                walk.enter(depth: visit.depth, watch: outcome.watch, device: folder.identity.device)
                return try folder.folders()
            } catch {
                note(error, at: visit.path)
                return []
            }
        }
        if walk.unwatched > 0, let first = walk.firstUnwatched {
            var needed = tree.count + walk.unwatched
            if case .noWatch(_, let before, _) = problem { needed = max(before + walk.unwatched, needed) }
            problem = .noWatch(first: first, needed: needed, allowed: calls.maximumWatches())
        }
        return isDue
    }

    /// Ends the watches of folders that are no longer below the root.
    func removeWatches(_ watches: [WatchID]) {
        guard let queue else { return }
        for watch in watches { calls.removeWatch(queue, watch) }
    }

    private func add(
        _ folder: DirectoryHandle, at path: RelativePath, under parent: WatchID?, of walk: inout WatchWalk
    ) -> Placement? {
        guard walk.unwatched == 0, let queue else {
            walk.unwatched += 1
            return .unwatched
        }
        let watch: WatchID
        do throws(Errno) {
            watch = try calls.addWatch(queue, folder)
        } catch {
            guard error == .noSpace else {
                note(error, at: path)
                return nil
            }
            walk.firstUnwatched = path
            walk.unwatched = 1
            return .unwatched
        }
        guard let name = path.last, let parent else {
            tree.insertRoot(watch, access: folder.access)
            return .new(watch)
        }
        if let known = tree[watch] {
            if known.parent == parent, known.name == name { return .known(watch) }
            // Renamed, and its event is still in the queue; or a bind mount shows it twice.
            let other = tree.path(of: watch)
            let place = other.filePath(below: root)
            if DirectoryHandle.Identity(at: place, following: other.isEmpty) == folder.identity {
                problem = .shownTwice(path, and: other)
                return nil
            }
        }
        // Refused when folders are moved into each other while we walk: their events are still to come.
        guard let displaced = tree.place(watch, named: name, under: parent, access: folder.access) else { return nil }
        removeWatches(displaced)
        return .new(watch)
    }

    /// A folder that is gone again or may not be read is no problem of watching: the first has events of its own, the
    /// second is told by the scan, and by an event of its parent when that changes.
    private func note(_ reason: Errno, at path: RelativePath) {
        switch reason {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .permissionDenied, .notPermitted: break
        default: problem = .refused(path, reason)
        }
    }
}

/// What came of asking for one folder's watch.
private enum Placement {
    case new(InotifyEvent.WatchID)
    /// It has been watched at this place before.
    case known(InotifyEvent.WatchID)
    /// The limit is reached. It is walked all the same, to count what is needed.
    case unwatched

    var watch: InotifyEvent.WatchID? {
        switch self {
        case .new(let watch), .known(let watch): watch
        case .unwatched: nil
        }
    }
}

/// Where a walk stands.
private struct WatchWalk {
    /// The watches and devices of the folders from the start to here.
    var chain: [InotifyEvent.WatchID?] = []
    var devices: [UInt64] = []
    /// Folders that got no watch because the limit was reached.
    var unwatched = 0
    var firstUnwatched: RelativePath?

    mutating func enter(depth: Int, watch: InotifyEvent.WatchID?, device: UInt64) {
        chain.removeSubrange(depth...)
        devices.removeSubrange(depth...)
        chain.append(watch)
        devices.append(device)
    }
}

extension DirectoryHandle {
    /// The names of the folders in it, ignored ones left out.
    func folders() throws(Errno) -> [EntryName] {
        var names: [EntryName] = []
        try forEachEntry { name, kind throws(Errno) in
            guard kind == .folder || kind == .unknown, let entry = EntryName(unlessIgnored: name) else {
                return
            }
            if kind == .unknown, try status(of: name)?.kind != .folder { return }
            names.append(entry)
        }
        return names
    }
}
