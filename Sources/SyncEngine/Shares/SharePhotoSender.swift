import FoundationEssentials
package import SyncCore
import SyncDigest
package import SyncLedger
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
        let attributes = Self.attributes(of: copy)
        if let source, source.sha256 == copy.digest.sha256, source.contentType == attributes.contentType,
            !source.storageClass.isArchive, source.problem == nil
        {
            object = try await storage.copy(source.key, to: key, body, metadata: attributes.metadata)
        }
        if object == nil { object = try await storage.put(body, at: key, attributes) }
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

/// Makes the copies of a photo or a film that others may see. Its calls block, where they do not say otherwise: the caller
/// gives them a thread.
struct SharedCopyWork: Sendable {
    static let thumbnailSide = 320
    /// Bytes. A stored photo that is larger is not brought here: it has to pass through memory, and several do at once.
    static let mostBytes = 128 << 20

    struct Copies: Sendable {
        let photo: Made
        /// `nil` for a film of which no picture can be made.
        let thumbnail: Made?
    }

    /// A copy, and the bytes that it consists of.
    struct Made: Sendable {
        let copy: StoredCopy
        let body: ObjectBody
    }

    let reducer: any PhotoReducer
    let maker: any SharedCopyMaker
    /// Makes the file of an original that is stored as JPEG XL; `nil`: such a one counts as not kept.
    let recompressor: (any OriginalRecompressor)?

    /// Of a file, as long as it is the photo that was chosen.
    /// - Parameter stored: of its stored copy, which in its place, after a restore, is the photo too.
    func copies(
        of file: FilePath, md5: MD5Digest, stored: SHA256Digest?, _ size: SharedSize
    ) throws(PhotoError) -> Copies {
        let before = try reducer.examine(file)
        guard before.digest.md5 == md5 || before.digest.sha256 == stored else {
            throw PhotoError(.changed, "the file has changed")
        }
        let copies = try copies(of: file, before, size)
        // Made of other bytes than those that were examined, it would be another photo.
        guard try reducer.examine(file).stamp == before.stamp else {
            throw PhotoError(.changed, "the file has changed")
        }
        return copies
    }

    func copies(of source: PhotoSource, _ size: SharedSize) throws(PhotoError) -> Copies {
        let photo = try maker.sharedCopy(of: source, size: size)
        let thumbnail = try maker.thumbnail(of: source, side: Self.thumbnailSide)
        return Copies(
            photo: Made(copy: photo, body: Self.body(photo)),
            thumbnail: Made(copy: thumbnail, body: Self.body(thumbnail)))
    }

    /// Of what is kept of a photo's own bytes.
    /// - Parameters:
    ///   - md5: of the photo.
    ///   - pool: for what blocks.
    ///   - missed: told what the store has against it, unless it says nothing of the object.
    /// - Returns: `nil` where it cannot be read now, or more can be made of the stored copy: of a raw file in memory it is not
    ///   known that it is one.
    /// - Throws: ``StoreError``, ``PhotoError``, `CancellationError`.
    func copies(
        ofOriginal original: ObjectRecord, md5: MD5Digest, _ size: SharedSize, _ reader: ObjectReader,
        _ pool: BlockingPool, now: Date, missed: (StoreError) async throws -> Void = { _ in }
    ) async throws -> Copies? {
        guard original.isReadable(at: now), original.size <= Self.mostBytes,
            !MediaType.rawNames.contains(original.contentType)
        else { return nil }
        do {
            let stored = try await reader.read(original.key)
            return try await pool.run { [self] in
                try original.file(md5, of: stored, by: recompressor).map { try copies(of: .bytes($0), size) }
            }
        } catch let error as StoreError where [.archived, .notFound, .badDigest].contains(error.code) {
            try await missed(error)
        } catch let error as PhotoError where error.isPermanent {
            // The copy was made of the same bytes when they were stored.
        }
        return nil
    }

    /// Of a film that is not on this disk there is no poster.
    func filmCopies(of bytes: [UInt8], as film: FilmType) throws(PhotoError) -> Copies {
        let copy = try maker.sharedFilm(.bytes(bytes), as: film)
        return Copies(photo: Made(copy: copy, body: Self.body(copy)), thumbnail: nil)
    }

    private func copies(
        of file: FilePath, _ examined: PhotoFacts, _ size: SharedSize
    ) throws(PhotoError) -> Copies {
        guard let film = FilmType(contentType: examined.type.name) else { return try copies(of: .file(file), size) }
        if let reason = Self.refusal(ofFilmOf: examined.stamp.size) { throw PhotoError(.overLimit, reason) }
        let copy = try maker.sharedFilm(.file(file), as: film)
        let poster = try maker.poster(of: file, lasting: copy.duration)
        return Copies(
            photo: Made(copy: copy, body: ObjectBody(copy, of: file, examined.stamp)),
            thumbnail: poster.map { Made(copy: $0, body: Self.body($0)) })
    }

    /// - Parameter size: in bytes.
    static func refusal(ofFilmOf size: Int64) -> String? {
        let limit = ShareManifestRules.maximumFilmSize
        return size > limit ? "films of more than \(limit >> 30) GiB are not shared" : nil
    }

    private static func body(_ copy: StoredCopy) -> ObjectBody {
        guard case .reduced(let bytes) = copy.content else { preconditionFailure("copies for others are bytes") }
        return ObjectBody(bytes: bytes, digest: copy.digest)
    }
}

extension ObjectRecord {
    /// The file of a photo again, of what is stored as this original. Blocks.
    /// - Parameters:
    ///   - md5: of the photo.
    ///   - recompressor: makes a JPEG of JPEG XL.
    /// - Returns: `nil` where it would not be the photo, or there is no recompressor for it.
    /// - Throws: ``PhotoError``, `Errno`.
    package func file(
        _ md5: MD5Digest, of stored: [UInt8], by recompressor: (any OriginalRecompressor)?
    ) throws -> [UInt8]? {
        var bytes = stored
        if encoding == .jxl {
            guard let recompressor else { return nil }
            let (input, output) = (try MemoryFile(named: "original"), try MemoryFile(named: "photo"))
            try input.write(stored)
            try recompressor.reconstruct(input.descriptor, size: Int64(stored.count), into: output.descriptor)
            bytes = try output.bytes(from: 0, Int(try output.size()))
        }
        return ContentDigest(of: bytes).md5 == md5 ? bytes : nil
    }
}
