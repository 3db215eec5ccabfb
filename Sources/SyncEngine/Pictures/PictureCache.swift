import FoundationEssentials
import Glibc
package import SyncCore
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Pictures for a screen, as JPEGs in a folder of their own: small ones for lists, and large ones. Each is made once, from the
/// file on the disk while that is the photo, else from what is stored of it and can be read. Nothing else depends on the
/// folder: whoever deletes it loses time, and the small pictures of what is archived.
///
/// The folder has bounds in bytes. When they are passed, the pictures go that were made or shown longest ago, but for
/// the small ones of photos that only the archive has: those could not be made again.
package struct PictureCache: Sendable {
    package enum Size: String, Sendable, CaseIterable {
        /// At most 320 pixels in each direction.
        case thumbnail
        /// As large as stored copies are.
        case picture
    }

    /// Bytes.
    package struct Bounds: Sendable {
        package var thumbnails: Int64
        package var pictures: Int64

        package init(thumbnails: Int64 = 1 << 30, pictures: Int64 = 256 << 20) {
            self.thumbnails = thumbnails
            self.pictures = pictures
        }

        func limit(of size: Size) -> Int64 { size == .thumbnail ? thumbnails : pictures }
    }

    private static let thumbnailSide = 320
    /// Between two looks at how much there is.
    private static let writesBetweenChecks = 200
    /// Pictures of what only the archive has, which are passed over before a look is given up.
    private static let mostKept = 1_000
    /// Nanoseconds after which a picture that is shown is noted anew.
    private static let shownAgain: Int64 = 86_400_000_000_000

    private let folder: FilePath
    private let ledger: LedgerQueue
    private let store: any ReadableStore
    private let keys: KeyLayout
    private let maker: any SharedCopyMaker
    private let pool: BlockingPool
    private let disk: BlockingPool
    private let policy: ReducePolicy
    private let bounds: Bounds
    /// Reading costs nothing in any class.
    private let isFree: Bool
    private let time: TimeSource
    private let turns = KeyedLock<MD5Digest>()
    /// Pictures that are made at once: each may take a whole photo into memory, and uploads have the same threads.
    private let slots = Slots(2)
    private let failures: PictureFailures
    private let writes = Lock(0)

    /// - Parameters:
    ///   - folder: absolute; made when it is needed.
    ///   - store: without retries: who looks at a page does not wait for long.
    ///   - pool: for decoding.
    ///   - disk: for looks at the folder.
    package init(
        in folder: FilePath, ledger: LedgerQueue, store: any ReadableStore, keys: KeyLayout,
        maker: any SharedCopyMaker, pool: BlockingPool, disk: BlockingPool, policy: ReducePolicy, time: TimeSource,
        bounds: Bounds = Bounds()
    ) {
        self.folder = folder
        self.ledger = ledger
        self.store = store
        self.keys = keys
        self.maker = maker
        self.pool = pool
        self.disk = disk
        isFree = store.capabilities.lifecycle == .byAgent
        self.time = time
        failures = PictureFailures(time: time)
        var policy = policy
        // It does not leave this machine.
        policy.stripLocation = false
        self.policy = policy
        self.bounds = bounds
    }

    /// The file of a picture.
    /// - Returns: `nil` when there is nothing that it could be made of now.
    /// - Throws: ``LedgerError``, `Errno` or ``FolderError`` of the folder, `CancellationError`. A photo that cannot be decoded and a
    ///   store that does not answer are no errors.
    package func file(of photo: MD5Digest, _ size: Size) async throws -> FilePath? {
        let path = path(of: photo, size)
        if try await disk.run({ Self.show(path) }) { return path }
        if failures.contains(photo, size) { return nil }
        return try await turns.withKey(photo) {
            if try await disk.run({ Self.show(path) }) { return path }
            let outcome = try await slots.withSlot {
                // Whoever scrolled on does not wait for it.
                try Task.checkCancellation()
                return try await make(photo, size)
            }
            let bytes: [UInt8]
            switch outcome {
            case .made(let made): bytes = made
            case .failed(let isForGood):
                failures.note(photo, size, isForGood: isForGood)
                return nil
            case .nothing: return nil
            }
            try await disk.run {
                try Folder.make(path.removingLastComponent(), permissions: .ownerReadWriteExecute)
                do {
                    _ = try NewFile.save(bytes, to: path, permissions: .ownerReadWrite, overwrites: true)
                } catch Errno.wouldBlock {
                    // Another process makes the same one.
                }
            }
            if writes.add() % Self.writesBetweenChecks == 1 {
                for size in Size.allCases { try? await prune(size) }
            }
            return path
        }
    }

    /// Whether it is there; then it was shown now.
    private static func show(_ path: FilePath) -> Bool {
        guard let stamp = FileStamp.ofFile(path) else { return false }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if Int64(now.tv_sec) * 1_000_000_000 - shownAgain > stamp.modified {
            noteShown(path)
        }
        return true
    }

    /// Now, by the file's own time.
    private static func noteShown(_ path: FilePath) {
        // One that cannot be noted goes a little too early, and is made again.
        try? path.setTimesToNow()
    }

    /// `thumbnail/5d/5d41….jpg`
    private func path(of photo: MD5Digest, _ size: Size) -> FilePath {
        let name = photo.description
        return folder.appending(size.rawValue).appending(String(name.prefix(2))).appending("\(name).jpg")
    }

    // MARK: Making

    private enum Outcome {
        case made([UInt8])
        /// It was tried, and will hardly be better the next moment, or ever: the bytes are no picture that can be shown.
        case failed(isForGood: Bool)
        /// Nothing of it can be read now.
        case nothing
    }

    private func make(_ photo: MD5Digest, _ size: Size) async throws -> Outcome {
        let key = try keys.photo(PhotoID(photo))
        let items = try await ledger { try $0.timeline(of: photo, storedAs: key) }
        var outcome = Outcome.nothing
        for item in items {
            guard case .photo(let status) = item.source, status.md5 == photo, status.state.isOnDisk else { continue }
            switch try await make(of: status, size) {
            case .made(let bytes): return .made(bytes)
            case .failed(let isForGood): outcome = .failed(isForGood: isForGood)
            case .nothing: break
            }
        }
        let objects = items.compactMap(\.object).filter { $0.md5 == photo && $0.problem == nil }
        for object in objects where mayRead(object) {
            guard let bytes = try? await store.bytes(of: object.key, limit: SharedCopyWork.mostBytes) else {
                outcome = .failed(isForGood: false)
                continue
            }
            try Task.checkCancellation()
            do {
                if let made = try await picture(.bytes(bytes), size) { return .made(made) }
                outcome = .failed(isForGood: true)
            } catch let error as PhotoError {
                // That the machine has no memory left says nothing of the bytes.
                outcome = .failed(isForGood: error.isPermanent)
            }
        }
        return outcome
    }

    /// Whoever scrolls has agreed to no price: what a class asks for each reading is not read for a picture.
    private func mayRead(_ object: ObjectRecord) -> Bool {
        object.canBeReadUnpriced(isFree: isFree, at: time.now()) && object.contentType.hasPrefix("image/")
            && object.size <= SharedCopyWork.mostBytes
    }

    /// From the file, as long as it is the one that the ledger knows.
    private func make(of status: PhotoStatus, _ size: Size) async throws -> Outcome {
        let path = status.path
        guard try await disk.run({ status.isAsKnown }) else { return .nothing }
        let isFilm = status.object.flatMap { FilmType(contentType: $0.contentType) } != nil
        if isFilm, size != .thumbnail { return .nothing }
        let made: [UInt8]?
        do {
            made = try await isFilm ? poster(of: path, lasting: status.duration) : picture(.file(path), size)
        } catch is PhotoError {
            made = nil
        }
        guard let made else { return .failed(isForGood: false) }
        return try await disk.run { status.isAsKnown } ? .made(made) : .nothing
    }

    /// - Throws: ``PhotoError``, `CancellationError`.
    private func poster(of film: FilePath, lasting duration: Duration?) async throws -> [UInt8]? {
        try await decode { [maker] in try maker.poster(of: film, lasting: duration)?.bytes }
    }

    /// - Throws: ``PhotoError``, `CancellationError`.
    private func picture(_ source: PhotoSource, _ size: Size) async throws -> [UInt8]? {
        try await decode { [maker, policy] in
            switch size {
            case .thumbnail: try maker.thumbnail(of: source, side: Self.thumbnailSide).bytes
            case .picture: try maker.sharedCopy(of: source, size: .reduced(policy)).bytes
            }
        }
    }

    /// Whoever scrolled on has stopped it: that is no failure of the photo.
    private func decode(_ body: @escaping @Sendable () throws -> [UInt8]?) async throws -> [UInt8]? {
        do {
            return try await pool.run { try PooledWork.step { try body() } }
        } catch let error as PhotoError where error.code == .stopped {
            throw CancellationError()
        }
    }

    // MARK: Bounds

    /// Takes pictures away until a tenth is free.
    package func prune(_ size: Size) async throws {
        let (folder, limit) = (folder.appending(size.rawValue), bounds.limit(of: size))
        var files = try await disk.run { try Self.files(below: folder) }
        var bytes = files.reduce(0) { $0 + $1.bytes }
        guard bytes > limit else { return }
        files.sort { ($0.shown, $0.photo.description) < ($1.shown, $1.photo.description) }
        var kept = 0
        for file in files {
            if bytes <= limit - limit / 10 || kept > Self.mostKept { return }
            if size == .thumbnail, try await isOnlyArchived(file.photo) {
                kept += 1
                // The next look begins behind it.
                try await disk.run { Self.noteShown(file.path) }
                continue
            }
            try await disk.run { _ = try? file.path.unlink() }
            bytes -= file.bytes
        }
    }

    private func isOnlyArchived(_ photo: MD5Digest) async throws -> Bool {
        let key = try keys.photo(PhotoID(photo))
        let items = try await ledger { try $0.timeline(of: photo, storedAs: key) }
        return !items.isEmpty
            && items.allSatisfy { item in
                if case .photo(let status) = item.source, status.state.isOnDisk { return false }
                return item.object?.storageClass.isArchive == true
            }
    }

    private struct CachedFile: Sendable {
        let path: FilePath
        let photo: MD5Digest
        let bytes: Int64
        /// Nanoseconds since 1970: when it was made or shown last, to the day.
        let shown: Int64
    }

    private static func files(below folder: FilePath) throws -> [CachedFile] {
        try Folder.folders(in: folder).flatMap { part in
            try (Folder.names(in: part) ?? []).compactMap { name in
                guard let photo = MD5Digest(hex: name.stem), let stamp = FileStamp.ofFile(part.appending(name))
                else { return nil }
                return CachedFile(path: part.appending(name), photo: photo, bytes: stamp.size, shown: stamp.modified)
            }
        }
    }
}

extension PhotoStatus {
    /// Whether its file has the size and the time that the ledger knows. Blocks.
    package var isAsKnown: Bool {
        guard let stamp = FileStamp.ofFile(path) else { return false }
        return stamp.size == bytesLocal
            && abs(Double(stamp.modified) / 1e9 - modified.timeIntervalSince1970) < 1e-3
    }
}

extension StoredCopy {
    /// `nil` for one that is not in memory.
    fileprivate var bytes: [UInt8]? {
        if case .reduced(let bytes) = content { bytes } else { nil }
    }
}

/// What could not be made lately, so that no page decodes or asks for it again at once.
private struct PictureFailures: Sendable {
    private struct Picture: Hashable {
        let photo: MD5Digest
        let size: PictureCache.Size
    }

    private static let length: TimeInterval = 60
    private static let most = 2_000

    let time: TimeSource
    private let ends = Lock([Picture: Date]())

    func contains(_ photo: MD5Digest, _ size: PictureCache.Size) -> Bool {
        let now = time.now()
        return ends.withLock { $0[Picture(photo: photo, size: size)].map { $0 > now } ?? false }
    }

    /// - Parameter isForGood: as long as this process lives.
    func note(_ photo: MD5Digest, _ size: PictureCache.Size, isForGood: Bool) {
        let now = time.now()
        let end = isForGood ? Date.distantFuture : now.addingTimeInterval(Self.length)
        ends.withLock { ends in
            if ends.count >= Self.most { ends = ends.filter { $0.value > now } }
            if ends.count >= Self.most { ends = [:] }
            ends[Picture(photo: photo, size: size)] = end
        }
    }
}
