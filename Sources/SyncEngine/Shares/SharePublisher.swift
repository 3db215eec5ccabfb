import FoundationEssentials
package import SyncCore
package import SyncLedger
package import SyncSystem
import SystemPackage

/// Carries shares out: photos with their thumbnails, the page, and the manifest last, by which the share is there. What
/// was stored is noted photo by photo, so that any process may go on after any line.
package struct SharePublisher: Sendable {
    /// Photos that are prepared and sent at the same time.
    private static let batchSize = 3

    /// What an attempt came to.
    package enum Publication: Hashable, Sendable {
        case live(ShareRecord)
        /// Some of its photos have to come back from the archive first.
        case waiting(ShareRecord, archived: [ObjectKey])
    }

    private let store: any ObjectStore
    private let ledger: LedgerQueue
    private let sender: SharePhotoSender
    private let writer: SharePageWriter
    private let notes: ShareNotes
    private let lease: ShareLease
    private let time: TimeSource

    /// - Parameters:
    ///   - recompressor: makes the files of originals again, where there is one.
    ///   - pool: for reading photos and making copies.
    ///   - policy: how photos are reduced.
    package init(
        store: any ObjectStore, ledger: LedgerQueue, scanner: any TreeScanner, reducer: any PhotoReducer,
        maker: any SharedCopyMaker, recompressor: (any OriginalRecompressor)? = nil, pool: BlockingPool,
        policy: ReducePolicy, writer: SharePageWriter, notes: ShareNotes, lease: ShareLease, time: TimeSource
    ) {
        self.store = store
        self.ledger = ledger
        sender = SharePhotoSender(
            store: store, ledger: ledger, scanner: scanner, reducer: reducer, maker: maker,
            recompressor: recompressor, pool: pool, policy: policy, time: time)
        self.writer = writer
        self.notes = notes
        self.lease = lease
        self.time = time
    }

    /// Brings what others see of a share up to what is to be shared.
    /// - Parameter onProgress: told how many photos are stored, and of how many. Calls may overlap.
    /// - Throws: ``ShareError``; ``StoreError`` when the store does not take something: the next attempt goes on there;
    ///   ``LedgerError``, `CancellationError`.
    package func run(
        _ id: ShareID, onProgress: @escaping @Sendable (_ stored: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Publication {
        try await attempt(id) { share in
            var share = share
            // It was seen before: meanwhile somebody may have removed something of it, or the store is another one.
            if share.step == .publish, share.storedCount > 0, try await examine(share) { share = try await record(id) }
            if share.step == .publish {
                if let archived = try await send(share, onProgress) {
                    return .waiting(try await record(id), archived: archived)
                }
                try await writePage(share, updatedAt: time.now())
                share = try await record(id)
            }
            if share.step == .clean { try await clean(share) }
            return .live(try await record(id))
        }
    }

    /// Writes page and manifest of a live share anew, with new links.
    /// - Throws: as ``run(_:onProgress:)``.
    package func renew(_ id: ShareID) async throws {
        _ = try await attempt(id) { share in
            guard share.state == .live, share.step != .publish, let updatedAt = share.publishedAt else { return }
            try await writePage(share, updatedAt: updatedAt)
        }
    }

    /// Holds what the store lists of a live share against what was stored of it, and reads its manifest. What is missing, or has
    /// other bytes, is stored again by ``run(_:onProgress:)``. What nothing tells of is removed: nobody sees it, and everybody
    /// who guesses its name can have it.
    /// - Returns: whether there is something to store again.
    /// - Throws: ``StoreError``, ``LedgerError``, `CancellationError`.
    package func examine(_ id: ShareID) async throws -> Bool {
        guard let share = try await ledger({ try $0.share(id) }), share.state == .live else { return false }
        return try await examine(share)
    }

    private func examine(_ share: ShareRecord) async throws -> Bool {
        let found = try await store.all(below: share.keys.folder).objects
        let listed = Dictionary(found.map { ($0.key, $0) }) { $1 }
        let keys = share.keys
        try await removeStrays(Array(listed.keys), of: share)
        let photos = try await photos(of: share).filter { $0.copy != nil }
        let wrong = try await ShareObjectCheck(store: store, ledger: ledger, share: share.id).wrong(photos, listed)
        let lost = photos.filter { !wrong.isDisjoint(with: $0.objects(in: keys)) }
        if lost.isEmpty {
            if share.state != .live { return false }
            if wrong.isDisjoint(with: [keys.page, keys.manifest]), try await isTold(share) { return false }
        }
        try await ledger.finish { try $0.noteShareLost(share.id, slots: lost.map(\.slot)) }
        return true
    }

    /// - Parameter listed: what the store had before the ledger is asked.
    private func removeStrays(_ listed: [ObjectKey], of share: ShareRecord) async throws {
        let photos = try await ledger { try $0.sharePhotos(share.id) }
        let keys = share.keys
        let known = Set(
            [keys.manifest, keys.page]
                + photos.flatMap { $0.copy == nil ? keys.all($0.slot) : $0.objects(in: keys) })
        let strays = listed.filter { !known.contains($0) && keys.guestSlot(of: $0) == nil }
        if strays.isEmpty { return }
        // Of whoever has taken it over since, nothing is known here.
        if let fate = try await notes.follow(share.id) { throw ShareError(fate, of: share.id) }
        try await remove(strays)
    }

    /// Whether its manifest is one that can be read, of the photos that it has.
    private func isTold(_ share: ShareRecord) async throws -> Bool {
        do {
            let manifest = try await store.manifest(of: share.id)
            return try await Set(manifest.photos.map(\.sha256)) == Set(photos(of: share).compactMap(\.copy?.sha256))
        } catch is ShareRefusal {
            return false
        } catch let error as StoreError where error.code == .notFound || error.code == .badDigest {
            return false
        }
    }

    /// Whether the links of a share are half over, or are others than the configuration wants now.
    package func wantsNewLinks(_ share: ShareRecord) -> Bool {
        guard share.state == .live, share.step != .publish else { return false }
        let now = time.now()
        let schedule = ShareSchedule(for: share, now: now)
        return schedule?.action == .renew && schedule.map { $0.dueAt <= now } == true || !writer.links.fit(share)
    }

    /// What has to be added to this machine's clock to get the store's.
    func storeClockOffset() async throws -> TimeInterval { try await store.clockOffset() }

    /// When what others see of a share was written, by the clock of the store; `nil` where it does not tell.
    func writtenByStore(_ share: ShareRecord) async throws -> Date? {
        try await store.head(share.keys.manifest)?.modified
    }

    private func attempt<Answer: Sendable>(
        _ id: ShareID, _ work: @escaping @Sendable (ShareRecord) async throws -> Answer
    ) async throws -> Answer {
        let isInHand = Lock(false)
        do {
            return try await lease.holding(id) { share in
                isInHand.withLock { $0 = true }
                guard share.state.isOpen, share.expiresAt > time.now() else { throw ShareError.over(id) }
                do {
                    if let fate = try await notes.follow(id) { throw ShareError(fate, of: id) }
                    return try await work(share)
                } catch {
                    await noteProblem(error, of: id)
                    throw error
                }
            }
        } catch {
            if !(error is CancellationError) { await sweep(id, wasInHand: isInHand.withLock { $0 }) }
            throw error
        }
    }

    /// What went wrong with the share itself is for those who list it.
    private func noteProblem(_ error: any Error, of id: ShareID) async {
        switch error {
        case is CancellationError, is LedgerError, ShareError.over, ShareError.inOtherHands, ShareError.takenOver:
            return
        default:
            // Where the ledger cannot be written, the failure itself is what counts.
            try? await lease.note { ledger, owner, _ in
                try ledger.noteShareProblem("\(error)", waits: false, of: id, by: owner)
            }
        }
    }

    /// Whoever ended the share while we had it may have listed the store before our last put. What cannot be removed now
    /// is found by the agent, which lists once more. In a store that a move has left nobody does, not even of a share that
    /// goes on in the other one: what we have put there since goes.
    /// - Parameter wasInHand: what was not may be another machine's by now, there.
    private func sweep(_ id: ShareID, wasInHand: Bool) async {
        guard let share = try? await ledger({ try $0.share(id) }) else { return }
        let storage = ShareStorage(store: store)
        if (try? await lease.isStoreMoved()) == true {
            guard wasInHand, (try? await notes.isStoreLeft()) == true else { return }
            try? await storage.end(share.keys, nil)
        } else if !share.state.isOpen {
            try? await storage.removeAll(share.keys, nil)
        }
    }

    private func record(_ id: ShareID) async throws -> ShareRecord {
        guard let share = try await ledger({ try $0.share(id) }) else { throw ShareError.takenOver(id) }
        return share
    }

    // MARK: Photos

    /// - Returns: `nil` when all that can be shared is in the store; else what has to come back from the archive.
    private func send(
        _ share: ShareRecord, _ onProgress: @escaping @Sendable (Int, Int) -> Void
    ) async throws -> [ObjectKey]? {
        let id = share.id
        let open = try await photos(of: share).filter { $0.copy == nil && $0.failure == nil }
        let stored = Lock(share.storedCount)
        onProgress(share.storedCount, share.photoCount)
        let answers = try await open.concurrently(Self.batchSize) { photo in
            let answer = try await sender.send(photo, of: share)
            guard case .outcome(let outcome) = answer else { return answer }
            guard try await lease.note({ try $0.noteSharePhoto(photo.slot, of: id, outcome, by: $1, at: $2) }) else {
                try await takeBack(photo, of: share)
                throw try await lease.loss(of: id)
            }
            if case .stored = outcome { onProgress(stored.add(), share.photoCount) }
            return answer
        }
        let archived = answers.compactMap { if case .archived(let key) = $0 { key } else { nil as ObjectKey? } }
        if archived.isEmpty { return nil }
        try await lease.noteWaiting(try await reasonToWait(share, archived), of: id)
        return archived
    }

    /// Removes what was stored too late: of a share that is over, or of a photo that is no longer shared. Whoever has the
    /// share now, here or on another machine, may count on everything else.
    private func takeBack(_ photo: SharePhoto, of share: ShareRecord) async throws {
        let isWanted = try await ledger.finish { ledger in
            guard let state = try ledger.share(share.id)?.state else { return true }
            guard state.isOpen else { return false }
            return try ledger.sharePhotos(share.id).contains { $0.slot == photo.slot && $0.position != nil }
        }
        if isWanted { return }
        try await remove(share.keys.all(photo.slot))
    }

    /// Those that are seen, or are to be.
    private func photos(of share: ShareRecord) async throws -> [SharePhoto] {
        try await ledger { try $0.sharePhotos(share.id) }.filter { $0.position != nil }
    }

    // MARK: The archive

    /// Notes again why a share waits, when that is another reason by now.
    func noteWaiting(_ share: ShareRecord, for archived: [ObjectKey]) async throws {
        let problem = try await reasonToWait(share, archived)
        if problem == share.problem { return }
        try await lease.holding(share.id) { share in
            guard share.state.isOpen else { return }
            try await lease.noteWaiting(problem, of: share.id)
        }
    }

    private func reasonToWait(_ share: ShareRecord, _ archived: [ObjectKey]) async throws -> String {
        try await ledger { ledger in
            let unasked = try archived.count { try ledger.openRestoreItem(for: $0) == nil }
            let many = archived.count.counted("of its photos has", "of its photos have")
            let text = "\(many) to come back from the archive first"
            if unasked == 0 { return text }
            let job = try share.restoreJob.flatMap { try ledger.restoreJob($0) }
            let failure = job.flatMap { job in
                job.counts[.failed].map { "restore \(job.job.id) failed for \($0)" }
            }
            return text
                + "; \(failure ?? "no restore of \(unasked) is under way"): share the vacation again to ask for it"
        }
    }

    // MARK: Page and manifest

    private func writePage(_ share: ShareRecord, updatedAt: Date) async throws {
        let id = share.id
        let photos = try await photos(of: share)
        guard photos.contains(where: { $0.copy != nil }) else {
            throw ShareError.nothing(
                photos.compactMap { photo in photo.failure.map { "\(photo.path.string.escapingControls): \($0)" } })
        }
        try await lease.requireHeld(id)
        let written = try await writer.write(share, photos.filter { $0.copy != nil }, updatedAt: updatedAt)
        try await ledger.finish { try $0.noteShareObjects(written.objects, of: id) }
        if let fate = try await notes.follow(id) {
            // Whoever has taken it back on another machine may have listed the store before our last put.
            if case .revoked = fate { try await remove([share.keys.manifest, share.keys.page]) }
            throw ShareError(fate, of: id)
        }
        let isPublished = try await lease.note {
            try $0.noteSharePublished(id, link: written.link, linksEndAt: written.linksEndAt, by: $1, at: $2)
        }
        if isPublished { return }
        // It was revoked while it was written, and whoever revoked it found nothing and is done; or it went to another, and
        // this may lie over what that one wrote.
        let error = try await lease.loss(of: id)
        if error == .over(id) {
            try await remove([share.keys.manifest, share.keys.page])
        } else {
            try await ledger.finish { try $0.noteShareOverwritten(id) }
        }
        throw error
    }

    // MARK: What is no longer shared

    /// - Throws: ``StoreError`` when something stays, which everybody may have who knows its name: of the first one. It is
    ///   tried again: with the next attempt, or, of a share that is over, by ``sweep(_:)`` and the agent.
    private func remove(_ keys: [ObjectKey]) async throws {
        if keys.isEmpty { return }
        if let failure = try await store.delete(keys).min(by: { $0.key < $1.key })?.value { throw failure }
    }

    private func clean(_ share: ShareRecord) async throws {
        let id = share.id
        let keys = try await ledger { try $0.sharePhotos(id) }.filter { $0.position == nil }
            .flatMap { share.keys.all($0.slot) }
        try await remove(keys)
        try await lease.noteCleaned(id)
    }
}
