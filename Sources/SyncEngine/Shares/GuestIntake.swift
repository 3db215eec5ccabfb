import FoundationEssentials
package import Logging
package import SyncCore
import SyncDigest
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Takes what guests put beside a share to this machine, where it waits for its owner's word, whatever becomes of the share.
/// What is in the store stays there as long as the share does: until the owner has decided, this machine has no other copy; and
/// its place stays taken, so that a share takes no more in its life than it may.
package struct GuestIntake: Sendable {
    /// Seconds after which a page is taken for closed that has reserved a place.
    private static let claimLife: TimeInterval = 3_600
    private static let tooLarge = "photos of more than \(GuestRules.mostBytes >> 20) MiB are not taken"
    private static let tooMany = "\(GuestRules.mostPhotos) photos that lay over others were taken, and no more are"

    private let store: any ObjectStore
    let ledger: LedgerQueue
    package let box: Box
    let reducer: any PhotoReducer
    let maker: any SharedCopyMaker
    let pool: BlockingPool
    let disk: BlockingPool
    let time: TimeSource
    let logger: Logger

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

    /// Why it is looked at what guests have sent.
    package enum Occasion: Sendable {
        /// It is time again: what is kept here is known by its size.
        case round
        /// Somebody has asked for it: what is kept here is read.
        case asked
        /// All of it is about to be removed from the store: it is read as well.
        case last
    }

    /// What a look at what the guests of a share have sent came to.
    struct Taken: Sendable {
        /// How many photos wait that did not before.
        fileprivate(set) var count = 0
        /// What the store need not keep for anybody: it waits here, was decided on, or was refused for a reason that is
        /// noted.
        fileprivate(set) var settled: Set<GuestObject> = []
        /// Of the first one that could be neither taken nor refused.
        fileprivate(set) var failure: (any Error)?
        /// What is kept here and cannot be taken up. It keeps nothing in the store.
        fileprivate(set) var fault: KeptFault?

        /// What a person has to know of.
        fileprivate var problem: (any Error)? {
            if let failure { return failure }
            return fault
        }
    }

    /// Takes in all that is there, and takes up what is kept here and not noted.
    /// - Returns: how many photos wait that were not kept before.
    /// - Throws: ``ShareError/inOtherHands(_:)`` while another process does the same; what one of the photos failed with, when
    ///   the others are in: ``StoreError``, ``PhotoError``, `Errno` or ``FolderError`` where this machine cannot keep it,
    ///   ``KeptFault``; ``LedgerError``, `CancellationError`.
    /// - Parameter occasion: all but ``Occasion/last``.
    @discardableResult
    package func take(_ share: ShareID, _ occasion: Occasion = .round) async throws -> Int {
        let (count, problem) = try await receive(share, occasion)
        if let problem { throw problem }
        return count
    }

    /// The same, for whoever tells of photos that have come, whatever keeps others back.
    /// - Returns: also what ``take(_:_:)`` throws of single photos.
    func receive(
        _ share: ShareID, _ occasion: Occasion = .round
    ) async throws -> (count: Int, problem: (any Error)?) {
        guard let taken = try await takeIn(share, occasion) else { return (0, nil) }
        return (taken.count, taken.problem)
    }

    /// The same before the objects of a share are removed: what the store gives nobody any more is refused.
    /// - Precondition: the share's manifest is gone.
    /// - Returns: `nil` when nothing is there.
    /// - Throws: ``ShareError/inOtherHands(_:)`` as above, ``StoreError`` of the store as a whole, ``LedgerError``,
    ///   `CancellationError`.
    func takeLast(_ share: ShareID) async throws -> Taken? { try await takeIn(share, .last) }

    /// For whoever leaves a store: all that guests have sent there is kept here.
    /// - Throws: what keeps it from that, of the first photo; as ``takeLast(_:)``.
    func requireTaken(_ share: ShareID) async throws {
        do {
            if let failure = try await takeIn(share, .asked)?.failure { throw failure }
        } catch is KeptFault {
            // It is of what is kept here already, and noted.
        }
    }

    private func takeIn(_ share: ShareID, _ occasion: Occasion) async throws -> Taken? {
        let found = try await list(share)
        if found.objects.isEmpty, found.problems.isEmpty {
            if occasion != .last { try await takeUp(share) }
            // What kept them from coming in has gone with them, but for what is kept here.
            if try await ledger({ try $0.guestProblems().contains { $0.share == share } }),
                (try? await unnoted(share))?.isEmpty == true
            {
                try await ledger.finish { try $0.noteGuestProblem(nil, of: share) }
            }
            return nil
        }
        guard let lock = try await disk.run({ [box] in try box.lock(share) }) else {
            throw ShareError.inOtherHands(share)
        }
        let result = await Result { try await take(found, of: share, occasion) }
        try? lock.close()
        let failure: (any Error)? =
            switch result {
            case .success(let taken): taken.problem
            case .failure(let error): error
            }
        // Whoever is told to stop has not failed.
        if !(failure is CancellationError) {
            let problem = failure.map { "\($0)" }
            try await ledger.finish { try $0.noteGuestProblem(problem, of: share) }
        }
        return try result.get()
    }

    private func list(_ share: ShareID) async throws -> ObjectPage {
        do {
            return try await store.all(below: ShareKeys(share).guestFolder)
        } catch let error where error.mayConcernOneItem {
            // What is there is not known: nobody may call it taken in.
            try await ledger.finish { try $0.noteGuestProblem("\(error)", of: share) }
            throw error
        }
    }

    private func take(_ found: ObjectPage, of share: ShareID, _ occasion: Occasion) async throws -> Taken {
        var taken = Taken()
        taken.fault = try await adopt(share)
        for info in found.objects {
            let object = GuestObject(info)
            do {
                if try await settle(object, info, of: share, occasion) { taken.count += 1 }
                taken.settled.insert(object)
            } catch let error where error.mayConcernOneItem {
                taken.failure = taken.failure ?? error
            }
        }
        for problem in found.problems {
            let object = GuestObject(problem)
            do {
                guard occasion == .last, let objection = try await objection(to: problem.error, of: share) else {
                    throw problem.error
                }
                try await refuse(object, of: share, size: 0, objection)
                taken.settled.insert(object)
            } catch let error where error.mayConcernOneItem {
                taken.failure = taken.failure ?? error
            }
        }
        return taken
    }

    /// Sees to one object. When it returns, the store need not keep it once the share is over.
    /// - Returns: whether it is a photo that waits, and did not before.
    private func settle(
        _ object: GuestObject, _ info: ObjectInfo, of share: ShareID, _ occasion: Occasion
    ) async throws -> Bool {
        guard object.slot(in: share) != nil else {
            try await store.delete(info.key)
            return false
        }
        if info.size <= GuestRules.claimBytes {
            // A page has reserved the place for a photo that is on its way, or did before it was closed. It may have
            // woken up since all was listed, and a photo be there by now.
            if isStale(info), let now = try await store.head(info.key), isStale(now) {
                try await store.delete(info.key)
            }
            return false
        }
        return try await take(object, info, of: share, occasion)
    }

    /// Whether it reserves a place for a photo that does not come any more.
    private func isStale(_ object: ObjectInfo) -> Bool {
        guard object.size <= GuestRules.claimBytes, let modified = object.modified else { return false }
        return time.now().timeIntervalSince(modified) > Self.claimLife
    }

    /// - Returns: whether it waits, and did not before.
    private func take(
        _ object: GuestObject, _ info: ObjectInfo, of share: ShareID, _ occasion: Occasion
    ) async throws -> Bool {
        let (noted, slots) = try await ledger { (try $0.guestPhotos(of: share), try $0.guestObjects(of: share)) }
        if let slot = slots[object], let known = noted.first(where: { $0.slot == slot }),
            try await isKept(known, occasion)
        {
            return false
        }
        guard info.size <= GuestRules.mostBytes else {
            try await refuse(object, of: share, size: info.size, Self.tooLarge)
            return false
        }
        let bytes: [UInt8]
        do {
            // Asked first: on a full disk each try would fetch it once more.
            try await disk.run { [box] in try box.requireRoom(for: info.size) }
            bytes = try await read(object.key)
        } catch let error as StoreError {
            guard occasion == .last, let objection = try await objection(to: error, of: share) else { throw error }
            try await refuse(object, of: share, size: info.size, objection)
            return false
        }
        let digest = SHA256Digest(of: bytes)
        if let known = noted.first(where: { $0.sha256 == digest }) {
            try await ledger.finish { try $0.noteGuestObject(object, of: share, known.slot) }
            if try await isKept(known, occasion) { return false }
            return try await keep(bytes, digest, as: known.slot, of: share, object)
        }
        let number = try await number(of: object, in: share, besides: noted)
        guard number < GuestRules.mostPhotos || Self.countOver(noted) < GuestRules.mostPhotos else {
            try await refuse(object, of: share, size: info.size, Self.tooMany, digest: digest)
            return false
        }
        return try await keep(bytes, digest, as: number, of: share, object)
    }

    /// What is damaged is read once more: the way may be to blame.
    private func read(_ key: ObjectKey) async throws -> [UInt8] {
        do {
            return try await store.bytes(of: key, limit: Int(GuestRules.mostBytes))
        } catch let error as StoreError where error.code == .badDigest {
            return try await store.bytes(of: key, limit: Int(GuestRules.mostBytes))
        }
    }

    /// The place, where no other photo has its number; what lies over another one gets one behind those of the places.
    /// What is kept has its number, noted or not: it may be one that cannot be read now, and the only copy.
    private func number(
        of object: GuestObject, in share: ShareID, besides noted: [GuestPhoto]
    ) async throws -> Int {
        let kept = try await disk.run { [box] in try box.kept(share).map(\.slot) }
        let taken = Set(noted.map(\.slot)).union(kept)
        if let slot = object.slot(in: share), !taken.contains(slot) { return slot }
        var number = GuestRules.mostPhotos
        while taken.contains(number) { number += 1 }
        return number
    }

    /// How many photos were taken that lay over others. What was refused for a reason takes nothing from the others.
    private static func countOver(_ noted: [GuestPhoto]) -> Int {
        noted.count { $0.slot >= GuestRules.mostPhotos && !($0.state == .refused && $0.reason != nil) }
    }

    /// Why the store gives nobody what it has; `nil` where it may yet, or gives this machine nothing at all.
    private func objection(to error: StoreError, of share: ShareID) async throws -> String? {
        switch error.code {
        case .badDigest, .archived: break
        case .accessDenied:
            if error.isOfThisMachine { return nil }
            do {
                // To those who may read, a store says that nothing is there.
                _ = try await store.head(ShareKeys(share).manifest)
            } catch let error as StoreError where error.code == .accessDenied {
                return nil
            }
        default: return nil
        }
        return "the share has ended, and the store does not give it: \(error.message)"
    }

    /// Whether nothing has to be fetched: what waits can have been lost here.
    private func isKept(_ photo: GuestPhoto, _ occasion: Occasion) async throws -> Bool {
        guard photo.state == .waiting else { return true }
        if occasion != .round {
            return try await disk.run { [box] in (try? GuestDecisions.digest(of: box.file(of: photo))) == photo.sha256 }
        }
        return try await disk.run { [box] in FileStamp.ofFile(box.file(of: photo))?.size == photo.size }
    }

    private func keep(
        _ bytes: [UInt8], _ digest: SHA256Digest, as slot: Int, of share: ShareID, _ object: GuestObject
    ) async throws -> Bool {
        let draft = box.draft(share, slot)
        try await disk.run { [box] in
            try box.requireRoom(for: Int64(bytes.count))
            _ = try NewFile.save(bytes, to: draft, permissions: .ownerReadWrite, overwrites: true)
        }
        do {
            let (found, small) = try await pool.run { [reducer, maker] in
                try PooledWork.step { try Self.examine(draft, reducer, maker) }
            }
            let photo = GuestPhoto(
                share: share, slot: slot, sha256: digest, size: Int64(bytes.count), contentType: found.type.name,
                receivedAt: time.now())
            try await disk.run { [box] in
                if let small {
                    _ = try NewFile.save(
                        small, to: box.thumbnail(of: photo), permissions: .ownerReadWrite, overwrites: true)
                }
                try draft.rename(to: box.file(of: photo))
                try Folder.sync(box.place(of: share))
            }
            return try await ledger.finish { try $0.addGuestPhoto(photo, from: object) }
        } catch let error as PhotoError {
            if error.code == .stopped { throw CancellationError() }
            guard let objection = Self.objection(to: error) else { throw error }
            try await disk.run { _ = try? draft.unlink() }
            try await refuse(object, of: share, size: Int64(bytes.count), objection, digest: digest)
            return false
        }
    }

    /// Notes once why something is kept nowhere on this machine.
    private func refuse(
        _ object: GuestObject, of share: ShareID, size: Int64, _ reason: String,
        digest: SHA256Digest = SHA256Digest(of: [])
    ) async throws {
        let (noted, slots) = try await ledger { (try $0.guestPhotos(of: share), try $0.guestObjects(of: share)) }
        if let slot = slots[object], noted.contains(where: { $0.slot == slot && $0.state == .refused }) { return }
        let number = try await number(of: object, in: share, besides: noted)
        logger.notice("share \(share): what a guest has sent was not kept: \(reason)")
        let photo = GuestPhoto(
            share: share, slot: number, sha256: digest, size: size, contentType: MediaType.unknown.name,
            receivedAt: time.now(), state: .refused, reason: reason)
        _ = try await ledger.finish { try $0.addGuestPhoto(photo, from: object) }
    }
}
