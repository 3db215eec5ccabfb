import SyncCore
package import SyncSystem
package import SystemPackage

/// Moves a projects folder to another place: all files are copied, each copy is read back, and only then is the old folder
/// taken away. Nothing in the new place is ever replaced. Killed at any point, it goes on with the next run.
package struct ProjectMigration: Sendable {
    /// A file or folder that stands in the way, and why.
    package struct Conflict: Hashable, Sendable {
        package var path: FilePath
        package var reason: String
    }

    package struct Plan: Sendable {
        /// Files that are to be copied, and their bytes.
        package var files = 0
        package var bytes: Int64 = 0
        package var alreadyThere = 0
        package var conflicts: [Conflict] = []
    }

    package struct Summary: Sendable {
        package var copied = 0
        package var alreadyThere = 0
        package var bytes: Int64 = 0
        /// Files of the old folder that were removed.
        package var removed = 0
        /// Why something of the old folder is still there.
        package var conflicts: [Conflict] = []
        /// Whether the old folder stays, with nothing in it: a drive is mounted there.
        package var isOldLeft = false
    }

    private let old: FilePath
    private let new: FilePath
    private let copy: FileCopy

    /// - Parameters: both folders, absolute.
    package init(from old: FilePath, to new: FilePath, calls: DownloadCalls = DownloadCalls()) {
        self.old = old
        self.new = new
        copy = FileCopy(calls: calls)
    }

    /// What would be done. Reads all files of which there is one in the new place. Blocks.
    /// - Throws: `ScanError` when the old folder is not there; `Errno`; `CancellationError`.
    package func plan(_ flag: CancellationFlag) throws -> Plan {
        let tree = try tree()
        var plan = Plan(conflicts: tree.obstacles)
        for file in tree.files {
            switch try copy.comparison(of: old.pushing(file.path), at: new.pushing(file.path), flag) {
            case .alreadyThere: plan.alreadyThere += 1
            case nil:
                plan.files += 1
                plan.bytes += file.stamp.size
            case .conflict, .copied: plan.conflicts.append(different(file))
            }
        }
        return plan
    }

    /// As long as there is a conflict, nothing is removed. Blocks.
    /// - Parameter progress: told how many files are in the new place.
    /// - Throws: as ``plan(_:)``.
    package func run(_ flag: CancellationFlag, progress: (Int) -> Void = { _ in }) throws -> Summary {
        var result = Summary()
        let tree = try tree()
        result.conflicts = tree.obstacles
        try makeFolder(new, like: old)
        for folder in tree.folders { try makeFolder(new.pushing(folder), like: old.pushing(folder)) }
        for file in tree.files {
            try flag.check()
            do {
                switch try copy.run(old.pushing(file.path), to: new.pushing(file.path), flag) {
                case .copied:
                    result.copied += 1
                    result.bytes += file.stamp.size
                case .alreadyThere: result.alreadyThere += 1
                case .conflict: result.conflicts.append(different(file))
                }
            } catch let error as FileCopy.Mismatch {
                result.conflicts.append(Conflict(path: new.pushing(file.path), reason: "\(error)"))
            }
            progress(result.copied + result.alreadyThere)
        }
        guard result.conflicts.isEmpty else { return result }
        for folder in [FilePath()] + tree.folders { try NewFile.discardAll(in: new.pushing(folder)) }
        try remove(tree, &result)
        return result
    }

    private func remove(_ tree: Tree, _ result: inout Summary) throws {
        // What came or changed meanwhile was not copied.
        let now = try self.tree()
        let known = Set(tree.files)
        result.conflicts = now.files.filter { !known.contains($0) }.map { file in
            Conflict(path: old.pushing(file.path), reason: "it changed while the folder was copied; run it again")
        }
        guard result.conflicts.isEmpty else { return }
        for file in tree.files {
            let path = old.pushing(file.path)
            // Of two names of one file, the first that was removed has moved the time of the last change.
            guard let stamp = FileStamp.ofFile(path), stamp.isRenamed(from: file.stamp) else {
                result.conflicts.append(
                    Conflict(path: path, reason: "it changed while the folder was removed; run it again"))
                continue
            }
            do {
                if try path.unlink() { result.removed += 1 }
            } catch {
                result.conflicts.append(Conflict(path: path, reason: "cannot be removed: \(error)"))
            }
        }
        for folder in tree.folders.reversed() { try? old.pushing(folder).removeFolder() }
        do {
            try old.removeFolder()
        } catch {
            guard result.conflicts.isEmpty, error != .noSuchFileOrDirectory else { return }
            result.isOldLeft = error == .resourceBusy
            if result.isOldLeft { return }
            result.conflicts.append(Conflict(path: old, reason: "the emptied folder cannot be removed: \(error)"))
        }
    }

    private func different(_ file: Tree.File) -> Conflict {
        Conflict(
            path: new.pushing(file.path),
            reason: "another file has this name there; compare the two, and remove the one that is not wanted")
    }

    // MARK: The old folder

    private struct Tree {
        struct File: Hashable {
            var path: FilePath
            var stamp: FileStamp
        }

        /// All paths are relative; folders before what is in them, `projects.json` last.
        var folders: [FilePath] = []
        var files: [File] = []
        var obstacles: [Conflict] = []
    }

    private func tree() throws -> Tree {
        var tree = Tree()
        guard try visit("", &tree) else {
            throw ScanError(.missing, path: old, message: "there is no such folder")
        }
        let lists = tree.files.filter { $0.path.string == ProjectFileName.listName }
        tree.files = tree.files.filter { $0.path.string != ProjectFileName.listName } + lists
        return tree
    }

    /// - Returns: whether it is a folder.
    private func visit(_ folder: FilePath, _ tree: inout Tree) throws -> Bool {
        guard let names = try Folder.names(in: old.pushing(folder)) else { return false }
        for name in names.sorted(by: { $0.string < $1.string }) {
            let path = folder.appending(name)
            guard let status = try FileStatus.find(old.pushing(path)) else { continue }
            switch status.kind {
            case .file: tree.files.append(Tree.File(path: path, stamp: status.stamp))
            case .folder:
                tree.folders.append(path)
                _ = try visit(path, &tree)
            case .link, .other:
                tree.obstacles.append(
                    Conflict(path: old.pushing(path), reason: "neither a file nor a folder; move it away first"))
            }
        }
        return true
    }

    /// A folder that is new gets the mode of its model, and can be written to by its owner.
    private func makeFolder(_ path: FilePath, like model: FilePath) throws {
        let mode = try FileStatus(at: model, followsLinks: true).permissions.union(.ownerReadWriteExecute)
        let made = try Folder.make(path, permissions: .ownerReadWriteExecute, above: FilePermissions(rawValue: 0o777))
        if made.last == path { try path.setPermissions(mode) }
    }
}
