import FoundationEssentials
package import Logging
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Takes what guests put beside a share to this machine, where it waits for its owner's word, whatever becomes of the share.
/// In the store an empty object is left in its place, so that a share takes no more in its life than it may.
package struct GuestIntake: Sendable {
    /// Where a guest's photo waits, and its small picture.
    package struct Box: Sendable {
        private let folder: FilePath
        private let freeBytes: @Sendable (FilePath) -> Int64?

        /// - Parameters:
        ///   - folder: absolute; made when it is needed.
        ///   - freeBytes: on the disk of a path; blocks. `nil` where that cannot be told.
        package init(_ folder: FilePath, freeBytes: @escaping @Sendable (FilePath) -> Int64?) {
            self.folder = folder
            self.freeBytes = freeBytes
        }

        package func file(of photo: GuestPhoto) -> FilePath {
            place(of: photo.share).appending("\(photo.slot).\(MediaType.ending(ofContentType: photo.contentType))")
        }

        /// There is none of a photo that cannot be decoded here.
        package func thumbnail(of photo: GuestPhoto) -> FilePath {
            place(of: photo.share).appending("\(photo.slot).thumbnail.jpg")
        }

        fileprivate func place(of share: ShareID) -> FilePath { folder.appending("\(share)") }

        /// While it is read.
        fileprivate func draft(_ share: ShareID, _ slot: Int) -> FilePath { place(of: share).appending("\(slot).new") }

        /// What is kept of a share, by its slots.
        fileprivate func kept(_ share: ShareID) throws -> [(slot: Int, file: FilePath)] {
            let place = place(of: share)
            return try (Folder.names(in: place) ?? []).compactMap { name in
                let parts = name.string.split(separator: ".")
                guard parts.count == 2, parts[1] != "new", let slot = Int(parts[0]) else { return nil }
                return (slot, place.appending(name))
            }
        }

        /// One process at a time takes photos of a share in.
        /// - Returns: what holds the lock; `nil` while another has it.
        fileprivate func lock(_ share: ShareID) throws -> FileDescriptor? {
            try Folder.make(place(of: share), permissions: .ownerReadWriteExecute)
            let folder = try FileDescriptor.opened(place(of: share), .readOnly, [.directory, .noFollow, .closeOnExec])
            if folder.tryLock() { return folder }
            try folder.close()
            return nil
        }

        /// The ledger is on the same disk.
        fileprivate func requireRoom(for bytes: Int64) throws {
            guard freeBytes(folder) ?? .max >= bytes + Self.roomKept else { throw Errno.noSpace }
        }

        /// Bytes that guests leave free.
        private static let roomKept: Int64 = 1 << 30
    }

    private static let thumbnailSide = 320
    /// Seconds after which a page is taken for closed that has reserved a place.
    private static let claimLife: TimeInterval = 3_600
    private static let tooLarge = "photos of more than \(GuestRules.mostBytes >> 20) MiB are not taken"

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    package let box: Box
    private let reducer: any PhotoReducer
    private let maker: any SharedCopyMaker
    private let pool: BlockingPool
    private let disk: BlockingPool
    private let time: TimeSource
    private let logger: Logger

    /// - Parameters:
    ///   - pool: for decoding.
    ///   - disk: for everything else that blocks.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, box: Box, reducer: any PhotoReducer, maker: any SharedCopyMaker,
        pool: BlockingPool, disk: BlockingPool, time: TimeSource, logger: Logger
    ) {
        self.store = store
        self.ledger = ledger
        self.box = box
        self.reducer = reducer
        self.maker = maker
        self.pool = pool
        self.disk = disk
        self.time = time
        self.logger = logger
    }

    /// Whether asking the store costs nothing.
    var isFree: Bool { store.capabilities.lifecycle == .byAgent }

    /// Takes in all that is there.
    /// - Returns: how many photos wait that did not before.
    /// - Throws: ``ShareError/inOtherHands(_:)`` while another process does the same; what one of the photos failed with, when
    ///   the others are in: ``StoreError``, ``PhotoError``, `Errno` or ``FolderError`` where this machine cannot keep it;
    ///   ``LedgerError``, `CancellationError`.
    @discardableResult
    package func take(_ share: ShareID) async throws -> Int {
        let keys = ShareKeys(share)
        var found: [ObjectInfo] = []
        // What is empty was taken before.
        for try await objects in store.pages(prefix: keys.guestFolder) { found += objects.filter { $0.size > 0 } }
        if found.isEmpty { return 0 }
        guard let lock = try await disk.run({ [box] in try box.lock(share) }) else {
            throw ShareError.inOtherHands(share)
        }
        let result = await Result { try await take(found, of: share) }
        try? lock.close()
        return try result.get()
    }

    private func take(_ objects: [ObjectInfo], of share: ShareID) async throws -> Int {
        let keys = ShareKeys(share)
        try await adopt(share)
        var failure: (any Error)?
        var count = 0
        for object in objects {
            do {
                guard let slot = keys.guestSlot(of: object.key), slot < GuestRules.mostPhotos else {
                    try await store.delete(object.key)
                    continue
                }
                if object.size <= GuestRules.claimBytes {
                    try await endClaim(object)
                    continue
                }
                if try await take(object, as: slot, of: share) { count += 1 }
                try await ShareStorage(store: store).put(text: [], type: MediaType.unknown.name, at: object.key)
            } catch let error as StoreError where error.concernsWholeStore {
                throw error
            } catch  where !(error is CancellationError || error is LedgerError) {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// A page has reserved the place for a photo that is on its way, or did before it was closed.
    private func endClaim(_ claim: ObjectInfo) async throws {
        guard let modified = claim.modified, time.now().timeIntervalSince(modified) > Self.claimLife else { return }
        try await store.delete(claim.key)
    }

    /// What is kept here and not noted, as after a rebuild of the ledger, waits again.
    private func adopt(_ share: ShareID) async throws {
        let noted = Set(try await ledger { try $0.guestPhotos(of: share) }.map(\.slot))
        for (slot, file) in try await disk.run({ [box] in try box.kept(share) }) where !noted.contains(slot) {
            let examined = try await pool.run { [reducer] in try PooledWork.step { try reducer.examine(file) } }
            let photo = GuestPhoto(
                share: share, slot: slot, sha256: examined.digest.sha256, size: examined.stamp.size,
                contentType: examined.type.name, receivedAt: time.now())
            _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
        }
    }

    /// - Returns: whether it waits, and did not before.
    private func take(_ object: ObjectInfo, as slot: Int, of share: ShareID) async throws -> Bool {
        guard object.size <= GuestRules.mostBytes else {
            return try await refuse(slot, of: share, object, SHA256Digest(of: []), Self.tooLarge)
        }
        let bytes = try await store.bytes(of: object.key, limit: Int(GuestRules.mostBytes))
        let digest = SHA256Digest(of: bytes)
        let noted = try await ledger { try $0.guestPhotos(of: share) }
        // Whoever was killed has kept it, and not said so in the store.
        if noted.contains(where: { $0.sha256 == digest }) { return false }
        // Two guests may have sent to one place: the second one gets another number.
        let taken = Set(noted.map(\.slot))
        let free = taken.contains(slot) ? (0..<GuestRules.mostPhotos).first { !taken.contains($0) } : slot
        guard let slot = free else {
            logger.notice("share \(share): a guest's photo was not kept: there are \(GuestRules.mostPhotos) already")
            return false
        }
        return try await keep(bytes, digest, as: slot, of: share, object)
    }

    private func keep(
        _ bytes: [UInt8], _ digest: SHA256Digest, as slot: Int, of share: ShareID, _ object: ObjectInfo
    ) async throws -> Bool {
        let draft = box.draft(share, slot)
        try await disk.run { [box] in
            try box.requireRoom(for: Int64(bytes.count))
            _ = try NewFile.save(bytes, to: draft, permissions: .ownerReadWrite, overwrites: true)
        }
        do {
            let (type, small) = try await pool.run { [reducer, maker] in
                try PooledWork.step { try Self.look(at: draft, reducer, maker) }
            }
            let photo = GuestPhoto(
                share: share, slot: slot, sha256: digest, size: Int64(bytes.count), contentType: type.name,
                receivedAt: time.now())
            try await disk.run { [box] in
                if let small {
                    _ = try NewFile.save(
                        small, to: box.thumbnail(of: photo), permissions: .ownerReadWrite, overwrites: true)
                }
                try draft.rename(to: box.file(of: photo))
                try Folder.sync(box.place(of: share))
            }
            return try await ledger.finish { try $0.addGuestPhoto(photo) }
        } catch let error as PhotoError where Self.isNoPhoto(error) {
            try await disk.run { _ = try? draft.unlink() }
            return try await refuse(slot, of: share, object, digest, "\(error)")
        }
    }

    /// What it is, and a small picture of it; `nil` for a photo that cannot be decoded here, and is one all the same.
    private static func look(
        at file: FilePath, _ reducer: any PhotoReducer, _ maker: any SharedCopyMaker
    ) throws(PhotoError) -> (type: MediaType, small: [UInt8]?) {
        let type = try reducer.examine(file).type
        guard MediaType.isPicture(type.name) else { throw PhotoError(.notAPhoto, "it is no photo") }
        do throws(PhotoError) {
            let small = try maker.thumbnail(of: .file(file), side: thumbnailSide)
            guard case .reduced(let bytes) = small.content else { return (type, nil) }
            return (type, bytes)
        } catch {
            guard error.isPermanent, !isNoPhoto(error) else { throw error }
            return (type, nil)
        }
    }

    /// Whether nobody could have any use of it.
    private static func isNoPhoto(_ error: PhotoError) -> Bool {
        switch error.code {
        case .notAPhoto, .notStored, .truncated, .corrupt: true
        default: false
        }
    }

    private func refuse(
        _ slot: Int, of share: ShareID, _ object: ObjectInfo, _ digest: SHA256Digest, _ reason: String
    ) async throws -> Bool {
        logger.notice("share \(share): what a guest has sent was not kept: \(reason)")
        let photo = GuestPhoto(
            share: share, slot: slot, sha256: digest, size: object.size,
            contentType: object.contentType ?? MediaType.unknown.name, receivedAt: time.now(), state: .refused,
            reason: reason)
        _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
        return false
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// Carries out what the owner has decided on photos of guests.
package struct GuestDesk: Sendable {
    /// Why a photo could not be put where it belongs.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The vacation's folder.
        case noFolder(FilePath)
        /// What was kept of it here is gone.
        case lost(FilePath)
        /// No name is free for it.
        case noName(FilePath)

        package var description: String {
            switch self {
            case .noFolder(let folder):
                "\(folder.string.escapingControls) is not what it was when it was shared: bring its disk back, or name a folder with --into"
            case .lost(let file):
                "\(file.string.escapingControls) is gone, or is not what the guest has sent: refuse it, and ask for it again"
            case .noName(let file): "\(file.string.escapingControls) has the name that the photo was to get"
            }
        }
    }

    private let ledger: LedgerQueue
    package let box: GuestIntake.Box
    private let disk: BlockingPool
    private let time: TimeSource

    package init(ledger: LedgerQueue, box: GuestIntake.Box, disk: BlockingPool, time: TimeSource) {
        self.ledger = ledger
        self.box = box
        self.disk = disk
        self.time = time
    }

    /// Makes files of a vacation of them, under names of ours. A kill between two lines leaves none of them in two places.
    /// - Parameter isChosen: whether the folder was named for this, and is not just that of the vacation.
    /// - Throws: ``Failure``, ``LedgerError``, `Errno`; those before it are accepted then.
    package func accept(
        _ photos: [GuestPhoto], into folder: FilePath, isChosen: Bool = false
    ) async throws -> [FilePath] {
        var files: [FilePath] = []
        for photo in photos where photo.state == .waiting {
            if !isChosen { try await requireVacation(in: folder, of: photo.share) }
            let path = try await disk.run { [box] in try Self.place(photo, from: box.file(of: photo), in: folder) }
            let now = time.now()
            let isDecided = try await ledger.finish {
                try $0.decideGuestPhoto(photo.slot, of: photo.share, .accepted, path: path, at: now)
            }
            if !isDecided, try await wasRefused(photo) {
                try await disk.run { _ = try path.unlink() }
                continue
            }
            await clear(photo)
            files.append(path)
        }
        return files
    }

    /// Meanwhile, somewhere else.
    private func wasRefused(_ photo: GuestPhoto) async throws -> Bool {
        try await ledger { try $0.guestPhotos(of: photo.share) }.contains {
            $0.slot == photo.slot && $0.state == .refused
        }
    }

    /// The empty folder of a drive that is away is not filled: one of the files that are shared has to be there.
    private func requireVacation(in folder: FilePath, of share: ShareID) async throws {
        let files = try await ledger { try $0.sharePhotos(share) }.filter(\.isLocal).map(\.path)
        let isThere = try await disk.run { files.isEmpty || files.contains { FileStamp.ofFile($0) != nil } }
        guard isThere else { throw Failure.noFolder(folder) }
    }

    /// - Throws: ``LedgerError``.
    package func refuse(_ photos: [GuestPhoto]) async throws {
        for photo in photos where photo.state == .waiting {
            let now = time.now()
            let isDecided = try await ledger.finish {
                try $0.decideGuestPhoto(photo.slot, of: photo.share, .refused, at: now)
            }
            if isDecided { await clear(photo) }
        }
    }

    /// What stays is of no use to anybody, and in nobody's way.
    private func clear(_ photo: GuestPhoto) async {
        try? await disk.run { [box] in
            for file in [box.file(of: photo), box.thumbnail(of: photo)] { _ = try? file.unlink() }
            _ = try? box.place(of: photo.share).removeFolder()
        }
    }

    private static func place(_ photo: GuestPhoto, from file: FilePath, in folder: FilePath) throws -> FilePath {
        // What a missing drive leaves behind is not filled.
        guard (try? FileStatus(at: folder, followsLinks: true))?.kind == .folder else { throw Failure.noFolder(folder) }
        let ending = MediaType.ending(ofContentType: photo.contentType)
        let path = folder.appending("guest-\("\(photo.share)".prefix(8))-\(photo.slot).\(ending)")
        if try digest(of: path) == photo.sha256 { return path }
        guard try digest(of: file) == photo.sha256 else { throw Failure.lost(file) }
        let bytes = try bytes(of: file)
        guard try NewFile.save(bytes, to: path, permissions: readable, overwrites: false) else {
            throw Failure.noName(path)
        }
        return path
    }

    /// As a person's own photos are; the umask is taken off.
    private static let readable: FilePermissions = [.ownerReadWrite, .groupReadWrite, .otherReadWrite]

    private static func bytes(of file: FilePath) throws -> [UInt8] {
        let descriptor = try FileDescriptor.opened(file, .readOnly, [.noFollow, .nonBlocking, .closeOnExec])
        defer { try? descriptor.close() }
        return try descriptor.bytes(atMost: Int(GuestRules.mostBytes))
    }

    /// - Returns: `nil` where there is no such file.
    private static func digest(of file: FilePath) throws -> SHA256Digest? {
        do {
            return SHA256Digest(of: try bytes(of: file))
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }
}
