import Glibc
import SyncCore
import SyncSystem
import SystemPackage

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
        let relative = tree.path(of: event.watch).appending(name)
        let path = relative.filePath(below: root)
        if event.mask.contains(.folder) {
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
            hints.append(.gone(path))
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
            // Gone again: its event is in the queue. Not to be read: then the scan says so.
            if error == .noSuchFileOrDirectory { return }
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
