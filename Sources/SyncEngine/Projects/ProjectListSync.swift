import FoundationEssentials
package import Logging
package import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// Keeps the ledger up to the `projects.json` of each folder. The last good state counts: a file that is half-written or
/// damaged changes nothing, and is told once.
package final class ProjectListSync: Sendable {
    /// A file that is rewritten all the time is read no more often.
    private static let interval = Duration.seconds(1)

    private let ledger: Ledger
    private let time: TimeSource
    private let logger: Logger
    private let looked = Mutex<[FilePath: Duration]>([:])
    private let told = Mutex<[FilePath: Set<ByteString>]>([:])

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
    package func look(at folder: FilePath, isUrgent: Bool = false) throws -> ProjectListState? {
        // Whoever comes while the list is read waits for it: before the first one is noted, a folder looks like one that
        // has none, of which all images are stored.
        try looked.withLock { looked in
            let now = time.monotonic()
            if !isUrgent, let last = looked[folder], now - last < Self.interval { return }
            try read(folder)
            looked[folder] = now
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

    /// Tells of a file that was kept beside a list.
    func tell(of kept: FilePath) {
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

    private func note(
        _ list: ProjectList, of file: ProjectListFile, in folder: FilePath, _ stamp: FileStamp
    ) throws {
        let changes = try ledger.noteProjects(list.records, in: folder, stamp: stamp, at: time.now())
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
        let isNews = try ledger.noteProjectListProblem(problem, in: folder, stamp: stamp, at: time.now())
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
