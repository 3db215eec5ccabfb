import Glibc
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
            SignOfLife.give()
            do throws(Errno) {
                let folder = try visit.folder.get()
                let above = visit.depth == 0 ? parent : walk.chain[visit.depth - 1].watch
                let device = visit.depth == 0 ? folder.identity.device : walk.chain[visit.depth - 1].device
                if folder.identity.device != device, let type = remoteType(of: folder.identity.device) {
                    hinder(.remoteBelow(visit.path, type: type, device: folder.identity.device), at: visit.path)
                    return []
                }
                let outcome = add(folder, at: visit.path, under: above, of: &walk)
                if outcome?.isKnown == true, visit.depth == 0, unlessKnown { isDue = false }
                guard isDue, let outcome else { return [] }
                // Below a folder without a watch, nothing has one.
                if outcome.watch == nil {
                    // Where a walk has been before, it counts anew.
                    if visit.depth == 0 { unwatched.remove(visit.path) }
                    if visit.depth == 0 || above != nil { unwatched.insert(visit.path) }
                    unwatched.countWaiting(visit.path)
                }
                walk.enter(depth: visit.depth, watch: outcome.watch, device: folder.identity.device)
                return try folder.folders()
            } catch {
                note(error, at: visit.path)
                return []
            }
        }
        if walk.unwatched > 0, let first = walk.firstUnwatched {
            hinder(.noWatch(first: first, needed: neededWatches, allowed: calls.maximumWatches()), at: first)
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
            return Placement()
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
            return Placement()
        }
        guard let name = path.last, let parent else {
            tree.insertRoot(watch, access: folder.access)
            return Placement(watch: watch)
        }
        if let known = tree[watch] {
            if known.parent == parent, known.name == name { return Placement(watch: watch, isKnown: true) }
            // Renamed, and its event is still in the queue; or a bind mount shows it twice.
            let other = tree.path(of: watch)
            let place = other.filePath(below: root)
            if FolderIdentity(at: place, followsLinks: other.isEmpty) == folder.identity {
                hinder(.shownTwice(path, and: other), at: path)
                return nil
            }
        }
        // Refused when folders are moved into each other while we walk: their events are still to come.
        guard let displaced = tree.place(watch, named: name, under: parent, access: folder.access) else { return nil }
        removeWatches(displaced)
        return Placement(watch: watch)
    }

    /// A folder that is gone again or may not be read is no problem of watching: the first has events of its own, the
    /// second is told by the scan, and by an event of its parent when that changes.
    private func note(_ reason: Errno, at path: RelativePath) {
        if !reason.needsNoWatch { hinder(.refused(path, reason), at: path) }
    }
}

extension Errno {
    /// Of opening or reading a folder below a root.
    var needsNoWatch: Bool {
        switch self {
        case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .permissionDenied, .notPermitted: true
        default: false
        }
    }
}

/// What came of asking for one folder's watch.
private struct Placement {
    /// `nil` where the limit is reached. The folder is walked all the same, to count what is needed.
    var watch: InotifyEvent.WatchID?
    /// It has been watched at this place before.
    var isKnown = false
}

/// Where a walk stands.
private struct WatchWalk {
    /// The watches and devices of the folders from the start to here.
    var chain: [(watch: InotifyEvent.WatchID?, device: UInt64)] = []
    /// Folders that got no watch because the limit was reached.
    var unwatched = 0
    var firstUnwatched: RelativePath?

    mutating func enter(depth: Int, watch: InotifyEvent.WatchID?, device: UInt64) {
        chain.removeSubrange(depth...)
        chain.append((watch, device))
    }
}

extension DirectoryHandle {
    /// The names of the folders in it, ignored ones left out.
    func folders() throws(Errno) -> [EntryName] {
        var names: [EntryName] = []
        try forEachEntry { name, kind throws(Errno) in
            guard kind == .folder || kind == .unknown, let entry = EntryName(ofFolderUnlessIgnored: name) else {
                return
            }
            if kind == .unknown, try status(of: name)?.kind != .folder { return }
            names.append(entry)
        }
        return names
    }
}

extension RootWatch {
    /// Reads what the queue holds, up to a bound, and turns it into hints; `buffer` is scratch space.
    /// - Parameter deliver: called after each part, to take the hints.
    func readEvents(into buffer: UnsafeMutableRawBufferPointer, deliver: () -> Void) {
        // Other roots and the clock get their turn even when this root's writers are faster than we are.
        for _ in 0..<64 {
            guard let queue, !hasToStartOver, !isStopping() else { break }
            do throws(Errno) {
                let count = try calls.readQueue(queue, buffer)
                guard count > 0 else { break }
                InotifyEvent.forEach(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]), handle)
            } catch {
                // Does not happen to a queue of ours; if it does, a new one is the way out.
                hasToStartOver = true
            }
            deliver()
        }
        if hasToStartOver { startOver() }
        deliver()
    }

    private func handle(_ event: InotifyEvent) {
        if event.mask.contains(.overflow) {
            overflows += 1
            hasToStartOver = true
            return
        }
        // Watches that were removed have events left in the queue.
        guard let folder = tree[event.watch] else { return }
        guard let name = event.name else {
            handleOwn(event, of: folder)
            return
        }
        let isFolder = event.mask.contains(.folder)
        if isFolder ? name.isIgnoredFolder : name.isIgnored {
            noteOther(event)
            return
        }
        let relative = tree.path(of: event.watch).appending(name)
        let path = relative.filePath(below: root)
        if isFolder {
            handleFolder(event, named: name, at: relative, path)
        } else if !event.mask.isDisjoint(with: [.delete, .movedFrom]) {
            hints.append(.gone(path))
        } else if event.mask.contains(.modify) {
            sawWriting = true
            hints.append(.writing(path))
        } else if event.mask.contains(.create), !isWhole(path) {
            hints.append(.writing(path))
        } else {
            hints.append(.file(path))
        }
    }

    /// An entry that is never stored came or went, or is whole now. Writing to it is told by its end.
    private func noteOther(_ event: InotifyEvent) {
        guard !event.mask.isDisjoint(with: [.create, .closeWrite, .movedTo, .movedFrom, .delete]) else { return }
        let hint = ChangeHint.others(tree.path(of: event.watch).filePath(below: root))
        if hints.last != hint { hints.append(hint) }
    }

    /// Events of a watched folder itself.
    private func handleOwn(_ event: InotifyEvent, of folder: WatchTree.Folder) {
        let mask = event.mask
        guard folder.parent != nil else {
            if !mask.isDisjoint(with: [.deleteSelf, .unmount, .ignored]) {
                lose(.noSuchFileOrDirectory)
            } else if mask.contains(.moveSelf) {
                hasToStartOver = true
            } else if mask.contains(.attributes) {
                noteAccess(of: event.watch, at: root, following: true)
            }
            return
        }
        if mask.contains(.unmount) {
            // What the mount had covered comes to light.
            let path = tree.path(of: event.watch)
            let parent = folder.parent
            removeWatches(tree.remove(event.watch))
            if let parent { watch(path, under: parent) }
        } else if mask.contains(.ignored) {
            removeWatches(tree.remove(event.watch))
        }
    }

    private func handleFolder(
        _ event: InotifyEvent, named name: EntryName, at relative: RelativePath, _ path: FilePath
    ) {
        let mask = event.mask
        let known = tree.child(name, of: event.watch)
        if !mask.isDisjoint(with: [.delete, .movedFrom]) {
            // When it only moved, its new place is about to be told, and it is watched again there.
            if let known { removeWatches(tree.remove(known)) }
            forgetUnwatched(relative, at: path)
            hints.append(.gone(path))
            // Where two exchange their names (renameat2(2)), the last that is told of one of them is that it is gone,
            // and the watch that was just taken away may be that of the folder which has the name now.
            if mask.contains(.movedFrom) { watch(relative, under: event.watch) }
        } else if mask.contains(.movedTo) {
            watch(relative, under: event.watch)
        } else if mask.contains(.create) {
            watch(relative, under: event.watch, unlessKnown: true)
        } else if mask.contains(.attributes) {
            if let known {
                noteAccess(of: known, at: path, following: false)
            } else {
                watch(relative, under: event.watch)
            }
        }
    }

    private func watch(_ relative: RelativePath, under parent: WatchID, unlessKnown: Bool = false) {
        do throws(Errno) {
            let folder = try DirectoryHandle(root: root, descending: relative)
            guard addWatches(from: folder, at: relative, under: parent, unlessKnown: unlessKnown) else { return }
        } catch {
            // Gone again, or no folder any more: its event is in the queue. Not to be read: then the scan says so.
            if error == .noSuchFileOrDirectory || error == .notDirectory { return }
        }
        hints.append(.tree(relative.filePath(below: root)))
    }

    /// Times and extended attributes of folders change all the time; only who may read one matters.
    private func noteAccess(of watch: WatchID, at path: FilePath, following: Bool) {
        let status = try? FileStatus(at: path, followsLinks: following)
        let access = FolderAccess(status)
        if status != nil, tree[watch]?.access == access { return }
        tree.update(access, of: watch)
        hints.append(.tree(path))
    }

    /// Whether a file that has just appeared is more than somebody's empty beginning. link(2) makes whole files, and
    /// tells nothing but their creation; a file that open(2) made is followed by events of its writer.
    private func isWhole(_ path: FilePath) -> Bool {
        do {
            let status = try FileStatus(at: path)
            return status.stamp.size > 0 || status.links > 1
        } catch {
            return error == .fileNameTooLong
        }
    }
}
