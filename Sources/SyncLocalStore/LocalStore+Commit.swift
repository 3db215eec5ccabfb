import SyncCore
import SyncSystem
import SystemPackage

/// What failed when the record was renamed already: the object is stored, and nothing of it may be removed any more.
struct FailureAfterCommit: Error {
    let reason: any Error
}

extension LocalStore {
    /// Runs `body` with names in `staging/`; when it throws before its commit, nothing stays there.
    func staging<Value>(_ body: (StagedPut) throws -> Value) throws -> Value {
        let staged = StagedPut(id: hexID(), layout: layout)
        return try clearing(staged) { try body(staged) }
    }

    /// Runs a step of a put. When it throws before the commit, nothing of the put stays in `staging/`.
    func clearing<Value>(_ staged: StagedPut, _ step: () throws -> Value) throws -> Value {
        do {
            return try step()
        } catch let failure as FailureAfterCommit {
            throw failure.reason
        } catch {
            staged.removeAll()
            throw error
        }
    }

    /// The second look and the commit of a new object, whose bytes lie in `staging/`. The key is locked.
    /// - Parameter record: all but its `file`.
    func commit(
        _ staged: StagedPut, _ record: CommitRecord, at key: ObjectKey, _ condition: PutCondition, _ operation: String,
        _ flag: CancellationFlag
    ) throws {
        let current = try requireAllowed(condition, at: key, operation, flag)
        try requireSameStore(operation)
        let record = try place(staged, for: key, record, besides: current, operation, flag)
        do {
            try onStep(.placed)
            if let current { try Disk.write(current.json(), to: staged.replaced) }
            try publish(staged.record, record, at: key)
        } catch {
            try withdraw(record, at: key, after: error)
            throw error
        }
        try syncCommit(of: key)
        if let current, !takePlainName(of: current, for: record, at: key, staged) {
            removeContent(current, named: staged.replaced)
        }
    }

    /// Gives a new version the plain name of its key, which the one before had: it is where people look, and web servers
    /// that are pointed at `objects/`. The name is never without a file. `staging/` names both files all the while.
    /// - Returns: `false` when the version keeps the name that it has, and the one before is to be removed.
    private func takePlainName(
        of replaced: CommitRecord, for record: CommitRecord, at key: ObjectKey, _ staged: StagedPut
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
            try syncFolder(layout.content(renamed).removingLastComponent())
            try onStep(.renamed)
            try publish(staged.record, renamed, at: key)
        } catch {
            do {
                try withdraw(renamed, at: key, after: error)
                staged.removeAll()
            } catch {
                // Which of the two names counts is for the disk to say: a later process removes the other.
            }
            return true
        }
        do {
            try syncCommit(of: key, as: .recommitted)
        } catch {
            // Both names are there until the key is settled.
            return true
        }
        removeContent(record, named: staged.replaced)
        return true
    }

    /// Writes what is known of an object anew: one rename, and its bytes stay as they are. The key is locked and settled.
    func rewrite(_ record: CommitRecord, at key: ObjectKey, _ operation: String) throws {
        try requireSameStore(operation)
        try staging { staged in
            try Disk.write(record.json(), to: staged.record)
            try onStep(.recorded)
            try publish(staged.record, record, at: key)
            try syncCommit(of: key)
        }
    }

    /// Moves the bytes to a free name below `objects/` and syncs it, with the record in `staging/` first.
    /// - Returns: the record, with its `file`.
    private func place(
        _ staged: StagedPut, for key: ObjectKey, _ record: CommitRecord, besides current: CommitRecord?,
        _ operation: String, _ flag: CancellationFlag
    ) throws -> CommitRecord {
        var record = record
        var takesPlainName = true
        for attempt in 0..<16 {
            let folder = try makeContentFolder(for: key)
            record.file = try freeName(
                in: folder, for: key, record, besides: current, id: staged.id, takesPlainName: takesPlainName, flag
            ).string
            if attempt > 0 { try Disk.remove(staged.record) }
            try Disk.write(record.json(), to: staged.record)
            try onStep(.recorded)
            switch try move(staged.content, to: layout.content(record)) {
            case .done: return record
            case .nameTaken: takesPlainName = false
            case .folderGone:
                // A delete that prunes the folder at just this moment does not come time after time.
                if attempt >= 2, let error = try refusedName(of: record) { throw error }
            }
        }
        throw StoreError(
            .conflict, operation: operation, key: key.rawValue,
            message: "its folder is removed again and again; try again")
    }

    /// The plain name, unless something else has it. The version that is to be replaced has its name until the new one is
    /// committed, also when its bytes are gone.
    func freeName(
        in folder: FilePath, for key: ObjectKey, _ record: CommitRecord, besides current: CommitRecord?, id: String,
        takesPlainName: Bool, _ flag: CancellationFlag
    ) throws -> FilePath {
        if takesPlainName, let name = ContentName.plain(key.lastSegment) {
            let path = folder.appending(name)
            if path.string != current?.file {
                let file = layout.objects.pushing(path)
                if try !Disk.exists(file) || (holdsSameBytes(file, record, flag) && ownsPlainNames) { return path }
            }
        }
        return folder.appending(ContentName.fileSubstitute(key.lastSegment, id: id))
    }

    /// Whether a file that no record names has these bytes already: a record was lost, and the object is stored again.
    private func holdsSameBytes(_ path: FilePath, _ record: CommitRecord, _ flag: CancellationFlag) -> Bool {
        guard let stamp = try? Disk.stamp(path), stamp.size == record.size else { return false }
        return (try? digest(of: path, flag).digest.description) == record.sha256
    }

    /// What keeps the file's name from being made in a folder that is there: some file systems say of a name that they
    /// do not take what others say of a folder that is gone.
    private func refusedName(of record: CommitRecord) throws -> FileError? {
        var path = layout.objects
        for component in FilePath(record.file).components {
            path.append(component)
            if try Disk.exists(path) { continue }
            let error = FileError(call: "rename", path: path, errno: .noSuchFileOrDirectory, isFolderThere: true)
            return error.nameRefusal == nil ? nil : error
        }
        return nil
    }

    private enum Move {
        case done
        /// A put of a key below this one has just made a folder of that name.
        case nameTaken
        /// A delete has just pruned the folder.
        case folderGone
    }

    private func move(_ content: FilePath, to path: FilePath) throws -> Move {
        do throws(FileError) {
            try Disk.rename(content, to: path)
        } catch {
            if error.errno == .isDirectory { return .nameTaken }
            guard error.isMissing, try Disk.exists(content) else { throw error }
            return .folderGone
        }
        do {
            try syncFolder(path.removingLastComponent())
        } catch {
            // No record names it yet.
            try? Disk.remove(path)
            throw error
        }
        return .done
    }

    /// The commit: renames a staged record to its place. `staging/` names it until the folders are synced.
    /// - Throws: when it did not happen; ``withdraw(_:at:after:)`` tells for sure.
    func publish(_ staged: FilePath, _ record: CommitRecord, at key: ObjectKey) throws {
        let path = layout.record(for: key)
        for _ in 0..<16 {
            try makeRecordFolder(for: key)
            try note(staged, record, as: key)
            do throws(FileError) {
                try Disk.rename(staged, to: path)
            } catch {
                guard error.isMissing, try Disk.exists(staged) else { throw error }
                continue
            }
            return
        }
        throw FileError(call: "rename", path: path, errno: .noSuchFileOrDirectory)
    }

    /// After the commit: syncs its folder. From here on nothing is removed, whatever fails: what was renamed may be on the
    /// disk or not, and readers see it.
    private func syncCommit(of key: ObjectKey, as step: LocalStoreStep = .committed) throws {
        do {
            try syncFolder(layout.record(for: key).removingLastComponent())
            try Disk.remove(layout.unsettled(key))
            try onStep(step)
        } catch {
            throw FailureAfterCommit(reason: error)
        }
    }

    /// Takes back bytes whose commit has failed. A rename that reported a failure may have happened all the same (on
    /// network file systems): the bytes go only when the record that is there can be read, and names others.
    func withdraw(_ record: CommitRecord, at key: ObjectKey, after error: any Error) throws {
        guard case .some(let found) = try? lookup(key), found.isOfKey, found.object?.file != record.file else {
            throw FailureAfterCommit(reason: error)
        }
        removeContent(record, named: layout.unsettled(key))
    }

    /// Removes the file that a record names, and then the entry of `staging/` that names it, too. What cannot be removed
    /// keeps that entry, and the sweep comes to it: the object itself is decided by then.
    private func removeContent(_ record: CommitRecord, named note: FilePath) {
        do {
            try removeContent(record)
            try Disk.remove(note)
        } catch {
            // Of no interest to whoever has put an object.
        }
    }

    func removeContent(_ record: CommitRecord) throws {
        try removeContent(layout.content(record))
    }

    /// Removes a file, and the folders that are empty without it. It does not come back after a power failure: what names
    /// the file in `staging/` may go then.
    func removeContent(_ path: FilePath) throws {
        try Disk.remove(path)
        Disk.prune(path.removingLastComponent(), upTo: layout.objects)
        try syncFolders(above: path, below: layout.objects)
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

/// What a commit owes until its folders are synced.
///
/// A rename is seen at once, and is on the disk when its folder is synced. In between a sync may fail, or the process may
/// be killed: whoever looks then sees an object that a power failure can take away. So each commit leaves a note in
/// `staging/` (a second name of the record) that is removed after the sync. Nothing is called stored, or gone, while its
/// key has a note: the folders are synced first, by whichever process comes to it.
extension LocalStore {
    /// Leaves the note. The key is locked and settled.
    /// - Parameter path: where the record lies.
    func note(_ path: FilePath, _ record: CommitRecord, as key: ObjectKey) throws {
        let note = layout.unsettled(key)
        do throws(FileError) {
            try Disk.remove(note)
            try Disk.link(path, to: note)
        } catch {
            guard error.meansNoLinks else { throw error }
            try Disk.write(record.json(), to: note)
        }
    }

    /// Makes up for what an earlier commit of the key owes. The key need not be locked.
    /// - Returns: whether something was made up for: what was read of the key before may be otherwise now.
    @discardableResult
    func settleIfOwed(_ key: ObjectKey) throws -> Bool {
        guard try Disk.exists(layout.unsettled(key)) else { return false }
        do {
            try locked(key) { try settle(key) }
            return true
        } catch let error as FileError where error.errno == .readOnlyFileSystem || error.isOfRemoval {
            // Nobody can change anything there, or bytes that are nobody's any more cannot be removed now: to readers that
            // is nothing. What was not written before the disk became read-only fails here.
            try syncFolders(above: layout.record(for: key), below: layout.records)
            if let record = try lookup(key).object {
                try syncFolders(above: layout.content(record), below: layout.objects)
            }
            return false
        }
    }

    /// As ``settleIfOwed(_:)``, for a key that is locked.
    func settle(_ key: ObjectKey) throws {
        let note = layout.unsettled(key)
        guard try Disk.exists(note) else { return }
        let path = layout.record(for: key)
        try syncFolders(above: path, below: layout.records)
        let found = try lookup(key)
        if let record = found.object { try syncFolders(above: layout.content(record), below: layout.objects) }
        // What is noted and not named any more was deleted, or never committed.
        if found.isOfKey, let json = try Disk.read(note, atMost: CommitRecord.maximumSize),
            let noted = CommitRecord(json: json), noted.key == key.rawValue, noted.file != found.object?.file
        {
            try removeContent(noted)
        }
        if found.isAbsent { Disk.prune(path.removingLastComponent(), upTo: layout.records) }
        try Disk.remove(note)
    }
}

extension FileError {
    /// What is nobody's any more stays where it is.
    var isOfRemoval: Bool { call == "unlink" }

    /// The file system has no hard links, or this file has as many as it may have.
    fileprivate var meansNoLinks: Bool {
        call == "link"
            && [.notPermitted, .notSupported, .notSupportedOnSocket, .noFunction, .tooManyLinks].contains(errno)
    }
}
