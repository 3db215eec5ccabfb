package import SyncCore
import SyncDigest
import SystemPackage

extension LocalStore {
    package func put(
        _ body: ObjectBody, at key: ObjectKey, attributes: ObjectAttributes, condition: PutCondition
    ) async throws -> PutReceipt {
        try await perform("put", key.rawValue) { store, flag in
            // Before anything is copied; what counts is the second look, under the lock.
            try store.requireAllowed(condition, at: key, over: store.record(key, "put"))
            let staged = StagedPut(id: store.hexID(), layout: store.layout)
            do {
                try store.stage(body, for: key, to: staged.content, flag)
                try store.onStep(.staged)
                try flag.check()
                return try store.locked(key) {
                    try store.commit(staged, body, key, attributes, condition)
                }
            } catch {
                staged.removeAll()
                throw error
            }
        }
    }

    private func requireAllowed(
        _ condition: PutCondition, at key: ObjectKey, over current: ObjectRecord?
    ) throws(StoreError) {
        guard let current else { return }
        if condition == .ifAbsent {
            throw StoreError(
                .alreadyExists, operation: "put", key: key.rawValue, message: "an object is stored under this key")
        }
        if current.isArchived(at: now()) { throw Self.archived(key, current, operation: "put") }
    }

    /// Copies the body into `staging/`, proves its digests and syncs it.
    private func stage(
        _ body: ObjectBody, for key: ObjectKey, to path: FilePath, _ flag: CancellationFlag
    ) throws {
        let target = try OpenFile(path, .create)
        let digest: ContentDigest
        switch body.source {
        case .bytes(let bytes):
            try onStep(.writing)
            try target.write(bytes)
            digest = ContentDigest(of: bytes)
        case .file(let source, let stamp):
            digest = try SourceFile.read(source, stamp: stamp, for: key) { piece in
                try flag.check()
                try onStep(.writing)
                try target.write(piece)
            }
        }
        guard digest == body.digest else {
            throw StoreError(
                .badDigest, operation: "put", key: key.rawValue,
                message: "the bytes have SHA-256 \(digest.sha256) instead of \(body.digest.sha256); nothing was stored")
        }
        try target.sync()
    }

    /// The second look and the commit. The key is locked.
    private func commit(
        _ staged: StagedPut, _ body: ObjectBody, _ key: ObjectKey, _ attributes: ObjectAttributes,
        _ condition: PutCondition
    ) throws -> PutReceipt {
        let current = try record(key, "put")
        try requireAllowed(condition, at: key, over: current)

        var record = ObjectRecord(
            key: key.rawValue, file: "", size: body.size, md5: body.digest.md5.description,
            sha256: body.digest.sha256.description, contentType: attributes.contentType,
            storageClass: attributes.storageClass.rawValue, metadata: attributes.metadata, modified: now())
        try place(staged, for: key, &record)
        do {
            try onStep(.placed)
            if let current { try Disk.write(current.json(), to: staged.replaced) }
            try publish(staged.record, at: layout.record(for: key))
        } catch {
            removeContent(record)
            throw error
        }
        try onStep(.committed)
        if let current {
            removeContent(current)
            try? Disk.remove(staged.replaced)
        }
        return PutReceipt(md5: body.digest.md5, sha256: body.digest.sha256)
    }

    /// Moves the bytes to a free name below `objects/` and syncs it, with the record in `staging/` first. Sets the
    /// record's `file`.
    private func place(_ staged: StagedPut, for key: ObjectKey, _ record: inout ObjectRecord) throws {
        var takesPlainName = true
        for _ in 0..<16 {
            let folder = try makeContentFolder(for: key)
            let path = try freeName(in: folder, for: key, id: staged.id, takesPlainName: takesPlainName)
            record.file = path.string
            try Disk.remove(staged.record)
            try Disk.write(record.json(), to: staged.record)
            try onStep(.recorded)
            switch try move(staged.content, to: layout.objects.pushing(path)) {
            case .done: return
            case .nameTaken: takesPlainName = false
            case .folderGone: continue
            }
        }
        throw StoreError(
            .conflict, operation: "put", key: key.rawValue, message: "its folder is removed again and again; try again")
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
