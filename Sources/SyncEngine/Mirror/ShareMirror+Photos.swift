import SyncCore
import SyncDigest
import SyncSystem
import SystemPackage

/// What was read of a share comes into its folder, and what was put there is written down as it arrives: whatever ends the
/// process, the next one goes on from there.
extension ShareMirror {
    /// What is to be fetched. `own` is the mirror's name for it, where it is to have the one that the share tells.
    private typealias Planned = (
        photo: CheckedShare.Photo, name: FilePath.Component, own: FilePath.Component?, task: DownloadTask
    )

    /// The state is written so often at most, whatever the number of photos: each time it is written as a whole.
    private static let stateWrites = 100

    /// One pass over the photos; a second one, with another reading, takes up what the first could not do.
    /// - Throws: ``DownloadError`` where nothing can be written into the folder, and no photo is there; `Errno`,
    ///   `CancellationError`.
    func pass(
        over read: ReadShare, _ visit: inout Visit, _ download: ObjectDownload,
        _ observe: @escaping @Sendable (MirrorProgress) -> Void
    ) async throws {
        let share = read.share
        let photos = options.isPreview ? Array(share.photos.prefix(Self.previewCount)) : share.photos
        visit.result.share = share
        visit.result.alreadyThere = 0
        visit.result.kept = []
        visit.result.failures = []
        visit.result.unreadable = []
        visit.result.unwritten = []
        visit.result.untried = []
        visit.state.manifestLink = read.manifestLink?.description
        do {
            try await downloadPhotos(photos, of: share, &visit, download, observe)
        } catch let error as DownloadError where visit.result.hasPhotos || visit.result.obstacle != nil {
            // What has come, and what has not, is told all the same.
            visit.result.obstacle = visit.result.obstacle ?? error
            (visit.result.isComplete, visit.state.isComplete) = (false, false)
        }
        await DownloadBatch.removeLeftovers(
            visit.folder.held, isComplete: visit.result.isComplete, pool, now: download.now)
    }

    private func downloadPhotos(
        _ photos: [CheckedShare.Photo], of share: CheckedShare, _ visit: inout Visit, _ download: ObjectDownload,
        _ observe: @escaping @Sendable (MirrorProgress) -> Void
    ) async throws {
        let planned = try await plan(photos, of: share, &visit)
        if !planned.isEmpty {
            // Also finds out whether anything can be written there, before the first byte is asked for.
            visit.state.isComplete = false
            visit.result.untried = planned.map { $0.name.string }
            try await save(&visit)
            visit.result.untried = []
            try await fetch(planned, &visit, download, observe, share.photos.count)
            let others = renamed(planned, &visit)
            if !others.isEmpty { try await fetch(others, &visit, download, observe, share.photos.count) }
        }
        try await writeManifest(of: share, &visit)
        // Of photos that are out of view, the state tells that they were dealt with before.
        let isAllInView = photos.count == share.photos.count
        visit.result.isComplete = visit.result.failed == 0 && (isAllInView || visit.state.covers(share))
        visit.state.isComplete = visit.result.isComplete && visit.state.covers(share)
        try await save(&visit)
    }

    // MARK: Planning

    private func plan(
        _ photos: [CheckedShare.Photo], of share: CheckedShare, _ visit: inout Visit
    ) async throws -> [Planned] {
        let folder = visit.folder
        let keys = ShareKeys(share.id)
        photos.forEach { visit.state.reinstate($0) }
        if visit.hasForgotten {
            let found = try await search(for: photos, of: share, visit.state, in: folder)
            for (index, found) in found where found.isSame { visit.state.note(found.file, at: index) }
        }
        let plan = plan(for: share, visit.state)
        visit.state.expected = plan.expected(of: share, visit.state)
        let offsets = CaptureOffsets(share.photos.compactMap(\.takenAt))
        let notes = photos.map { visit.state.photos[$0.orderIndex] }
        let statuses = try await statuses(of: notes, in: folder)
        var planned: [Planned] = []
        for (photo, (note, status)) in zip(photos, zip(notes, statuses)) {
            let noted = note.flatMap { note in note.component.map { (name: $0, sha256: note.sha256) } }
            switch plan.step(for: photo, noted: noted, status: status) {
            case .alreadyThere:
                if !visit.fetched.contains(photo.orderIndex) { visit.result.alreadyThere += 1 }
            case .kept(let name, let reason):
                visit.result.kept.append(MirrorResult.Kept(name: name.string, reason: reason))
            case .unreadable(let name, let errno): visit.result.noteUnreadable(name.string, errno)
            case .download(let name, let overwrites):
                let task = DownloadTask(
                    key: keys.object(of: photo), folder: folder.held, name: name, sha256: photo.sha256,
                    modified: photo.takenAt.map { offsets.instant(of: $0, zone: .current) }, overwrites: overwrites)
                let isOther = note.map { $0.sha256 != photo.sha256.description } ?? false
                planned.append((photo, name, plan.ownName(of: photo, insteadOf: name, isOther: isOther), task))
            }
        }
        return planned
    }

    /// - Parameter keepsNames: other than the person asked for.
    func plan(for share: CheckedShare, _ state: MirrorState, keepsNames: Bool? = nil) -> MirrorPlan {
        let keepsNames = keepsNames ?? options.keepsNames
        return MirrorPlan(
            names: MirrorName(share), originals: keepsNames ? OriginalNames(share, taken: state.names) : nil,
            isForced: options.isForced)
    }

    /// - Parameter reads: the bytes, also of a file whose size and time are as they were noted.
    func statuses(
        of notes: [MirrorState.File?], in folder: MirrorFolder, reads: Bool = false
    ) async throws -> [MirrorStatus] {
        try await pool.runChecking { flag in
            try notes.map { note in
                try note.map { try Self.status(of: $0, in: folder, reads: reads, flag) } ?? .missing
            }
        }
    }

    static func status(
        of note: MirrorState.File, in folder: MirrorFolder, reads: Bool, _ flag: CancellationFlag
    ) throws -> MirrorStatus {
        guard let name = note.component else { return .missing }
        do {
            guard let found = try folder.attributes(of: name) else { return .missing }
            if found.size != note.size { return found.size == 0 ? .taken : .changed }
            if !reads, found.modified == note.modified { return .same }
            let digest = try FileDigest.of(folder.held.appending(name), size: note.size, flag)
            return digest?.sha256.description == note.sha256 ? .same : .changed
        } catch Errno.fileExists {
            return .taken
        } catch Errno.tooManySymbolicLinkLevels {
            // The person may have moved the photo, and left a link to it.
            let target = try? FileStatus.find(folder.held.appending(name), followsLinks: true)
            return target?.kind == .file ? .changed : .taken
        } catch Errno.noSuchFileOrDirectory {
            return .missing
        } catch let error as Errno {
            return .unreadable(error)
        }
    }

    // MARK: Fetching

    private func fetch(
        _ planned: [Planned], _ visit: inout Visit, _ download: ObjectDownload,
        _ observe: @escaping @Sendable (MirrorProgress) -> Void, _ count: Int
    ) async throws {
        let meter = MirrorMeter(sizes: planned.map(\.photo.size), observe: observe)
        let writesEvery = max(count / Self.stateWrites, 1)
        var failure: (any Error)?
        let outcomes = await DownloadBatch(download: download).run(
            planned.map(\.task), progress: meter.note
        ) { index, outcome in
            do {
                try await note(planned[index], outcome, &visit, writesEvery: writesEvery)
            } catch {
                failure = failure ?? error
            }
            meter.noteEnd()
        }
        do {
            try await save(&visit)
        } catch {
            failure = failure ?? error
        }
        try Task.checkCancellation()
        if let obstacle = visit.result.failures.first(where: { DownloadBatch.concernsAll($0.error) }) {
            visit.result.obstacle = Self.ofAll(obstacle.error, in: visit.folder)
            visit.result.failures.removeAll { DownloadBatch.concernsAll($0.error) }
            for (item, outcome) in zip(planned, outcomes) {
                guard case .failure(let error) = outcome, DownloadBatch.concernsAll(error) else { continue }
                visit.result.untried.append(item.name.string)
            }
        }
        if let failure { throw failure }
    }

    /// A name that the share tells may be that of another file of this person, which nothing replaces: such a photo comes
    /// under the mirror's own name.
    private func renamed(_ planned: [Planned], _ visit: inout Visit) -> [Planned] {
        if visit.result.obstacle != nil { return [] }
        let taken = Set(visit.result.kept.filter { $0.reason == .nameTaken }.map(\.name))
        var (others, told): ([Planned], Set<String>) = ([], [])
        for item in planned {
            guard let own = item.own, taken.contains(item.name.string) else { continue }
            var task = item.task
            task.name = own
            task.overwrites = options.isForced
            others.append((item.photo, own, nil, task))
            told.insert(item.name.string)
        }
        visit.result.kept.removeAll { $0.reason == .nameTaken && told.contains($0.name) }
        return others
    }

    private func note(
        _ item: Planned, _ outcome: DownloadBatch.Outcome, _ visit: inout Visit, writesEvery: Int
    ) async throws {
        let folder = visit.folder
        let index = item.photo.orderIndex
        switch outcome {
        case .success(.kept):
            visit.result.kept.append(MirrorResult.Kept(name: item.name.string, reason: .nameTaken))
            return
        case .failure(let error):
            let error = Self.told(error, in: folder)
            visit.result.failures.append(MirrorResult.Failure(name: item.name.string, error: error))
            return
        case .success(.alreadyThere), .success(.originalThere): visit.result.alreadyThere += 1
        case .success(.saved):
            visit.result.downloaded.append(item.name.string)
            visit.fetched.insert(index)
        }
        // A file that is gone by now is one that the person deleted.
        let found = await pool.finish { try? folder.attributes(of: item.name) }
        let file = MirrorState.File(
            name: item.name.string, sha256: item.photo.sha256.description, size: item.photo.size,
            modified: found?.modified ?? MirrorState.noTime)
        visit.state.note(file, at: index)
        visit.unwritten += 1
        if visit.unwritten >= writesEvery { try await save(&visit) }
    }

    /// With the folder under the name that people know.
    private static func told(_ error: any Error, in folder: MirrorFolder) -> any Error {
        DownloadError.told(error, of: folder.path, heldAs: folder.held)
    }

    /// What ends the work on all photos is told of the folder.
    private static func ofAll(_ error: any Error, in folder: MirrorFolder) -> any Error {
        guard var error = error as? DownloadError else { return error }
        error.path = folder.path
        return error
    }

    // MARK: What is written beside the photos

    /// Also when the task was cancelled: what has arrived is not to be forgotten.
    private func save(_ visit: inout Visit) async throws {
        guard visit.state != visit.written else { return }
        let bytes = try visit.state.encoded()
        guard try await write(bytes, to: MirrorFolder.stateName, isPrivate: true, &visit) else { return }
        visit.written = visit.state
        visit.unwritten = 0
    }

    /// A file beside the photos that cannot be written is named, and holds up none of them.
    /// - Returns: `false` when it was not written.
    /// - Throws: ``DownloadError`` where the photos would all meet the same.
    private func write(
        _ bytes: [UInt8], to name: FilePath.Component, isPrivate: Bool, _ visit: inout Visit
    ) async throws -> Bool {
        let folder = visit.folder
        visit.result.unwritten.removeAll { $0.name == name.string }
        do {
            try await pool.finish {
                Result { try folder.write(bytes, to: name, isPrivate: isPrivate, calls) }
            }.get()
            return true
        } catch let errno as Errno {
            let error = DownloadError(errno, folder.path.appending(name))
            guard !error.concernsAll, await pool.finish({ folder.isWritable }) else {
                // It is the folder that takes nothing: of the hidden file nobody knows.
                throw DownloadError(errno, folder.path)
            }
            visit.result.unwritten.append(MirrorResult.Failure(name: name.string, error: error))
            return false
        }
    }

    /// `vacation.json`, unless there is one that is not ours, or not ours any more.
    private func writeManifest(of share: CheckedShare, _ visit: inout Visit) async throws {
        let folder = visit.folder
        let bytes = try share.manifest.encoded()
        let digest = SHA256Digest(of: bytes)
        let noted = visit.state.manifest
        let name = MirrorFolder.manifestName
        let found: ManifestFile
        do {
            found = try await pool.runChecking { try Self.manifest(in: folder, $0) }
        } catch let errno as Errno {
            // It may be the person's, and may be ours: neither is said of it.
            found = .unreadable(errno)
        }
        switch found {
        case .file(digest): return try await noteManifest(bytes, digest, &visit)
        case .missing: break
        case .file(let other) where other.description == noted?.sha256: break
        case _ where options.isForced: break
        case .unreadable(let errno):
            let error = DownloadError.unreadable(errno, folder.path.appending(name))
            return visit.result.unwritten.append(MirrorResult.Failure(name: name.string, error: error))
        case .file, .other:
            return visit.result.notes.append(
                "\(name) in the folder is not the one of this mirror, and was left as it is")
        }
        if try await write(bytes, to: name, isPrivate: false, &visit) {
            try await noteManifest(bytes, digest, &visit)
        }
    }

    private enum ManifestFile: Equatable {
        case missing
        case file(SHA256Digest)
        /// A link, a folder, or larger than any manifest: that is none, and is not read to see it.
        case other
        case unreadable(Errno)
    }

    /// - Throws: `Errno`, `CancellationError`.
    private static func manifest(in folder: MirrorFolder, _ flag: CancellationFlag) throws -> ManifestFile {
        let name = MirrorFolder.manifestName
        do {
            guard let size = try folder.attributes(of: name)?.size else { return .missing }
            if size > MirrorFolder.largestManifest { return .other }
            return try FileDigest.of(folder.held.appending(name), size: nil, flag).map { .file($0.sha256) } ?? .other
        } catch Errno.tooManySymbolicLinkLevels, Errno.fileExists {
            return .other
        } catch Errno.noSuchFileOrDirectory {
            return .missing
        }
    }

    private func noteManifest(_ bytes: [UInt8], _ digest: SHA256Digest, _ visit: inout Visit) async throws {
        let folder = visit.folder
        let found = try await pool.run { try? folder.attributes(of: MirrorFolder.manifestName) }
        visit.state.manifest = MirrorState.File(
            name: MirrorFolder.manifestName.string, sha256: digest.description, size: Int64(bytes.count),
            modified: found?.modified ?? MirrorState.noTime)
    }
}
