import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Deletes projects: what is stored of them, their records in `projects.json`, and their files, in this order. Whatever
/// fails is named, and leaves the rest of that project as it is: asked again, it goes on from there. Where the records
/// cannot be taken out, nothing is deleted, or, where that shows too late, stored anew. Where a file cannot be deleted,
/// nothing is either, or, where that shows too late, the project stays one that is being deleted. What another machine
/// needs stays in the store, and is told.
package struct ProjectRemover: Sendable {
    /// A project in one folder, and all that goes with it.
    package struct Target: Hashable, Sendable {
        package var id: String
        package var folder: FilePath
        /// `nil` when only files or objects are left of it.
        package var record: ProjectRecord?
        /// On the disk, absolute.
        package var files: [FilePath]
        /// In the store: image, metadata, and earlier images, but for those that are what another file is stored as.
        package var keys: [ObjectKey]
        /// What other machines need, and is none of the keys therefore: it stays in the store. Their catalogues name it,
        /// or it is an earlier state of which nobody knows that this machine has stored it.
        package var needed: [ObjectKey] = []
        /// Of the keys, earlier states that this machine has stored.
        package var own: Set<ObjectKey> = []
        /// Why nobody knows what other machines need, in plain words: nothing of it is deleted then.
        package var doubt: String?
    }

    package struct Outcome: Hashable, Sendable {
        package var target: Target
        /// What failed, in plain words; empty when the project is gone.
        package var failures: [String]
    }

    /// How often, and how soon, a list that another program changes meanwhile is looked at again.
    private static let attempts = 200
    private static let pause = Duration.milliseconds(20)

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let keys: KeyLayout
    private let others: OtherReferences
    private let listSync: ProjectListSync
    private let scanner: any TreeScanner
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - others: what other machines need.
    ///   - pool: threads that wait for disks.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, keys: KeyLayout, others: OtherReferences,
        listSync: ProjectListSync,
        scanner: any TreeScanner, pool: BlockingPool, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        self.keys = keys
        self.others = others
        self.listSync = listSync
        self.scanner = scanner
        self.pool = pool
        self.time = time
    }

    /// What there is of a project; nothing when nobody knows it.
    /// - Throws: ``StoreError``, ``LedgerError``, ``ScanError``, `CancellationError`.
    package func find(_ id: String, in folders: [FilePath]) async throws -> [Target] {
        // What cannot be in a key is no project's id.
        guard (try? ObjectKey(segments: [id])) != nil else { return [] }
        let stored = try await objects(of: id)
        var targets: [Target] = []
        var unnamed: Target?
        for folder in folders {
            let objects = try await leavingOut(othersOf: id, in: folder, among: stored)
            let (known, isLeft, files) = try await pool.run { [listSync, ledger = ledger.ledger] in
                try listSync.refresh(folder)
                return (
                    try ledger.project(id, in: folder),
                    try ledger.isProjectBeingDeleted(id, in: folder),
                    try Self.files(of: id, in: folder)
                )
            }
            let target = Target(id: id, folder: folder, record: known?.record, files: files, keys: objects)
            if known != nil || isLeft || !files.isEmpty {
                targets.append(target)
            } else if unnamed == nil, !objects.isEmpty {
                unnamed = target
            }
        }
        return targets.isEmpty ? [unnamed].compactMap(\.self) : targets
    }

    /// The targets without what other machines need: for whoever is asked. ``remove(_:)`` looks again.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func weighed(_ targets: [Target]) async throws -> [Target] {
        let claims = try await ProjectClaims(on: targets.flatMap { $0.keys + $0.needed }, others, ledger, store)
        return targets.map { $0.weighed(by: claims) }
    }

    /// - Throws: ``StoreError`` of a store that is away as a whole, before anything is done; ``LedgerError``;
    ///   `CancellationError`.
    package func remove(_ targets: [Target]) async throws -> [Outcome] {
        try await store.check()
        var outcomes: [Outcome] = []
        for (folder, targets) in Dictionary(grouping: targets, by: \.folder).sorted(by: {
            $0.key.string < $1.key.string
        }) {
            outcomes += try await remove(targets, from: folder)
        }
        return outcomes
    }

    private func remove(_ targets: [Target], from folder: FilePath) async throws -> [Outcome] {
        if let reason = try await whyAway(folder) {
            return targets.map { Outcome(target: $0, failures: ["\(reason). \(Self.awayRemedy)"]) }
        }
        var outcomes: [Outcome] = []
        var free: [Target] = []
        for target in targets {
            let held = try await heldFiles(of: target)
            if let doubt = target.doubt {
                outcomes.append(Outcome(target: target, failures: [doubt]))
            } else if held.isEmpty {
                free.append(target)
            } else {
                outcomes.append(Outcome(target: target, failures: held))
            }
        }
        guard !free.isEmpty else { return outcomes }
        return outcomes + (try await removeFree(free, from: folder))
    }

    /// Those of which every file can be deleted, as far as one can tell.
    private func removeFree(_ targets: [Target], from folder: FilePath) async throws -> [Outcome] {
        let ids = targets.map(\.id)
        if let refusal = try await obstacle(to: Set(ids.map(\.inBytes)), in: folder) {
            return targets.map { Outcome(target: $0, failures: [refusal]) }
        }
        let busy = try await ledger { [time] in try $0.beginProjectDeletion(ids, in: folder, at: time.now()) }
        var outcomes = targets.filter { busy.contains($0.id.inBytes) }.map {
            Outcome(target: $0, failures: ["it is being stored at this moment; delete it again when that is done"])
        }
        var due: [Target] = []
        for var target in targets where !busy.contains(target.id.inBytes) {
            // Listed again: an image may have been stored since somebody was asked.
            target.keys = try await leavingOut(
                othersOf: target.id, in: folder, among: try await objects(of: target.id))
            target.needed = []
            due.append(target)
        }
        for target in try await weighed(due) {
            outcomes.append(Outcome(target: target, failures: try await removeObjects(of: target)))
        }
        let isWithoutObjects = Set(outcomes.filter { $0.failures.isEmpty }.map(\.target.id.inBytes))
        guard !isWithoutObjects.isEmpty else { return outcomes }
        let refusal = try await removeRecords(isWithoutObjects, from: folder)
        if refusal != nil {
            try await ledger.finish { [time] in
                try $0.callOffProjectDeletion(isWithoutObjects, in: folder, at: time.now())
            }
        }
        for index in outcomes.indices where outcomes[index].failures.isEmpty {
            if let refusal {
                let isGone = !outcomes[index].target.keys.isEmpty
                outcomes[index].failures.append(refusal + (isGone ? Self.isStoredAnew : ""))
            } else {
                outcomes[index].failures += try await finish(outcomes[index].target)
            }
        }
        try await finishOnDisk { [listSync] in _ = try listSync.refresh(folder, isUrgent: true) }
        return outcomes
    }

    private static let awayRemedy =
        "Nothing was deleted now; mount its drive, or, were they removed on purpose, put a file (a note) into it. Then "
        + "give sync-agent projects delete again"
    private static let isBeingDeleted = "; then give sync-agent projects delete again"
    private static let isStoredAnew =
        "; what was stored of it is deleted: the next pass stores its image anew, and earlier ones are gone"

    /// Why what is not seen of a folder's projects may be there all the same: on a drive that is not mounted, or in whose
    /// place another one is. They would come back with it.
    private func whyAway(_ folder: FilePath) async throws -> String? {
        try await pool.run { [scanner, ledger = ledger.ledger] in
            guard let record = try ledger.watchedFolder(at: folder) else { return nil }
            return try FolderPresence(ledger: ledger, scanner: scanner).check(record, isForGood: true)
                .whyAway(FilePath(ProjectFileName.listName))
        }
    }

    /// Files that could not be deleted once all else is gone, and why, as far as one can tell.
    private func heldFiles(of target: Target) async throws -> [String] {
        try await pool.run {
            do {
                return try Self.files(of: target.id, in: target.folder).compactMap { file in
                    file.removalObstacle.map { "\(Self.kept(file, $0)); nothing was deleted now" }
                }
            } catch {
                return ["\(error)"]
            }
        }
    }

    private static func kept(_ file: FilePath, _ reason: String) -> String { "\(file): cannot be removed: \(reason)" }

    /// Why the records could not be taken out of the list, once all else is gone.
    private func obstacle(to ids: Set<ByteString>, in folder: FilePath) async throws -> String? {
        let file = ProjectListFile(in: folder)
        return try await tryOften { try file.requireRemovable(ids) }
    }

    /// - Returns: why the list is not as it is to be; `nil` when it is.
    private func tryOften(_ look: @escaping @Sendable () throws -> ProjectListFile.Attempt) async throws -> String? {
        var reason: String?
        for number in 0..<Self.attempts {
            if number > 0 { try await time.sleep(Self.pause) }
            switch await pool.finish({ Result { try look() } }) {
            case .success(.done): return nil
            case .success(.again(let refusal)): reason = refusal.description
            case .failure(let error): return "\(error)"
            }
        }
        return reason
    }

    private func removeObjects(of target: Target) async throws -> [String] {
        if let doubt = target.doubt { return [doubt] }
        let (keys, own) = (target.keys, target.own)
        let known = keys + target.needed
        guard !known.isEmpty else { return [] }
        // First: nothing is called stored that is not there, whenever this ends. What the store keeps is in its listing.
        // What another machine needs is no longer this one's: its catalogue would hold it for the other one, else.
        // Whose it is stays known until it is gone: asked again, this finds it among the other machine's.
        try await ledger.finish { try $0.forgetProjectObjects(known, remembering: own) }
        guard !keys.isEmpty else { return [] }
        do {
            let failures = try await store.delete(keys)
            let gone = own.filter { failures[$0] == nil }.sorted()
            if !gone.isEmpty { try await ledger.finish { try $0.forgetProjectObjects(gone) } }
            return failures.sorted { $0.key < $1.key }.map { "\($0.value)" }
        } catch let error as StoreError {
            return ["\(error)"]
        }
    }

    /// - Returns: why they could not be taken out.
    private func removeRecords(_ ids: Set<ByteString>, from folder: FilePath) async throws -> String? {
        let file = ProjectListFile(in: folder)
        return try await tryOften { [scanner, listSync] in
            for kept in try file.settle(isBeingWritten: scanner.isBeingWritten) { listSync.logKept(kept) }
            return try file.remove(ids, isBeingWritten: scanner.isBeingWritten)
        }
    }

    private func finish(_ target: Target) async throws -> [String] {
        try await finishOnDisk { [time, ledger = ledger.ledger] in
            let files: [FilePath]
            do throws(ScanError) {
                files = try Self.files(of: target.id, in: target.folder)
            } catch {
                return ["\(error)"]
            }
            let failures = files.compactMap { file in file.removeFile().map { Self.kept(file, $0) } }
            guard failures.isEmpty else { return failures.map { $0 + Self.isBeingDeleted } }
            try ledger.forgetProjectFiles(files.compactMap(\.lastComponent), in: target.folder)
            try ledger.endProjectDeletion(target.id, in: target.folder, at: time.now())
            return []
        }
    }

    /// For what has to be done whether the task was cancelled or not, and may wait for a disk.
    private func finishOnDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await pool.finish { Result { try work() } }.get()
    }

    // MARK: What there is

    private func objects(of id: String) async throws -> [ObjectKey] {
        let versions = try keys.projectVersions(id)
        let folder = try keys.projectFile(ProjectFileName.listName).rawValue.dropLast(ProjectFileName.listName.count)
        let depth = folder.utf8.count
        return try await store.all(below: folder + id).keys.filter { key in
            let name = String(decoding: key.rawValue.utf8.dropFirst(depth), as: UTF8.self)
            // Those of the list stay, also where a project has its name, those of other files in the folder, and what
            // somebody has put there.
            if key.isBelow(versions) {
                return key.folder.inBytes == versions.inBytes && VersionedFile(ofVersion: key)?.project != nil
            }
            return !name.utf8.contains(UInt8(ascii: "/")) && Self.isFile(name, of: id)
        }
    }

    /// What is the stored copy of another file stays: removed, that would be stored nowhere.
    private func leavingOut(
        othersOf id: String, in folder: FilePath, among objects: [ObjectKey]
    ) async throws -> [ObjectKey] {
        let versions = try keys.projectVersions(id)
        let inUse = try await ledger {
            try $0.projectVersionsInUse(below: versions, besidesFilesOf: (id: id, folder: folder))
        }
        return objects.filter { !inUse.contains($0) }
    }

    private static func isFile(_ name: String, of id: String) -> Bool {
        ProjectFileName(name).id?.inBytes == id.inBytes
    }

    /// - Throws: ``ScanError`` of a folder that cannot be listed: nobody knows then what is in it.
    private static func files(of id: String, in folder: FilePath) throws(ScanError) -> [FilePath] {
        do throws(Errno) {
            let names = try Folder.names(in: folder) ?? []
            return names.filter { isFile($0.string, of: id) }.sorted { $0.string < $1.string }.map {
                folder.appending($0)
            }
        } catch {
            let fault = FileFault(error, or: "look after its disk")
            throw ScanError(.failed, path: folder, message: "cannot be listed: \(fault.message)")
        }
    }
}
