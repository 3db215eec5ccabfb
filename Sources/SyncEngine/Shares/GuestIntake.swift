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

        /// - Parameter folder: absolute; made when it is needed.
        package init(_ folder: FilePath) {
            self.folder = folder
        }

        package func file(of photo: GuestPhoto) -> FilePath {
            file(photo.share, photo.slot, MediaType.ending(ofContentType: photo.contentType))
        }

        package func thumbnail(of photo: GuestPhoto) -> FilePath { thumbnail(photo.share, photo.slot) }

        fileprivate func file(_ share: ShareID, _ slot: Int, _ ending: String) -> FilePath {
            place(of: share).appending("\(slot).\(ending)")
        }

        fileprivate func thumbnail(_ share: ShareID, _ slot: Int) -> FilePath {
            place(of: share).appending("\(slot).thumbnail.jpg")
        }

        fileprivate func place(of share: ShareID) -> FilePath { folder.appending("\(share)") }
    }

    private static let thumbnailSide = 320

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
    /// - Throws: ``StoreError``, ``LedgerError``; `Errno` or ``FolderError`` where this machine cannot keep it;
    ///   `CancellationError`. What was taken in by then is.
    func take(_ share: ShareID) async throws -> Int {
        let keys = ShareKeys(share)
        var known = Set(try await ledger { try $0.guestPhotos(of: share) }.map(\.slot))
        var count = 0
        for try await objects in store.pages(prefix: keys.guestFolder) {
            // What is empty was taken before.
            for object in objects where object.size > 0 {
                guard let slot = keys.guestSlot(of: object.key), slot < GuestRules.mostPhotos else {
                    try await store.delete(object.key)
                    continue
                }
                if known.insert(slot).inserted, try await take(object, as: slot, of: share) { count += 1 }
                // Whoever sends another to a place that was taken has sent it for nothing.
                try await ShareStorage(store: store).put(text: [], type: MediaType.unknown.name, at: object.key)
            }
        }
        return count
    }

    /// - Returns: whether it waits.
    private func take(_ object: ObjectInfo, as slot: Int, of share: ShareID) async throws -> Bool {
        guard object.size <= GuestRules.mostBytes else {
            let reason = "photos of more than \(GuestRules.mostBytes >> 20) MiB are not taken"
            return try await refuse(slot, of: share, object, SHA256Digest(of: []), reason)
        }
        let bytes = try await store.bytes(of: object.key, limit: Int(GuestRules.mostBytes))
        let digest = SHA256Digest(of: bytes)
        let draft = box.file(share, slot, "new")
        do {
            try await disk.run { [box] in
                try Folder.make(box.place(of: share), permissions: .ownerReadWriteExecute)
                _ = try NewFile.save(bytes, to: draft, permissions: .ownerReadWrite, overwrites: true)
            }
            let made = try await pool.run { [reducer, maker] in
                try PooledWork.step {
                    let type = try reducer.examine(draft).type
                    guard MediaType.isPicture(type.name) else { throw PhotoError(.notAPhoto, "it is no photo") }
                    let small = try maker.thumbnail(of: .file(draft), side: Self.thumbnailSide)
                    guard case .reduced(let bytes) = small.content else { preconditionFailure("small pictures are bytes") }
                    return (type, bytes)
                }
            }
            let photo = GuestPhoto(
                share: share, slot: slot, sha256: digest, size: Int64(bytes.count), contentType: made.0.name,
                receivedAt: time.now())
            try await disk.run { [box] in
                _ = try NewFile.save(
                    made.1, to: box.thumbnail(of: photo), permissions: .ownerReadWrite, overwrites: true)
                try draft.rename(to: box.file(of: photo))
                try Folder.sync(box.place(of: share))
            }
            return try await ledger.finish { try $0.addGuestPhoto(photo) }
        } catch let error as PhotoError {
            try await disk.run { _ = try? draft.unlink() }
            return try await refuse(slot, of: share, object, digest, "\(error)")
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
                "\(folder.string.escapingControls) is no folder now: bring its disk back, or name another folder with --into"
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
    /// - Throws: ``Failure``, ``LedgerError``, `Errno`; those before it are accepted then.
    package func accept(_ photos: [GuestPhoto], into folder: FilePath) async throws -> [FilePath] {
        var files: [FilePath] = []
        for photo in photos where photo.state == .waiting {
            let path = try await disk.run { [box] in try Self.place(photo, from: box.file(of: photo), in: folder) }
            let now = time.now()
            _ = try await ledger.finish {
                try $0.decideGuestPhoto(photo.slot, of: photo.share, .accepted, path: path, at: now)
            }
            await clear(photo)
            files.append(path)
        }
        return files
    }

    /// - Throws: ``LedgerError``.
    package func refuse(_ photos: [GuestPhoto]) async throws {
        for photo in photos where photo.state == .waiting {
            let now = time.now()
            _ = try await ledger.finish { try $0.decideGuestPhoto(photo.slot, of: photo.share, .refused, at: now) }
            await clear(photo)
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
