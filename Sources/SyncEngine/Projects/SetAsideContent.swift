import SyncCore
import SyncLedger

/// Finds what a file of a projects folder is stored as when its key has the content of another file by now: that of another
/// machine, which has copied what was there to a version before it stored its own (``ProjectVersions``).
struct SetAsideContent: Sendable {
    let store: any ReadableStore
    let ledger: LedgerQueue

    /// Looks among the versions for an object that the store no longer has under its key. What counts as stored there is
    /// stored as the latest whole version with the same content from now on.
    ///
    /// What is damaged under its own key is not looked for: it is mended there.
    /// - Returns: that version, and nothing counts as stored under the key any more; `nil`: it is as broken as it was found.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    @discardableResult
    func find(_ gone: ObjectRecord) async throws -> ObjectRecord? {
        guard let md5 = gone.md5, let file = gone.key.versionedFile,
            try await !ledger({ try $0.anyPhotoPaths(of: gone.key, limit: 1) }).isEmpty
        else { return nil }
        if let stored = try await store.readableHead(gone.key), stored.photoMD5 == md5 { return nil }
        let versions = try await store.all(below: file.versions).objects.map(\.key)
            .filter { file.isVersion($0) && $0 != gone.key }
        for key in file.candidates(with: md5, among: versions) {
            guard let (version, maker) = try await whole(key, md5, insteadOf: gone) else { continue }
            let isFollowed = try await ledger.finish {
                try $0.noteSetAside(version, of: file.name, maker: maker, inPlaceOf: gone)
            }
            return isFollowed ? version : nil
        }
        return nil
    }

    /// - Returns: with whose it is, as it tells; `nil` for what is not proved to be that content: the name of a version has
    ///   some digits of its digest.
    private func whole(
        _ key: ObjectKey, _ md5: MD5Digest, insteadOf gone: ObjectRecord
    ) async throws -> (version: ObjectRecord, maker: VersionMaker)? {
        guard let info = try await store.readableHead(key), info.photoMD5 == md5 else { return nil }
        var version = ObjectRecord(info)
        switch try await ObjectReadback(store).claim(of: info, isRuin: ledger.knowsAsRuin(key)) {
        case .proven(let sha256): version.sha256 = sha256
        // It is archived: what was copied is known.
        case .unprovable:
            guard let sha256 = gone.sha256, info.claimedSHA256 == sha256, info.size == gone.size else { return nil }
            version.sha256 = sha256
        case .contradicted, .none: return nil
        }
        (version.takenAt, version.dropped, version.note) = (gone.takenAt, gone.dropped, gone.note)
        return (version, VersionMaker(of: info, try await ledger { try $0.catalogStatus() }))
    }
}
