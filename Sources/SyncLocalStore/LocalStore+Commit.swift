import SyncCore
import SystemPackage

extension LocalStore {
    /// Runs `body` with names in `staging/`; when it throws, nothing stays there.
    func staging<Value>(_ body: (StagedPut) throws -> Value) throws -> Value {
        let staged = StagedPut(id: hexID(), layout: layout)
        do {
            return try body(staged)
        } catch {
            staged.removeAll()
            throw error
        }
    }

    func requireAllowed(
        _ condition: PutCondition, at key: ObjectKey, over current: ObjectRecord?, _ operation: String
    ) throws(StoreError) {
        guard let current else { return }
        if condition == .ifAbsent {
            throw StoreError(
                .alreadyExists, operation: operation, key: key.rawValue, message: "an object is stored under this key")
        }
        if current.isArchived(at: now()) { throw Self.archived(key, current, operation: operation) }
    }

    /// The second look and the commit of a new object, whose bytes lie in `staging/`. The key is locked.
    /// - Parameter record: all but its `file`.
    func commit(
        _ staged: StagedPut, _ record: ObjectRecord, at key: ObjectKey, _ condition: PutCondition, _ operation: String
    ) throws {
        let current = try self.record(key, operation)
        try requireAllowed(condition, at: key, over: current, operation)

        let record = try place(staged, for: key, record, operation)
        do {
            try onStep(.placed)
            if let current { try Disk.write(current.json(), to: staged.replaced) }
            try publish(staged.record, at: layout.record(for: key))
        } catch {
            removeContent(record)
            throw error
        }
        try onStep(.committed)
        if let current, !takePlainName(of: current, for: record, at: key, staged) {
            removeContent(current)
            try? Disk.remove(staged.replaced)
        }
    }

    /// Gives a new version the plain name of its key, which the one before had: it is where people look, and web servers
    /// that are pointed at `objects/`. The name is never without a file. `staging/` names both files all the while.
    /// - Returns: `false` when the version keeps the name that it has, and the one before is to be removed.
    private func takePlainName(
        of replaced: ObjectRecord, for record: ObjectRecord, at key: ObjectKey, _ staged: StagedPut
    ) -> Bool {
        guard record.file != replaced.file,
            FilePath(replaced.file).lastComponent?.string == ContentName.plain(key.lastSegment)
        else { return false }
        var renamed = record
        renamed.file = replaced.file
        do {
            try Disk.write(renamed.json(), to: staged.record)
            try Disk.remove(staged.replaced)
            try Disk.write(record.json(), to: staged.replaced)
            try onStep(.renaming)
            // A second name for the same bytes. Where the file system has none, the version keeps the one that it has.
            try Disk.link(layout.content(record), to: staged.content)
            try Disk.rename(staged.content, to: layout.content(renamed))
            try Disk.syncFolder(layout.content(renamed).removingLastComponent())
            try onStep(.renamed)
        } catch {
            staged.removeAll()
            return false
        }
        do {
            try publish(staged.record, at: layout.record(for: key))
            try onStep(.recommitted)
        } catch {
            // Which of the two names counts is for the disk to say: a later process removes the other.
            return true
        }
        removeContent(record)
        try? Disk.remove(staged.replaced)
        return true
    }

    /// Writes what is known of an object anew: one rename, and its bytes stay as they are. The key is locked.
    func rewrite(_ record: ObjectRecord, at key: ObjectKey) throws {
        try staging { staged in
            try Disk.write(record.json(), to: staged.record)
            try onStep(.recorded)
            try publish(staged.record, at: layout.record(for: key))
            try onStep(.committed)
        }
    }

    /// Moves the bytes to a free name below `objects/` and syncs it, with the record in `staging/` first.
    /// - Returns: the record, with its `file`.
    private func place(
        _ staged: StagedPut, for key: ObjectKey, _ record: ObjectRecord, _ operation: String
    ) throws -> ObjectRecord {
        var record = record
        var takesPlainName = true
        for _ in 0..<16 {
            let folder = try makeContentFolder(for: key)
            let path = try freeName(in: folder, for: key, id: staged.id, takesPlainName: takesPlainName)
            record.file = path.string
            try Disk.remove(staged.record)
            try Disk.write(record.json(), to: staged.record)
            try onStep(.recorded)
            switch try move(staged.content, to: layout.objects.pushing(path)) {
            case .done: return record
            case .nameTaken: takesPlainName = false
            case .folderGone: continue
            }
        }
        throw StoreError(
            .conflict, operation: operation, key: key.rawValue,
            message: "its folder is removed again and again; try again")
    }

    private func freeName(
        in folder: FilePath, for key: ObjectKey, id: String, takesPlainName: Bool
    ) throws(FileError) -> FilePath {
        if takesPlainName, let name = ContentName.plain(key.lastSegment) {
            let path = folder.appending(name)
            if try !Disk.exists(layout.objects.pushing(path)) { return path }
        }
        return folder.appending(ContentName.fileSubstitute(key.lastSegment, id: id))
    }

    private enum Move {
        case done
        /// A put of a key below this one has just made a folder of that name.
        case nameTaken
        /// A delete has just pruned the folder.
        case folderGone
    }

    private func move(_ content: FilePath, to path: FilePath) throws(FileError) -> Move {
        do throws(FileError) {
            try Disk.rename(content, to: path)
        } catch {
            if error.errno == .isDirectory { return .nameTaken }
            guard error.isMissing, try Disk.exists(content) else { throw error }
            return .folderGone
        }
        do throws(FileError) {
            try Disk.syncFolder(path.removingLastComponent())
        } catch {
            try? Disk.remove(path)
            throw error
        }
        return .done
    }

    /// Makes the folders below `objects/` that a key's file stands in; relative to `objects/`.
    private func makeContentFolder(for key: ObjectKey) throws -> FilePath {
        var folder = FilePath()
        for segment in key.rawValue.split(separator: "/").dropLast() {
            if let plain = ContentName.plain(segment) {
                let candidate = layout.objects.pushing(folder).appending(plain)
                if try makeSyncedFolder(candidate) {
                    folder.append(plain)
                    continue
                }
            }
            folder.append(ContentName.folderSubstitute(segment))
            guard try makeSyncedFolder(layout.objects.pushing(folder)) else {
                throw FileError(call: "mkdir", path: layout.objects.pushing(folder), errno: .notDirectory)
            }
        }
        return folder
    }

    /// `false` when something that is no folder has the name. A folder above may vanish meanwhile: then the caller's
    /// rename fails and is tried again.
    private func makeSyncedFolder(_ path: FilePath) throws -> Bool {
        do throws(FileError) {
            if try Disk.makeFolder(path) {
                try Disk.syncFolder(path.removingLastComponent())
                return true
            }
        } catch {
            guard error.isMissing else { throw error }
            return true
        }
        return Disk.folderStatus(path) != nil
    }

    /// The commit: renames a staged record to its place and syncs the folder.
    private func publish(_ staged: FilePath, at path: FilePath) throws {
        for _ in 0..<16 {
            try makeFolders(above: path)
            do throws(FileError) {
                try Disk.rename(staged, to: path)
            } catch {
                guard error.isMissing, try Disk.exists(staged) else { throw error }
                continue
            }
            try Disk.syncFolder(path.removingLastComponent())
            return
        }
        throw FileError(call: "rename", path: path, errno: .noSuchFileOrDirectory)
    }

    private func makeFolders(above path: FilePath) throws {
        let folder = path.removingLastComponent()
        guard try folder != layout.records && !Disk.exists(folder) else { return }
        try makeFolders(above: folder)
        _ = try makeSyncedFolder(folder)
    }

    /// Removes the file that a record names, and folders that are empty without it. What cannot be removed stays behind,
    /// and the sweep comes to it: the object itself is decided by then.
    func removeContent(_ record: ObjectRecord) {
        let path = layout.content(record)
        try? Disk.remove(path)
        Disk.prune(path.removingLastComponent(), upTo: layout.objects)
    }
}

/// The files of one put in `staging/`.
struct StagedPut {
    let id: String
    let content: FilePath
    let record: FilePath
    /// A copy of the record that is replaced: it names the old file until that is removed.
    let replaced: FilePath

    init(id: String, layout: StoreLayout) {
        self.id = id
        content = layout.staging.appending("\(id).data")
        record = layout.staging.appending("\(id).json")
        replaced = layout.staging.appending("\(id)-replaced.json")
    }

    func removeAll() {
        for path in [content, record, replaced] { try? Disk.remove(path) }
    }
}
