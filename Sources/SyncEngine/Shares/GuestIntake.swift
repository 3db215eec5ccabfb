import FoundationEssentials
package import Logging
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
package import SystemPackage

/// Takes what guests put beside a share to this machine, where it waits for its owner's word, whatever becomes of the share.
/// What is in the store stays there as long as the share does: until the owner has decided, this machine has no other copy; and
/// its place stays taken, so that a share takes no more in its life than it may.
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

        func place(of share: ShareID) -> FilePath { folder.appending("\(share)") }

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
            guard freeBytes(folder) ?? .max >= bytes + Self.roomKept else { throw NoRoom(folder: folder) }
        }

        /// Bytes that guests leave free.
        fileprivate static let roomKept: Int64 = 1 << 30
    }

    /// The disk is all but full.
    package struct NoRoom: Error, Hashable, Sendable, CustomStringConvertible {
        let folder: FilePath

        package var description: String {
            "less than \(Box.roomKept >> 30) GiB would be free on the disk of \(folder.string.escapingControls); make room there"
        }
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
        let found = try await store.all(below: ShareKeys(share).guestFolder).objects
        if found.isEmpty { return 0 }
        guard let lock = try await disk.run({ [box] in try box.lock(share) }) else {
            throw ShareError.inOtherHands(share)
        }
        let result = await Result { try await take(found, of: share) }
        try? lock.close()
        let problem: String? = if case .failure(let error) = result { "\(error)" } else { nil }
        try await ledger.finish { try $0.noteGuestProblem(problem, of: share) }
        return try result.get()
    }

    private func take(_ objects: [ObjectInfo], of share: ShareID) async throws -> Int {
        let keys = ShareKeys(share)
        var failure: (any Error)? = try await adopt(share)
        var count = 0
        for object in objects {
            do {
                guard let slot = keys.guestSlot(of: object.key), slot < GuestRules.mostPhotos else {
                    try await store.delete(object.key)
                    continue
                }
                if object.size <= GuestRules.claimBytes {
                    // A page has reserved the place for a photo that is on its way, or did before it was closed.
                    if let modified = object.modified, time.now().timeIntervalSince(modified) > Self.claimLife {
                        try await store.delete(object.key)
                    }
                    continue
                }
                if try await take(object, as: slot, of: share) { count += 1 }
            } catch let error as StoreError where error.concernsWholeStore {
                throw error
            } catch  where !(error is CancellationError || error is LedgerError) {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return count
    }

    /// What is kept here and not noted, as after a rebuild of the ledger, waits again.
    /// - Returns: what one of them failed with, when the others are noted.
    private func adopt(_ share: ShareID) async throws -> PhotoError? {
        let noted = Set(try await ledger { try $0.guestPhotos(of: share) }.map(\.slot))
        var failure: PhotoError?
        for (slot, file) in try await disk.run({ [box] in try box.kept(share) }) where !noted.contains(slot) {
            do {
                let examined = try await pool.run { [reducer] in try PooledWork.step { try reducer.examine(file) } }
                let photo = GuestPhoto(
                    share: share, slot: slot, sha256: examined.digest.sha256, size: examined.stamp.size,
                    contentType: examined.type.name, receivedAt: time.now())
                _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
            } catch let error as PhotoError where error.code != .stopped {
                failure = failure ?? error
            }
        }
        return failure
    }

    /// - Returns: whether it waits, and did not before.
    private func take(_ object: ObjectInfo, as slot: Int, of share: ShareID) async throws -> Bool {
        let source = Self.source(of: object)
        let noted = try await ledger { try $0.guestPhotos(of: share) }
        if let known = noted.first(where: { $0.source == source }), try await isKept(known) { return false }
        guard object.size <= GuestRules.mostBytes else {
            return try await refuse(slot, of: share, object, SHA256Digest(of: []), Self.tooLarge)
        }
        let bytes = try await store.bytes(of: object.key, limit: Int(GuestRules.mostBytes))
        let digest = SHA256Digest(of: bytes)
        if let known = noted.first(where: { $0.sha256 == digest }) {
            try await ledger.finish { try $0.noteGuestSource(source, of: share, known.slot) }
            if try await isKept(known) { return false }
            return try await keep(bytes, digest, as: known.slot, of: share, object)
        }
        // What lies over another one gets another number, behind those of the places.
        let taken = Set(noted.map(\.slot))
        let numbers = taken.contains(slot) ? GuestRules.mostPhotos..<2 * GuestRules.mostPhotos : slot..<slot + 1
        guard let number = numbers.first(where: { !taken.contains($0) }) else { return false }
        return try await keep(bytes, digest, as: number, of: share, object)
    }

    /// What tells an object from one that comes to its place later.
    private static func source(of object: ObjectInfo) -> String {
        let version = object.etag ?? object.modified.map { "\($0.timeIntervalSince1970)" } ?? ""
        return "\(object.key.lastSegment) \(object.size) \(version)"
    }

    /// Whether nothing has to be fetched: what waits can have been lost here.
    private func isKept(_ photo: GuestPhoto) async throws -> Bool {
        guard photo.state == .waiting else { return true }
        return try await disk.run { [box] in FileStamp.ofFile(box.file(of: photo))?.size == photo.size }
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
                receivedAt: time.now(), source: Self.source(of: object))
            try await disk.run { [box] in
                if let small {
                    _ = try NewFile.save(
                        small, to: box.thumbnail(of: photo), permissions: .ownerReadWrite, overwrites: true)
                }
                try draft.rename(to: box.file(of: photo))
                try Folder.sync(box.place(of: share))
            }
            return try await ledger.finish { try $0.addGuestPhoto(photo) }
        } catch let error as PhotoError {
            guard let objection = Self.objection(to: error) else { throw error }
            try await disk.run { _ = try? draft.unlink() }
            return try await refuse(slot, of: share, object, digest, objection)
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
            guard error.isPermanent, objection(to: error) == nil else { throw error }
            return (type, nil)
        }
    }

    /// Why nobody could have any use of what is kept nowhere on this machine; `nil` where somebody could.
    private static func objection(to error: PhotoError) -> String? {
        switch error.code {
        case .truncated: "the file ends before its picture does"
        case .corrupt: "the picture's data is damaged"
        case .notAPhoto, .notStored: "it is no photo"
        default: nil
        }
    }

    private func refuse(
        _ slot: Int, of share: ShareID, _ object: ObjectInfo, _ digest: SHA256Digest, _ reason: String
    ) async throws -> Bool {
        logger.notice("share \(share): what a guest has sent was not kept: \(reason)")
        let photo = GuestPhoto(
            share: share, slot: slot, sha256: digest, size: object.size,
            contentType: object.contentType ?? MediaType.unknown.name, receivedAt: time.now(), state: .refused,
            reason: reason, source: Self.source(of: object))
        _ = try await ledger.finish { try $0.addGuestPhoto(photo) }
        return false
    }
}
