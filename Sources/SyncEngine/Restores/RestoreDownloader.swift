import FoundationEssentials
import Glibc
package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Saves what restore jobs have brought back into their output folders, under the photos' own names and times.
///
/// What is saved is noted; killed at any point, a later run goes on.
package struct RestoreDownloader: Sendable {
    /// What could not be saved, and why.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The photo, its object, or the place where it was to be saved.
        package var path: String
        package var reason: String

        package var description: String { "\(path): \(reason)" }
    }

    package struct SaveSummary: Hashable, Sendable {
        package var saved = 0
        package var problems: [Problem] = []
        package var failures: [String] { problems.map(\.description) }
        /// Items that would meet the same if they were tried again now, by job.
        package var unsaved: [RestoreJobID: Set<Int64>] = [:]
        /// The disk takes nothing more.
        fileprivate var isDiskFull = false

        /// - Parameter place: where it was to be saved; `nil` tells the photo.
        fileprivate mutating func fail(_ item: RestoreItem, at place: FilePath? = nil, _ reason: String) {
            tell(item, at: place, reason)
            unsaved[item.job, default: []].insert(item.id)
        }

        fileprivate mutating func tell(_ item: RestoreItem, at place: FilePath? = nil, _ reason: String) {
            problems.append(Problem(path: (place ?? item.path)?.text ?? item.key.rawValue, reason: reason))
        }
    }

    private static let pageSize = 100

    private let ledger: LedgerQueue
    private let batch: DownloadBatch
    private let audit: ObjectAudit
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - recompressor: makes the files of originals that are stored as JPEG XL.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, recompressor: (any OriginalRecompressor)? = nil,
        pool: BlockingPool, time: TimeSource
    ) {
        self.ledger = ledger
        batch = DownloadBatch(ObjectDownload(from: store, pool: pool, time: time, recompressor: recompressor))
        audit = ObjectAudit(store: store, ledger: ledger, time: time)
        self.pool = pool
        self.time = time
    }

    /// - Parameters:
    ///   - job: only what this one brought; `nil` for all.
    ///   - held: items that are not tried: an earlier run could not save them.
    /// - Throws: ``StoreError`` when the store as a whole is away, ``LedgerError``, `CancellationError`.
    package func run(
        job: RestoreJobID? = nil, leavingOut held: Set<Int64> = []
    ) async throws -> SaveSummary {
        var result = SaveSummary()
        var last: Int64 = 0
        // Folders that are on the disk already.
        var made: Set<FilePath> = []
        while !result.isDiskFull {
            let after = last
            let page = try await ledger { try $0.unsavedRestoredItems(after: after, limit: Self.pageSize) }
            guard let end = page.last?.id else { break }
            last = end
            let items = page.filter { (job == nil || $0.job == job) && !held.contains($0.id) }
            try await save(items, &result, &made)
        }
        let isComplete = result.problems.isEmpty
        for folder in made { await DownloadBatch.tidy(folder, isComplete: isComplete, pool, now: time.now()) }
        return result
    }

    private func save(
        _ items: [RestoreItem], _ result: inout SaveSummary, _ made: inout Set<FilePath>
    ) async throws {
        var tasks: [(item: RestoreItem, task: DownloadTask)] = []
        let outputs = try await outputs(of: Set(items.map(\.job)))
        for item in items {
            if let place = item.places.first(where: { !$0.destination.isBelowAnyFolder }) {
                result.fail(
                    item, "its place, \(place.destination.text), would not be below the folder; restore it by its name")
                continue
            }
            do {
                for place in item.places {
                    let task = try await task(for: item, at: place, in: outputs[item.job], &made)
                    if let task { tasks.append((item, task)) }
                }
            } catch let error as FolderError where error.concernsAll {
                result.isDiskFull = true
                result.fail(item, "\(error)")
                return
            } catch let error as FolderError {
                result.fail(item, "\(error)")
            }
        }
        let (planned, now) = (tasks, time.now)
        // An item is saved when it is in all of its places: one that cannot be there leaves it unsaved.
        var left = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0.places.count) })
        let outcomes = await batch.run(
            planned.map(\.task),
            finished: { index, outcome in
                guard case .success(let done) = outcome, done != .kept else { return }
                left[planned[index].item.id, default: 1] -= 1
                let isWhole = left[planned[index].item.id] == 0
                // Not noted is saved again, and found to be there already.
                try? await ledger.finish { ledger in
                    let item = planned[index].item.id
                    if done == .originalThere {
                        let note = "the original is there, and stays"
                        try ledger.note(RestoreOutcome(state: .restored, note: note), of: [item], at: now())
                    }
                    if isWhole { try ledger.noteSaved(item, at: now()) }
                }
            })
        for ((item, task), outcome) in zip(planned, outcomes) {
            if case .failure(let error as StoreError) = outcome { try await audit.recheck(item.key, after: error) }
            switch outcome {
            case .success(.kept):
                result.fail(
                    item, at: task.destination,
                    // What has the name may be the photo, edited since: nothing may tell to put a reduced copy there.
                    "another file has this name, and stays; restore into another folder (--output)"
                )
            case .success: result.saved += 1
            case .failure(let error as StoreError) where error.concernsWholeStore: throw error
            case .failure(is CancellationError): throw CancellationError()
            // The agent and a command that waits save the same job; the other one has it.
            case .failure(let error as DownloadError) where error.code == .inUse: continue
            case .failure(let error as DownloadError) where error.concernsAll:
                // What was not begun has the same error: told once.
                if !result.isDiskFull { result.tell(item, at: error.path, error.message) }
                result.isDiskFull = true
                result.unsaved[item.job, default: []].insert(item.id)
            case .failure(let error as StoreError) where error.isTransient && error.code != .badDigest:
                result.tell(item, "\(error)")
            case .failure(let error): result.fail(item, "\(error)")
            }
        }
    }

    /// Asked for once for a page: a job is summed up over all its items.
    private func outputs(of jobs: Set<RestoreJobID>) async throws -> [RestoreJobID: FilePath] {
        try await ledger { ledger in
            try jobs.reduce(into: [:]) { $0[$1] = try ledger.restoreJob($1)?.job.output }
        }
    }

    /// - Parameter made: folders that are on the disk already.
    /// - Throws: ``FolderError`` when the folder cannot be made.
    private func task(
        for item: RestoreItem, at place: (path: FilePath?, destination: FilePath), in output: FilePath?,
        _ made: inout Set<FilePath>
    ) async throws -> DownloadTask? {
        let destination = place.destination
        guard let output, let name = destination.lastComponent else { return nil }
        let folder = output.pushing(destination.removingLastComponent())
        let (times, original) = try await ledger { ledger in
            let object = try ledger.object(item.key)
            let time = try place.path.flatMap { path in
                var time: Date?
                try ledger.photos(at: path) { time = $0.modified }
                return time
            }
            let taken = object?.takenAt.map { CaptureOffsets([]).instant(of: $0, zone: .current) }
            return (time ?? taken, object?.md5)
        }
        if made.insert(folder).inserted {
            do {
                let mode: FilePermissions = [.ownerReadWriteExecute, .groupReadExecute, .otherReadExecute]
                _ = try await pool.run { try Folder.make(folder, permissions: mode) }
            } catch {
                made.remove(folder)
                throw error
            }
        }
        return DownloadTask(
            item.key, to: folder, name: name, sha256: item.sha256, original: original, modified: times)
    }
}

extension RestoreItem {
    /// Where it is saved, with the photo whose name and time it has there.
    fileprivate var places: [(path: FilePath?, destination: FilePath)] {
        guard let destination else { return [] }
        return [(path, destination)] + further.map { ($0.path, $0.destination) }
    }
}
