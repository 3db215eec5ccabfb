import SyncCore

/// What is told of a share that has ended. Nothing of it can be fetched any more, so the files themselves are looked at.
extension ShareMirror {
    /// Of one whose manifest can still be read.
    func expired(
        _ share: CheckedShare, _ end: MirrorResult.End, _ known: MirrorState?, in folder: MirrorFolder?
    ) async throws -> MirrorResult {
        var state = known ?? MirrorState(shareID: share.id)
        share.photos.forEach { state.recall($0) }
        var result = MirrorResult(shareID: share.id, destination: destination)
        result.share = share
        result.end = end
        try await look(for: plan(for: share, state).expected(of: share, state), state, in: folder, &result)
        result.isComplete = result.isAllHere
        return result
    }

    /// Of one that cannot be read any more. Without what the share had last, all that was put there counts as its.
    func gone(_ id: ShareID, _ known: MirrorState, in folder: MirrorFolder?) async throws -> MirrorResult {
        var result = MirrorResult(shareID: id, destination: destination)
        result.end = .gone
        try await look(for: known.expected ?? known.photos, known, in: folder, &result)
        result.isComplete = result.isAllHere && (known.expected != nil || known.isComplete)
        return result
    }

    private func look(
        for expected: [Int: MirrorState.File], _ state: MirrorState, in folder: MirrorFolder?,
        _ result: inout MirrorResult
    ) async throws {
        let files = expected.sorted { $0.key < $1.key }.map { index, file in
            let noted = state.photos[index].flatMap { $0.sha256 == file.sha256 ? $0 : nil }
            return (file: noted ?? file, wasFetched: noted != nil)
        }
        let standings =
            if let folder { try await standings(of: files.map(\.file), in: folder) } else {
                files.map { _ in MirrorStatus.missing }
            }
        for ((file, wasFetched), standing) in zip(files, standings) {
            switch standing {
            case .same: result.alreadyThere += 1
            case .missing where wasFetched: result.kept.append(MirrorResult.Kept(name: file.name, reason: .deleted))
            case .missing: result.neverFetched.append(file.name)
            case .changed where wasFetched: result.kept.append(MirrorResult.Kept(name: file.name, reason: .changed))
            case .unreadable(let errno): result.noteUnreadable(file.name, errno)
            case .changed, .taken: result.kept.append(MirrorResult.Kept(name: file.name, reason: .nameTaken))
            }
        }
    }
}
