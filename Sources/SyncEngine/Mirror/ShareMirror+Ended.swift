import SyncCore
import SyncSystem

/// What is told of a share that has ended. Nothing of it can be fetched any more, so the files themselves are looked at.
extension ShareMirror {
    /// - Parameter share: as it was last, read from its place or, where it is gone, from the folder.
    func ended(
        _ share: CheckedShare, _ end: MirrorResult.End, _ memory: KnownMirror, in folder: MirrorFolder?
    ) async throws -> MirrorResult {
        var state = memory.known ?? MirrorState(shareID: share.id)
        share.photos.forEach { state.reinstate($0) }
        let found = try await search(for: share.photos, of: share, state, in: folder)
        for (index, found) in found where found.isSame { state.note(found.file, at: index) }
        let expected = plan(for: share, state).expected(of: share, state)
            .merging(found.filter { !$0.value.isSame }.mapValues(\.file)) { $1 }
        var result = MirrorResult(shareID: share.id, destination: destination)
        result.end = end
        result.hadPhotos = memory.hadPhotos
        try await check(expected, state, in: folder, &result)
        result.isComplete = result.isAllHere
        return result
    }

    /// Of one that cannot be read any more. What it had last is known by the hidden file, or by the manifest beside it;
    /// without either, all that was put there counts as its.
    /// - Returns: `nil` where nothing is known of it here.
    func gone(_ memory: KnownMirror, in folder: MirrorFolder?) async throws -> MirrorResult? {
        if let share = memory.share, memory.isAsked { return try await ended(share, .gone, memory, in: folder) }
        guard let known = memory.known, let id = ShareID(known.shareId) else { return nil }
        var result = MirrorResult(shareID: id, destination: destination)
        result.end = .gone
        result.hadPhotos = memory.hadPhotos
        try await check(known.expected ?? known.photos, known, in: folder, &result)
        result.isComplete = result.isAllHere && !memory.isDamaged && (known.expected != nil || known.isComplete)
        return result
    }

    private func check(
        _ expected: [Int: MirrorState.File], _ state: MirrorState, in folder: MirrorFolder?,
        _ result: inout MirrorResult
    ) async throws {
        let files = expected.sorted { $0.key < $1.key }.map { index, file in
            let noted = state.photos[index].flatMap { $0.sha256 == file.sha256 ? $0 : nil }
            return (file: noted ?? file, wasFetched: noted != nil)
        }
        // There is no other look after this one.
        let statuses =
            if let folder { try await statuses(of: files.map(\.file), in: folder, reads: true) } else {
                files.map { _ in MirrorStatus.missing }
            }
        for ((file, wasFetched), status) in zip(files, statuses) {
            switch status {
            case .same: result.alreadyThere += 1
            case .missing where wasFetched: result.kept.append(MirrorResult.Kept(name: file.name, reason: .deleted))
            case .missing: result.neverFetched.append(file.name)
            case .changed where wasFetched: result.kept.append(MirrorResult.Kept(name: file.name, reason: .changed))
            case .unreadable(let errno): result.noteUnreadable(file.name, errno)
            case .changed, .taken: result.kept.append(MirrorResult.Kept(name: file.name, reason: .nameTaken))
            }
        }
    }

    // MARK: Photos of which nothing is noted

    struct Found: Sendable {
        var file: MirrorState.File
        /// Whether it is as the share has it; else something has the name.
        let isSame: Bool
    }

    /// Looks for photos of which nothing is noted under all names that they can have: another run may have kept the names of
    /// their files, or not.
    /// - Returns: by order index; none for those of which nothing is there.
    func search(
        for photos: [CheckedShare.Photo], of share: CheckedShare, _ state: MirrorState, in folder: MirrorFolder?
    ) async throws -> [Int: Found] {
        let indices = photos.map(\.orderIndex).filter { state.photos[$0] == nil }
        guard let folder, !indices.isEmpty else { return [:] }
        let choices = [options.keepsNames, !options.keepsNames].map {
            plan(for: share, state, keepsNames: $0).expected(of: share, state)
        }
        return try await pool.runChecking { flag in
            var found: [Int: Found] = [:]
            for index in indices {
                found[index] = try Self.first(of: choices.compactMap { $0[index] }, in: folder, flag)
            }
            return found
        }
    }

    private static func first(
        of files: [MirrorState.File], in folder: MirrorFolder, _ flag: CancellationFlag
    ) throws -> Found? {
        var other: Found?
        for file in files {
            switch try status(of: file, in: folder, reads: true, flag) {
            case .same:
                var file = file
                // By its time, it needs no second reading.
                let status = file.component.flatMap { try? folder.attributes(of: $0) }
                file.modified = status?.modified ?? file.modified
                return Found(file: file, isSame: true)
            case .missing: continue
            case .changed, .taken, .unreadable: other = other ?? Found(file: file, isSame: false)
            }
        }
        return other
    }
}
