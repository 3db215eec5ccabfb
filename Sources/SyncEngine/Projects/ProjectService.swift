package import FoundationEssentials
package import Logging
import ServiceLifecycle
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Looks after projects folders now and then: lists that changed unnoticed, and projects that are given up.
package struct ProjectService: Service {
    private static let interval = Duration.seconds(600)

    private let folders: [FolderRecord]
    private let listSync: ProjectListSync
    private let disks: DiskLanes
    private let work: Wakeup
    private let loop: ServiceLoop

    /// - Parameters:
    ///   - disks: those of the intake.
    ///   - work: signalled when files may have come due.
    package init(
        folders: [FolderRecord], listSync: ProjectListSync, disks: DiskLanes, work: Wakeup, patience: LedgerPatience,
        time: TimeSource
    ) {
        self.folders = folders.filter { $0.kind == .projects }
        self.listSync = listSync
        self.disks = disks
        self.work = work
        loop = ServiceLoop(name: "projects", interval: Self.interval, patience: patience, time: time)
    }

    package func run() async throws {
        // One that does not answer holds up no other.
        let groups = folders.isEmpty ? [[]] : disks.groups(of: folders)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for folders in groups {
                group.addTask {
                    try await loop.run {
                        try await refreshAll(folders)
                        return .round(after: Self.interval)
                    }
                }
            }
            try await group.waitForAllOrFirstFailure()
        }
    }

    /// One look at every folder.
    /// - Parameter silent: folders that do not answer, and are left out.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func round(leavingOut silent: Set<FilePath> = []) async throws {
        try await refreshAll(folders.filter { !silent.contains($0.path) })
    }

    private func refreshAll(_ folders: [FolderRecord]) async throws {
        for folder in folders {
            try await disks.pool(for: folder.path).run { [listSync] in
                try listSync.refresh(folder.path, isUrgent: true)
                try listSync.giveUp(in: folder.path)
            }
        }
        if !folders.isEmpty { work.signal() }
    }
}

/// Keeps the ledger up to the `projects.json` of each folder. The last good state counts: a file that is half-written or
/// damaged changes nothing, and is told once.
package final class ProjectListSync: Sendable {
    /// A file that is rewritten all the time is read no more often.
    private static let interval = Duration.seconds(1)

    private let ledger: Ledger
    private let time: TimeSource
    private let logger: Logger
    /// When each folder's list was read last. A folder has a lock of its own: another one's disk may not answer.
    private let lastReads = Lock<[FilePath: Lock<Duration?>]>([:])
    private let told = Lock<[FilePath: Set<ByteString>]>([:])
    private let unusable = Lock<[FilePath: Unusable]>([:])

    /// Records of one state of a list that cannot be used, by the ids of their projects.
    private struct Unusable {
        let stamp: FileStamp
        let problems: [ByteString: ProjectList.Problem]
    }

    package init(ledger: Ledger, time: TimeSource, logger: Logger) {
        self.ledger = ledger
        self.time = time
        self.logger = logger
    }

    /// Looks at the list of a folder, and brings the ledger up to it. Blocks.
    /// - Parameter isUrgent: whether to look also when that was done less than a second ago.
    /// - Returns: what is known by now; `nil` when the folder has no list and never had one.
    /// - Throws: ``LedgerError``.
    @discardableResult
    package func refresh(_ folder: FilePath, isUrgent: Bool = false) throws -> ProjectListState? {
        // Whoever comes while the list is read waits for it: before the first one is noted, a folder looks like one that
        // has none, of which all images are stored.
        let lock = lastReads.withLock { locks in
            let lock = locks[folder] ?? Lock<Duration?>(nil)
            locks[folder] = lock
            return lock
        }
        try lock.withLock { readAt in
            let now = time.monotonic()
            if !isUrgent, let last = readAt, now - last < Self.interval { return }
            try read(folder)
            readAt = now
        }
        return try ledger.projectList(of: folder)
    }

    /// Gives up the projects of a folder that have been processing for too long, and tells of each once.
    package func giveUp(in folder: FilePath) throws {
        for record in try ledger.giveUpProjects(in: folder, at: time.now()) {
            logger.warning(
                """
                \(folder): project \(record.id.escapingControls) has been processing for more than 24 h; it is no longer \
                waited for
                """)
        }
    }

    /// What is wrong with the records of projects that have none that can be used, by their ids; nothing of a list that
    /// cannot be read now. Blocks.
    /// - Throws: ``LedgerError``.
    func unusableRecords(in folder: FilePath) throws -> [ByteString: ProjectList.Problem] {
        guard let known = try ledger.projectList(of: folder), known.problem == nil else { return [:] }
        if let held = unusable.withLock({ $0[folder] }), held.stamp == known.stamp { return held.problems }
        // Another process has read this state of it, and the ledger keeps no record that cannot be used.
        guard case .read(let bytes, let stamp) = ProjectListFile(in: folder).read(unless: nil), stamp == known.stamp,
            let list = try? ProjectList(bytes)
        else { return [:] }
        return hold(list, of: folder, stamp)
    }

    private func hold(
        _ list: ProjectList, of folder: FilePath, _ stamp: FileStamp
    ) -> [ByteString: ProjectList.Problem] {
        let problems = list.unusable
        unusable.withLock { $0[folder] = Unusable(stamp: stamp, problems: problems) }
        return problems
    }

    /// Tells of a file that was kept beside a list.
    func logKept(_ kept: FilePath) {
        logger.warning("\(kept): \(ProjectListFile.advice(kept))")
    }

    private func read(_ folder: FilePath) throws {
        let known = try ledger.projectList(of: folder)
        let file = ProjectListFile(in: folder)
        switch file.read(unless: known?.stamp) {
        case .unchanged:
            break
        case .changing:
            // Its images must not be taken for those of a folder without a list.
            if known == nil { try note("it is being written", of: file, in: folder, stamp: .none) }
        case .missing:
            guard known != nil else { return }
            try note("it is gone", of: file, in: folder, stamp: .none)
        case .refused(let reason, let stamp):
            try note(reason, of: file, in: folder, stamp: stamp)
        case .read(let bytes, let stamp):
            do {
                try note(try ProjectList(bytes), of: file, in: folder, stamp)
            } catch let damage as ProjectListDamage {
                try note("\(damage)", of: file, in: folder, stamp: stamp)
            }
        }
    }

    private func note(_ list: ProjectList, of file: ProjectListFile, in folder: FilePath, _ stamp: FileStamp) throws {
        let unusable = hold(list, of: folder, stamp).mapValues(\.reason)
        let changes = try ledger.noteProjects(
            list.records, unusable: unusable, in: folder, stamp: stamp, at: time.now())
        for problem in news(list.problems, in: folder) { logger.warning("\(file.path): \(problem)") }
        if !changes.isEmpty {
            logger.debug(
                "\(file.path): \(changes.added) new, \(changes.changed) changed, \(changes.removed) no longer in it")
        }
    }

    /// A bad record is told when it appears, and not with every new state of the file.
    private func news(_ problems: [ProjectList.Problem], in folder: FilePath) -> [ProjectList.Problem] {
        told.withLock { told in
            let before = told.updateValue(Set(problems.map(\.mark)), forKey: folder) ?? []
            return problems.filter { !before.contains($0.mark) }
        }
    }

    private func note(_ problem: String, of file: ProjectListFile, in folder: FilePath, stamp: FileStamp) throws {
        let isNews = try ledger.noteProjectListProblem(problem, in: folder, stamp: stamp)
        if isNews { logger.warning("\(file.path): \(problem); what it said before counts until it can be read") }
    }
}

extension FileStamp {
    /// That of no file: whatever is there the next time is read.
    static let none = FileStamp(device: 0, inode: 0, size: -1, modified: 0)
}

extension ProjectList.Problem {
    /// The same for the same record, wherever it is in the file by now.
    fileprivate var mark: ByteString { "\(id ?? String(number)) \(reason)".inBytes }
}

/// Decides, file by file, what a projects folder stores: images and metadata of projects that are worth it, and
/// `projects.json` after them. A folder that never had a `projects.json` stores what is in it.
package struct ProjectUploadPolicy: Sendable {
    package enum Decision: Hashable, Sendable {
        /// As the planner says.
        case pass
        /// As well, but it is the image of a project, and may not be whole yet.
        case unfinishedImage
        /// The list, if it still is the file with this stamp.
        case list(FileStamp)
        case done(Outcome)
    }

    /// When a file that waits is looked at again, unless a new list brings it back at once.
    private static let pause = Duration.seconds(600)
    private static let shortPause = Duration.seconds(1)

    private let listSync: ProjectListSync
    private let ledger: Ledger
    private let now: @Sendable () -> Date

    package init(listSync: ProjectListSync, ledger: Ledger, now: @escaping @Sendable () -> Date) {
        self.listSync = listSync
        self.ledger = ledger
        self.now = now
    }

    /// Blocks.
    /// - Throws: ``LedgerError``.
    package func decide(_ claim: Claim) throws -> Decision {
        guard claim.folder.kind == .projects else { return .pass }
        let name = ProjectFileName(below: claim.relativePath)
        if let id = name.id, try ledger.isProjectBeingDeleted(id, in: claim.folder.path) {
            // It is on the disk, and what was stored of it may be gone, and its record: as long as that is so, it is not
            // safe.
            return .done(.waits(ProjectVerdict.isBeingDeleted, until: now() + Self.pause))
        }
        guard name != .other, let list = try listSync.refresh(claim.folder.path, isUrgent: name == .list) else {
            return .pass
        }
        switch name {
        case .list: return try decide(list, claim)
        case .image(let id): return try decide(id, list, claim, isImage: true)
        case .metadata(let id): return try decide(id, list, claim, isImage: false)
        case .other: return .pass
        }
    }

    private func decide(_ list: ProjectListState, _ claim: Claim) throws -> Decision {
        if let problem = list.problem {
            let words = "\(problem); the state before counts, and stays stored"
            // What was not read need not change to be read the next time.
            guard list.stamp != .none else {
                let pause = RetryPolicy.queue.delay(afterAttempt: claim.attempts, random: 1)
                return .done(.postponed(words, until: now() + pause))
            }
            return .done(.failed("\(words). It is read again when it changes", nil))
        }
        let folder = claim.folder.path
        let waiting = Set(try ledger.projectFilesWaiting(in: folder).compactMap { ProjectFileName($0).id?.inBytes })
        let wanted =
            try !waiting.isEmpty
            && ledger.projects(in: folder).contains { project in
                waiting.contains(project.record.id.inBytes) && project.verdict(at: now()) == .store
            }
        if wanted {
            return .done(.waits("it is stored after the images of its projects", until: now() + Self.shortPause))
        }
        return .list(list.stamp)
    }

    private func decide(_ id: String, _ list: ProjectListState, _ claim: Claim, isImage: Bool) throws -> Decision {
        guard let project = try ledger.project(id, in: claim.folder.path) else {
            guard let problem = list.problem else {
                let unusable = try listSync.unusableRecords(in: claim.folder.path)[id.inBytes]
                return .done(
                    .skipped(ProjectVerdict.withoutRecord(unusable?.reason), isImage ? .unrecorded : nil))
            }
            return .done(.waits("projects.json cannot be used: \(problem)", until: now() + Self.pause))
        }
        let verdict = try verdict(on: project, claim, isImage: isImage)
        if let reason = verdict.reason { return .done(.skipped(reason, isImage ? verdict.leftOut : nil)) }
        return isImage && verdict != .store ? .unfinishedImage : .pass
    }

    /// A project whose image came after the list was read: it may stand for one without an image, or with a broken one.
    private func verdict(on project: KnownProject, _ claim: Claim, isImage: Bool) throws -> ProjectVerdict {
        let verdict = project.verdict(at: now())
        let folder = claim.folder.path
        guard isImage, case .duplicate(let original) = verdict, try ledger.project(original, in: folder) != nil else {
            return verdict
        }
        if try ledger.isProjectImageBroken(original, in: folder) {
            try ledger.freeDuplicates(of: original, in: folder, at: now())
        } else if try !ledger.hasProjectImage(original, in: folder) {
            try ledger.reviewProjects(in: folder, at: now())
        } else {
            return verdict
        }
        return try ledger.project(project.record.id, in: folder)?.verdict(at: now()) ?? verdict
    }

    /// What an image that could not be decoded comes to while its project is in the making.
    package func outcome(ofUnfinished error: PhotoError) -> Outcome? {
        switch error.code {
        case .truncated, .corrupt, .notAPhoto, .notStored, .unsupported:
            .waits(ProjectVerdict.unfinished, until: now() + Self.pause)
        default: nil
        }
    }
}
