import FoundationEssentials
import SyncCore
import SyncDigest
import SyncLedger
import SyncSystem
import SystemPackage

/// Makes the copy of one photo or film that others may see, and stores it with a small picture of it.
struct SharePhotoSender: Sendable {
    enum Answer: Hashable, Sendable {
        case outcome(SharePhotoOutcome)
        /// Its stored copy has to come back from the archive first.
        case archived(ObjectKey)
    }

    let store: any ObjectStore
    let ledger: LedgerQueue
    let scanner: any TreeScanner
    let reducer: any PhotoReducer
    let maker: any SharedCopyMaker
    /// Makes the file of an original that is stored as JPEG XL; `nil`: such a one counts as not kept.
    let recompressor: (any OriginalRecompressor)?
    let pool: BlockingPool
    let policy: ReducePolicy
    let time: TimeSource
    /// Of each share one at a time.
    let filmsInMemory = KeyedLock<ShareID>()

    private var work: SharedCopyWork { SharedCopyWork(reducer: reducer, maker: maker, recompressor: recompressor) }

    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`. What is wrong with the photo is an answer.
    func send(_ photo: SharePhoto, of share: ShareRecord) async throws -> Answer {
        switch try await copies(of: photo, share) {
        case .archived(let key): return .archived(key)
        case .unfit(let reason, let isFinal): return .outcome(.failed(reason, isFinal: isFinal))
        case .made(let copies): return .outcome(try await put(copies, photo, share))
        }
    }

    // MARK: The source

    private enum Source: Sendable {
        case made(SharedCopyWork.Copies)
        case archived(ObjectKey)
        case unfit(String, isFinal: Bool)
    }

    /// The file on the disk when it is still the photo; else its stored copy, unless the file was changed or taken away
    /// since it was chosen: then nobody is to see it any more as it was.
    private func copies(of photo: SharePhoto, _ share: ShareRecord) async throws -> Source {
        let size: SharedSize = share.quality == .full ? .full(policy.limits) : .reduced(policy)
        let source = try await ledger { ledger in try photo.sourceKey.flatMap { try ledger.object($0) } }
        let stored = source?.sha256
        var reason: String
        do {
            return .made(
                try await pool.run { [work] in
                    try work.copies(of: photo.path, md5: photo.md5, stored: stored, size)
                })
        } catch let error as PhotoError {
            if error.isPermanent { return .unfit("\(error)", isFinal: true) }
            if photo.isLocal, let loss = try await loss(after: error, in: share.folder) {
                return .unfit(loss, isFinal: false)
            }
            reason = "\(error)"
        }
        guard let key = photo.sourceKey else {
            return .unfit("\(reason), and nothing is stored of it; share again", isFinal: false)
        }
        do {
            let reader = ObjectReader(store: store, limit: SharedCopyWork.mostBytes, time: time)
            guard let film = source.flatMap({ FilmType(contentType: $0.contentType) }) else {
                if share.quality == .full, let copies = try await copies(ofOriginalOf: photo, key, reader, size) {
                    return .made(copies)
                }
                let bytes = try await reader.read(key)
                return .made(try await pool.run { [work] in try work.copies(of: .bytes(bytes), size) })
            }
            // All of a film, and its copy, are in memory: of one at a time.
            return try await filmsInMemory.withKey(share.id) {
                let bytes = try await reader.read(key)
                return .made(try await pool.run { [work] in try work.filmCopies(of: bytes, as: film) })
            }
        } catch let error as StoreError where error.code == .archived {
            try await noteClass(of: key)
            return .archived(key)
        } catch let error as StoreError
            where error.code == .notFound || error.code == .tooLarge || error.code == .badDigest
        {
            try await ObjectAudit(store: store, ledger: ledger, time: time).recheck(key, after: error)
            return .unfit("\(error)", isFinal: false)
        } catch let error as PhotoError {
            return .unfit("\(error)", isFinal: error.isPermanent)
        }
    }

    private func copies(
        ofOriginalOf photo: SharePhoto, _ key: ObjectKey, _ reader: ObjectReader, _ size: SharedSize
    ) async throws -> SharedCopyWork.Copies? {
        guard let original = try await ledger({ try $0.original(of: key) }) else { return nil }
        return try await work.copies(
            ofOriginal: original, md5: photo.md5, size, reader, pool, now: time.now()
        ) { error in
            if error.code == .archived { return try await noteClass(of: original.key) }
            try await ObjectAudit(store: store, ledger: ledger, time: time).recheck(original.key, after: error)
        }
    }

    /// What became of a file that was there; `nil` where that is not known: without its folder, a drive may be away.
    private func loss(after error: PhotoError, in folder: FilePath) async throws -> String? {
        if error.code == .changed { return "its file is another one by now; share the vacation again" }
        guard error.code == .missing || error.code == .notAFile,
            try await pool.run({ [scanner] in scanner.isFolder(folder) })
        else { return nil }
        return "its file is no longer there; share the vacation again"
    }

    /// The ledger took it for readable: somebody else has moved it. Whoever has to ask for its restore finds it there.
    private func noteClass(of key: ObjectKey) async throws {
        let askedAt = time.now()
        guard let info = try await store.head(key) else { return }
        _ = try await ledger.finish { try $0.mergeReport([info], tellsRestores: true, at: askedAt) }
    }

    // MARK: The store

    private func put(_ copies: SharedCopyWork.Copies, _ photo: SharePhoto, _ share: ShareRecord) async throws
        -> SharePhotoOutcome
    {
        let (copy, body) = (copies.photo.copy, copies.photo.body)
        guard let width = copy.width, let height = copy.height else {
            return .failed("its width and height cannot be read", isFinal: true)
        }
        let storage = ShareStorage(store: store)
        var thumbnail: ShareObject?
        if let made = copies.thumbnail {
            thumbnail = try await storage.put(
                made.body, at: share.keys.thumbnail(photo.slot), Self.attributes(of: made.copy))
        }
        let film = FilmType(contentType: copy.type.name)
        let key = share.keys.copy(photo.slot, film: film)
        let source = try await ledger { ledger in try photo.sourceKey.flatMap { try ledger.object($0) } }
        var object: ShareObject?
        // A copy takes the stored photo's metadata along: the digest of the original is to be that of these bytes.
        if let source, source.sha256 == copy.digest.sha256, photo.md5 == copy.digest.md5,
            !source.storageClass.isArchive, source.problem == nil
        {
            object = try await storage.copy(source.key, to: key, body)
        }
        if object == nil { object = try await storage.put(body, at: key, Self.attributes(of: copy)) }
        let objects = [thumbnail, object].compactMap(\.self)
        try await ledger.finish { try $0.noteShareObjects(objects, of: share.id) }
        return .stored(
            SharePhoto.Copy(
                sha256: copy.digest.sha256, size: body.size, width: width, height: height, film: film,
                duration: copy.duration, hasThumbnail: thumbnail != nil),
            takenAt: copy.takenAt)
    }

    private static func attributes(of copy: StoredCopy) -> ObjectAttributes {
        var metadata = [MetadataName.sha256: "\(copy.digest.sha256)"]
        metadata[MetadataName.width] = copy.width.map(String.init)
        metadata[MetadataName.height] = copy.height.map(String.init)
        metadata[MetadataName.duration] = copy.duration?.secondsText
        return ObjectAttributes(contentType: copy.type.name, metadata: metadata)
    }
}
