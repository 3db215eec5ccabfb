import FoundationEssentials
import Glibc
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Saves what restore jobs have brought back into their output folders, under the photos' own names and times.
///
/// What is saved is noted; killed at any point, a later run goes on.
package struct RestoreDownloader: Sendable {
    /// What could not be saved, and why.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The place where it was to be saved.
        package var path: String
        package var reason: String
        /// The item's id.
        package var item: Int64

        package var description: String { "\(path): \(reason)" }
    }

    package struct SaveSummary: Hashable, Sendable {
        /// Of a list for people: how many are named.
        private static let mostNamed = 10

        package var saved = 0
        /// Items that were to be saved, whatever came of them.
        package var tried = 0
        /// Each photo that did not come, once for each place where it was to be.
        package var problems: [Problem] = []
        package var failures: [String] { problems.map(\.description) }
        /// Items that would meet the same if they were tried again now, by job.
        package var unsaved: [RestoreJobID: Set<Int64>] = [:]

        /// For people, as ``lines(_:)``.
        package var lines: [String] { Self.lines(failures) }

        /// The first failures, and how many there are besides.
        /// - Parameter command: that names them all.
        package static func lines(
            _ failures: [String], allBy command: String = "sync-agent restores --refresh --json"
        ) -> [String] {
            guard failures.count > mostNamed else { return failures }
            let more = (failures.count - mostNamed).counted("more photo")
            return failures.prefix(mostNamed) + ["\(more): \(command) names them all"]
        }

        fileprivate mutating func fail(_ item: RestoreItem, at place: FilePath, _ reason: String) {
            report(item, at: place, reason)
            unsaved[item.job, default: []].insert(item.id)
        }

        fileprivate mutating func report(_ item: RestoreItem, at place: FilePath, _ reason: String) {
            problems.append(Problem(path: place.text, reason: reason, item: item.id))
        }
    }

    /// What one run has come to.
    private struct Visit {
        let denied: DeniedObjects
        var result = SaveSummary()
        /// Folders that are on the disk already.
        var made: Set<FilePath> = []
        /// Why nothing more of a job can be saved now.
        var obstacles: [RestoreJobID: String] = [:]
        /// Items whose content turned out to be stored under another key by now.
        var moved: Set<Int64> = []

        /// Names what an obstacle keeps from being saved.
        mutating func giveUp(_ items: [RestoreItem], of job: RestoreJobID, in output: FilePath) {
            guard let reason = obstacles[job] else { return }
            let told = result.unsaved[job] ?? []
            for item in items where !told.contains(item.id) {
                for place in item.places.prefix(1) { result.fail(item, at: output.pushing(place.destination), reason) }
            }
        }
    }

    private static let pageSize = 100

    private let ledger: LedgerQueue
    private let owner: ClaimOwner
    private let batch: DownloadBatch
    private let audit: ObjectAudit
    private let folders: RestoreFolders
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - recompressor: makes the files of originals that are stored as JPEG XL.
    ///   - pool: for what waits for the disk.
    package init(
        store: any ReadableStore, ledger: LedgerQueue, owner: ClaimOwner,
        recompressor: (any OriginalRecompressor)? = nil,
        pool: BlockingPool, time: TimeSource, calls: DownloadCalls = DownloadCalls()
    ) {
        self.ledger = ledger
        self.owner = owner
        batch = DownloadBatch(
            download: ObjectDownload(store: store, pool: pool, time: time, calls: calls, recompressor: recompressor))
        audit = ObjectAudit(store: store, ledger: ledger, time: time)
        folders = RestoreFolders(ledger: ledger, owner: owner, pool: pool, time: time)
        self.pool = pool
        self.time = time
    }

    /// - Parameters:
    ///   - job: only what this one brought; `nil` for all.
    ///   - held: items that are not tried: an earlier run could not save them.
    /// - Throws: ``StoreError`` when the store as a whole is away, or gives none; ``LedgerError``, `CancellationError`.
    package func run(job: RestoreJobID? = nil, leavingOut held: Set<Int64> = []) async throws -> SaveSummary {
        let earlier = try await EarlierDenials(of: .restores, in: ledger, time: time)
        var visit = Visit(denied: DeniedObjects(earlier))
        var putOff: [RestoreItem] = []
        let pages = LedgerPages(ledger: ledger, place: \RestoreItem.self) {
            try $0.unsavedRestoredItems(after: $1, limit: Self.pageSize)
        }
        for try await page in pages {
            let items = page.filter { (job == nil || $0.job == job) && !held.contains($0.id) }
            let (next, later) = earlier.split(items, by: \.key)
            try await save(next, &visit)
            putOff += later
        }
        for items in earlier.longestAgoFirst(putOff, by: \.key).grouped(atMost: Self.pageSize) {
            try await save(items, &visit)
        }
        let moved = visit.moved
        if !moved.isEmpty {
            for try await page in pages { try await save(page.filter { moved.contains($0.id) }, &visit) }
        }
        let isComplete = visit.result.problems.isEmpty
        try await folders.leaveEnded()
        for folder in visit.made {
            await DownloadBatch.removeLeftovers(folder, isComplete: isComplete, pool, now: time.now())
        }
        return visit.result
    }

    private func save(_ items: [RestoreItem], _ visit: inout Visit) async throws {
        // Each has a disk of its own: what one of them is short of, another has.
        for (job, items) in Dictionary(grouping: items, by: \.job).sorted(by: { $0.key < $1.key }) {
            try await save(items, of: job, &visit)
            if let end = visit.denied.end { throw end }
        }
    }

    private func save(_ items: [RestoreItem], of job: RestoreJobID, _ visit: inout Visit) async throws {
        let known = try await ledger { try $0.restoreJob(job) }
        guard let summary = known, let output = summary.job.output else { return }
        visit.result.tried += items.count
        let able = items.filter { item in
            guard let place = item.places.first(where: { !$0.destination.isBelowAnyFolder }) else {
                return !item.places.isEmpty
            }
            visit.result.fail(
                item, at: output.pushing(place.destination),
                "its place would not be below the folder; restore it by its name")
            return false
        }
        guard !able.isEmpty else { return }
        if visit.obstacles[job] != nil { return visit.giveUp(able, of: job, in: output) }
        let home: RestoreFolder
        switch try await folders.find(output, of: summary) {
        case .here(let folder): home = folder
        case .away(let reason):
            visit.obstacles[job] = reason
            return visit.giveUp(able, of: job, in: output)
        case .over: return
        }
        var tasks: [(item: RestoreItem, task: DownloadTask)] = []
        for item in able where visit.obstacles[job] == nil {
            for place in item.places where visit.obstacles[job] == nil {
                do {
                    let task = try await task(for: item, at: place, in: home, &visit.made)
                    if let task { tasks.append((item, task)) }
                } catch let error as FolderError where error.concernsAll {
                    visit.obstacles[job] = "\(error)"
                } catch let error as FolderError {
                    visit.result.fail(item, at: output.pushing(place.destination), "\(error)")
                }
            }
        }
        if visit.obstacles[job] != nil { return visit.giveUp(able, of: job, in: output) }
        try await save(tasks, of: able, &visit)
    }

    private func save(
        _ tasks: [(item: RestoreItem, task: DownloadTask)], of items: [RestoreItem], _ visit: inout Visit
    ) async throws {
        let now = time.now
        // An item is saved when it is in all of its places: one that cannot be there leaves it unsaved.
        var left = Dictionary(uniqueKeysWithValues: items.map { ($0.id, $0.places.count) })
        var running = Dictionary(tasks.map { ($0.item.id, 1) }, uniquingKeysWith: +)
        // Whoever stops the saving has named them as not saved.
        var givenUp: Set<Int64> = []
        var batch = batch
        batch.denied = visit.denied
        let outcomes = await batch.run(
            tasks.map(\.task),
            finished: { index, outcome in
                let item = tasks[index].item.id
                running[item, default: 1] -= 1
                guard case .success(let done) = outcome, done != .kept else {
                    // As long as it is on its way to another place, it is in hand.
                    return running[item] == 0 ? await putDown([item]) : ()
                }
                left[item, default: 1] -= 1
                let isWhole = left[item] == 0
                // Not noted is saved again, and found to be there already.
                let isNoted = try? await ledger.finish { ledger -> Bool in
                    if isWhole, try !ledger.noteSaved(item, at: now()) { return false }
                    if done == .originalThere {
                        let note = "the original is there, and stays"
                        try ledger.note(RestoreOutcome(state: .restored, note: note), of: [item], at: now())
                    }
                    return true
                }
                if isNoted == false { givenUp.insert(item) }
            },
            placing: { [ledger, owner] index in
                let (item, task) = tasks[index]
                guard try await ledger({ try $0.beginSaving(item.id, by: owner.name) }) else {
                    throw DownloadError(
                        .notWanted, task.destination, "no more of its restore is to be saved (--stop-saving)")
                }
            })
        await putDown(left.filter { $0.value > 0 }.map(\.key))
        // Whoever has saved the last of a job takes its file away, also before the eyes of another.
        var isOver = false
        if let job = items.first?.job, outcomes.contains(where: Self.isAway) { isOver = try await folders.isOver(job) }
        for ((item, task), outcome) in zip(tasks, outcomes) {
            if case .failure(let error as StoreError) = outcome, let fate = try await end(item, after: error) {
                switch fate {
                case .ruined(let reason): visit.result.fail(item, at: task.destination, reason)
                case .moved: visit.moved.insert(item.id)
                }
                continue
            }
            switch outcome {
            case .success where givenUp.contains(item.id): continue
            case .success(.kept):
                let isFolder = await pool.finish { [place = task.destination] in
                    (try? FileStatus(at: place))?.kind == .folder
                }
                visit.result.fail(
                    item, at: task.destination,
                    // What has the name may be the photo, edited since: nothing may tell to put a reduced copy there.
                    "\(isFolder ? "a folder" : "another file") has this name, and stays; restore into another folder "
                        + "(--output)"
                )
            case .success: visit.result.saved += 1
            case .failure(let error as StoreError) where DownloadBatch.concernsAll(error): throw error
            case .failure(let error as LedgerError): throw error
            case .failure(is CancellationError): throw CancellationError()
            case .failure(let error as DownloadError) where error.code == .notWanted: continue
            // The agent and a command that waits save the same job; the other one has it.
            case .failure(let error as DownloadError) where error.code == .inUse: continue
            case .failure where isOver && Self.isAway(outcome): continue
            case .failure(let error as StoreError) where error.isTransient && error.code != .badDigest:
                visit.result.report(item, at: task.destination, "\(error)")
            case .failure(let error):
                // What was not begun has the same error, with the place of another.
                let reason = (error as? DownloadError)?.message ?? "\(error)"
                if DownloadBatch.concernsAll(error) { visit.obstacles[item.job] = reason }
                visit.result.fail(item, at: task.destination, reason)
            }
        }
    }

    /// What an item comes to of which the store does not have what was asked for.
    private enum End {
        /// The same would come whenever it is tried again: why, and the next step.
        case ruined(String)
        /// It is stored under another key by now, and comes from there.
        case moved
    }

    /// - Returns: `nil` where the error does not say so.
    private func end(_ item: RestoreItem, after error: StoreError) async throws -> End? {
        let version = try await audit.recheck(item.key, after: error)
        let (known, now) = try await ledger { ledger in
            (try ledger.object(item.key), try ledger.restoreItems(of: item.job, after: item.id - 1, limit: 1).first)
        }
        if let now, now.id == item.id, now.key != item.key { return .moved }
        let reason: String
        switch error.code {
        case _ where version != nil:
            reason = item.endWords(.setAside)
        case .badDigest where known.map(item.isOfAnother) ?? false:
            reason = "it was stored anew since it was asked for; restore it again"
        case .badDigest where known != nil && known?.problem == nil:
            // Read once more, it was right, and the line was not; or it cannot be read, and its time ends by itself.
            return nil
        case .badDigest:
            reason = error.isOfRecord ? item.words(of: error) : item.endWords(.damaged)
        case .notFound where known == nil || known?.problem != nil:
            reason = item.endWords(.gone)
        default:
            return nil
        }
        try await ledger.finish { try $0.noteRuined(item.id, reason) }
        return .ruined(reason)
    }

    /// What was in hand, and is not saved in all of its places.
    private func putDown(_ items: [Int64]) async {
        // Where it cannot be noted, it ends with this process.
        try? await ledger.finish { [owner] in try $0.endSaving(of: items, by: owner.name) }
    }

    private static func isAway(_ outcome: DownloadBatch.Outcome) -> Bool {
        guard case .failure(let error as DownloadError) = outcome else { return false }
        return error.code == .folderAway
    }

    /// - Parameter made: folders that are on the disk already.
    /// - Throws: ``FolderError`` when the folder cannot be made.
    private func task(
        for item: RestoreItem, at place: (path: FilePath?, destination: FilePath), in home: RestoreFolder,
        _ made: inout Set<FilePath>
    ) async throws -> DownloadTask? {
        let destination = place.destination
        guard let name = destination.lastComponent else { return nil }
        let folder = home.path.pushing(destination.removingLastComponent())
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
                _ = try await pool.run { try Folder.make(folder, permissions: .readableFolder) }
            } catch {
                made.remove(folder)
                throw error
            }
        }
        return DownloadTask(
            key: item.key, folder: folder, name: name, sha256: item.sha256, original: original, modified: times,
            home: home)
    }
}

extension RestoreDownloader.Problem {
    /// - Parameter output: the folder of its job.
    package init(_ item: RestoreItem, in output: FilePath, _ reason: String) {
        self.init(path: (item.destination.map { output.pushing($0) } ?? output).text, reason: reason, item: item.id)
    }
}
