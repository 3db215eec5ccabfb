import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// Brings what was read of a share into its folder, and writes down what was put there as it arrives: whatever ends the
/// process, the next one goes on from there.
struct MirrorRound {
    private struct Planned {
        let photo: CheckedShare.Photo
        let name: FilePath.Component
        let task: DownloadTask
    }

    /// The state is written so often at most, whatever the number of photos: each time it is written as a whole.
    private static let stateWrites = 100

    let folder: MirrorFolder
    let pool: BlockingPool
    let options: ShareMirror.Options
    private(set) var state: MirrorState
    /// As it is on the disk.
    private var written: MirrorState?
    private var unwritten = 0
    private var fetched: Set<Int> = []
    var result: MirrorResult

    /// - Parameter known: what the folder knows of itself.
    init(
        _ share: CheckedShare, in folder: MirrorFolder, known: MirrorState?, pool: BlockingPool,
        options: ShareMirror.Options
    ) {
        self.folder = folder
        self.pool = pool
        self.options = options
        state = known ?? MirrorState(shareID: share.id)
        written = known
        result = MirrorResult(shareID: share.id, destination: folder.path)
    }

    /// One pass over the photos; a second one, with another reading, takes up what the first could not do.
    /// - Throws: ``DownloadError`` where nothing can be written into the folder; `Errno`, `CancellationError`.
    mutating func pass(
        _ read: ReadShare, download: ObjectDownload, _ observe: @escaping @Sendable (MirrorProgress) -> Void
    ) async throws {
        let share = read.share
        let photos = options.isPreview ? Array(share.photos.prefix(ShareMirror.previewCount)) : share.photos
        result.share = share
        result.alreadyThere = 0
        result.kept = []
        result.failures = []
        result.unwritten = []
        result.untried = 0
        state.manifestLink = read.manifestLink?.description
        let planned = try await plan(photos, of: share)
        if !planned.isEmpty {
            // Also finds out whether anything can be written there, before the first byte is asked for.
            state.isComplete = false
            try await save()
            try await fetch(planned, download, observe, share.photos.count)
        }
        try await writeManifest(of: share)
        result.isComplete = photos.count == share.photos.count && result.failed == 0
        state.isComplete = result.isComplete
        try await save()
        await DownloadBatch.tidy(folder.held, isComplete: result.isComplete, pool, now: download.now)
    }

    // MARK: Planning

    private mutating func plan(_ photos: [CheckedShare.Photo], of share: CheckedShare) async throws -> [Planned] {
        let keys = ShareKeys(share.id)
        let plan = MirrorPlan(names: MirrorName(share), isForced: options.isForced)
        photos.forEach { state.recall($0) }
        let offsets = CaptureOffsets(share.photos.compactMap(\.takenAt))
        let notes = photos.map { state.photos[$0.orderIndex] }
        let standings = try await pool.runChecking { [folder] flag in
            try notes.map { note in try note.map { try Self.standing(of: $0, in: folder, flag) } ?? .missing }
        }
        var planned: [Planned] = []
        for (photo, (note, standing)) in zip(photos, zip(notes, standings)) {
            let noted = note.flatMap { note in note.component.map { (name: $0, sha256: note.sha256) } }
            switch plan.step(for: photo, noted: noted, standing: standing) {
            case .alreadyThere:
                if !fetched.contains(photo.orderIndex) { result.alreadyThere += 1 }
            case .kept(let name, let reason):
                result.kept.append(MirrorResult.Kept(name: name.string, reason: reason))
            case .download(let name, let overwrites):
                let task = DownloadTask(
                    keys.photo(photo.orderIndex), to: folder.held, name: name, sha256: photo.sha256,
                    modified: photo.takenAt.map { offsets.instant(of: $0, zone: .current) }, overwrites: overwrites)
                planned.append(Planned(photo: photo, name: name, task: task))
            }
        }
        return planned
    }

    private static func standing(
        of note: MirrorState.File, in folder: MirrorFolder, _ flag: CancellationFlag
    ) throws -> MirrorStatus {
        guard let name = note.component else { return .missing }
        do {
            guard let found = try folder.look(at: name) else { return .missing }
            if found.size != note.size { return .changed }
            if found.modified == note.modified { return .same }
            let digest = try FileDigest.of(folder.held.appending(name), size: note.size, flag)
            return digest?.sha256.description == note.sha256 ? .same : .changed
        } catch is Errno {
            // A link, a folder or a file that we may not read is not what was put there.
            return .changed
        }
    }

    // MARK: Fetching

    private mutating func fetch(
        _ planned: [Planned], _ download: ObjectDownload, _ observe: @escaping @Sendable (MirrorProgress) -> Void,
        _ count: Int
    ) async throws {
        let meter = MirrorMeter(sizes: planned.map(\.photo.size), observe: observe)
        let writesEvery = max(count / Self.stateWrites, 1)
        var ended = 0
        var failure: (any Error)?
        _ = await DownloadBatch(download).run(planned.map(\.task), progress: meter.note) { index, outcome in
            ended += 1
            do {
                try await note(planned[index], outcome, writesEvery: writesEvery)
            } catch {
                failure = failure ?? error
            }
            meter.noteEnd()
        }
        try await save()
        try Task.checkCancellation()
        if let failure { throw failure }
        if let obstacle = result.failures.first(where: { DownloadBatch.concernsAll($0.error) }) {
            result.obstacle = obstacle.error
            let others = result.failures.filter { !DownloadBatch.concernsAll($0.error) }
            result.untried = planned.count - ended + result.failures.count - others.count
            result.failures = others
        }
    }

    private mutating func note(_ item: Planned, _ outcome: DownloadBatch.Outcome, writesEvery: Int) async throws {
        let index = item.photo.orderIndex
        switch outcome {
        case .success(.kept):
            result.kept.append(MirrorResult.Kept(name: item.name.string, reason: .nameTaken))
            return
        case .failure(let error):
            result.failures.append(MirrorResult.Failure(name: item.name.string, error: told(error)))
            return
        case .success(.alreadyThere), .success(.originalThere): result.alreadyThere += 1
        case .success(.saved):
            result.downloaded.append(item.name.string)
            fetched.insert(index)
        }
        // A file that is gone by now is one that the person deleted.
        let found = await pool.finish { [folder] in try? folder.look(at: item.name) }
        let file = MirrorState.File(
            name: item.name.string, sha256: item.photo.sha256.description, size: item.photo.size,
            modified: found?.modified ?? 0)
        state.note(file, at: index)
        unwritten += 1
        if unwritten >= writesEvery { try await save() }
    }

    /// With the folder under the name that people know.
    private func told(_ error: any Error) -> any Error {
        guard var error = error as? DownloadError, error.path.removePrefix(folder.held) else { return error }
        error.path = folder.path.pushing(error.path)
        return error
    }

    // MARK: What is written beside the photos

    /// Also when the task was cancelled: what has arrived is not to be forgotten.
    private mutating func save() async throws {
        guard state != written else { return }
        let bytes = try state.encoded()
        guard try await write(bytes, to: MirrorFolder.stateName, isPrivate: true) else { return }
        written = state
        unwritten = 0
    }

    /// A file beside the photos that cannot be written is named, and holds up none of them.
    /// - Returns: `false` when it was not written.
    /// - Throws: ``DownloadError`` where the photos would all meet the same.
    private mutating func write(
        _ bytes: [UInt8], to name: FilePath.Component, isPrivate: Bool
    ) async throws -> Bool {
        result.unwritten.removeAll { $0.name == name.string }
        do {
            try await pool.finish { [folder] in
                Result { try folder.write(bytes, to: name, isPrivate: isPrivate) }
            }.get()
            return true
        } catch let errno as Errno {
            let error = DownloadError(errno, folder.path.appending(name))
            guard !error.concernsAll, await pool.finish({ [folder] in folder.isWritable }) else { throw error }
            result.unwritten.append(MirrorResult.Failure(name: name.string, error: error))
            return false
        }
    }

    /// `vacation.json`, unless there is one that is not ours, or not ours any more.
    private mutating func writeManifest(of share: CheckedShare) async throws {
        let bytes = try share.manifest.encoded()
        let digest = SHA256Digest(of: bytes)
        let noted = state.manifest
        let name = MirrorFolder.manifestName
        let (standing, isNew) = try await pool.runChecking { [folder] flag in
            guard Self.isTaken(name, in: folder) else { return (MirrorStatus.missing, true) }
            // What is larger than any manifest is none, and is not read to see that.
            let size = try? folder.look(at: name)?.size
            let found =
                size ?? 0 > MirrorFolder.largestManifest
                ? nil : try? FileDigest.of(folder.held.appending(name), size: nil, flag)
            let isOurs = noted.map { found?.sha256.description == $0.sha256 } ?? false
            return (isOurs ? .same : .changed, found?.sha256 != digest)
        }
        guard isNew else { return try await noteManifest(bytes, digest) }
        if standing == .changed, !options.isForced {
            result.notes.append("\(name) in the folder is not the one of this mirror, and was left as it is")
            return
        }
        if try await write(bytes, to: name, isPrivate: false) { try await noteManifest(bytes, digest) }
    }

    /// Also by a link or a folder.
    private static func isTaken(_ name: FilePath.Component, in folder: MirrorFolder) -> Bool {
        do {
            return try folder.look(at: name) != nil
        } catch {
            return true
        }
    }

    private mutating func noteManifest(_ bytes: [UInt8], _ digest: SHA256Digest) async throws {
        let found = try await pool.run { [folder] in try? folder.look(at: MirrorFolder.manifestName) }
        state.manifest = MirrorState.File(
            name: MirrorFolder.manifestName.string, sha256: digest.description, size: Int64(bytes.count),
            modified: found?.modified ?? 0)
    }
}
