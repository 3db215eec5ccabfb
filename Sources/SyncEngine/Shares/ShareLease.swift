import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Holds a share while something is done with it, so that one process at a time does. What may be noted of a share by
/// nobody but its holder is noted here.
package struct ShareLease: Sendable {
    private static let renewEvery = Duration.seconds(3)

    private let ledger: LedgerQueue
    private let owner: String
    private let hasEnded: @Sendable (String) -> Bool
    private let isCurrent: @Sendable (Ledger) throws -> Bool
    private let time: TimeSource

    /// - Parameters:
    ///   - owner: whose claims do not end with its process end by themselves (``Ledger/shareClaimSeconds``).
    ///   - isCurrent: whether the ledger still is about the store that this process has opened. What was published in
    ///     another one, nobody would ever remove.
    package init(
        ledger: LedgerQueue, owner: ClaimOwner, time: TimeSource,
        isCurrent: @escaping @Sendable (Ledger) throws -> Bool = { _ in true }
    ) {
        self.ledger = ledger
        self.owner = owner.name
        self.hasEnded = owner.hasEnded
        self.isCurrent = isCurrent
        self.time = time
    }

    /// Takes a share. What a process had in hand when it was killed is free at once.
    /// - Returns: the share as it stands; `nil` when another has it.
    /// - Throws: ``ShareError/storeMoved``.
    func claim(_ id: ShareID) async throws -> ShareRecord? {
        let (owner, hasEnded, now) = (owner, hasEnded, time.now())
        return try await ledger { [self] ledger in
            try requireCurrent(ledger)
            if let share = try ledger.claimShare(id, by: owner, at: now) { return share }
            guard let holder = try ledger.share(id)?.holder, hasEnded(holder) else { return nil }
            try ledger.releaseShare(id, by: holder)
            return try ledger.claimShare(id, by: owner, at: now)
        }
    }

    private func requireCurrent(_ ledger: Ledger) throws {
        guard try isCurrent(ledger) else { throw ShareError.storeMoved }
    }

    /// Whether the ledger is about another store by now than the one that this process has opened.
    func isStoreMoved() async throws -> Bool {
        try await ledger.finish { [isCurrent] in try !isCurrent($0) }
    }

    /// Makes a share, held.
    /// - Returns: the open share of the same that there is already; `nil` when this one was made.
    func make(_ id: ShareID, _ draft: ShareDraft, at now: Date) async throws -> ShareID? {
        try await ledger { [owner] ledger in
            func find() throws -> ShareRecord? {
                try ledger.openShare(of: draft.folder, selection: draft.selection, quality: draft.quality)
            }
            // Those that have expired, and that nobody has cleared away yet, are in nobody's way; behind them may be one that
            // lives.
            while let other = try find() {
                if other.expiresAt > now { return other.id }
                try ledger.endShare(other.id, .expired)
            }
            if try ledger.addShare(id, draft, by: owner, at: now) { return nil }
            return try find()?.id ?? id
        }
    }

    /// Takes a share, and brings it up to what is to be shared now.
    /// - Throws: ``ShareError/inOtherHands(_:)``.
    func revise(_ id: ShareID, _ draft: ShareDraft) async throws {
        guard try await claim(id) != nil,
            try await ledger({ [owner] in try $0.reviseShare(id, draft, by: owner) }) != nil
        else { throw ShareError.inOtherHands(id) }
    }

    /// Leaves a share to others. What is not held stays as it is.
    func release(_ id: ShareID) async throws {
        try await ledger.finish { [owner] in try $0.releaseShare(id, by: owner) }
    }

    /// - Throws: ``ShareError/inOtherHands(_:)`` at once, or when the share went to another meanwhile (this machine slept),
    ///   even if that one is done with it; ``ShareError/over(_:)`` when it was ended: then `work` was cancelled, as with
    ///   ``ShareError/storeMoved``. What `work` throws.
    func holding<Answer: Sendable>(
        _ id: ShareID, _ work: @escaping @Sendable (ShareRecord) async throws -> Answer
    ) async throws -> Answer {
        guard let share = try await claim(id) else { throw ShareError.inOtherHands(id) }
        let result = await Result { try await renewing(share) { try await work(share) } }
        try await release(id)
        return try result.get()
    }

    private func renewing<Answer: Sendable>(
        _ share: ShareRecord, _ work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await keepRenewing(share)
                return nil
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() ?? nil else { throw CancellationError() }
            return result
        }
    }

    /// Renews the claim until the task is cancelled.
    private func keepRenewing(_ share: ShareRecord) async throws {
        let id = share.id
        var renewedAt = time.now()
        while true {
            try await time.sleep(Self.renewEvery)
            let now = time.now()
            do {
                guard let state = try await renew(id, at: now) else { throw ShareError.inOtherHands(id) }
                if share.state.isOpen, !state.isOpen { throw ShareError.over(id) }
                renewedAt = now
            } catch let error as LedgerError where error.code == .busy && isHeld(since: renewedAt) {
                // Somebody writes for long. Until the claim has lapsed nobody can have taken the share.
                continue
            }
        }
    }

    private func renew(_ id: ShareID, at now: Date) async throws -> ShareState? {
        try await ledger { [self] in
            try requireCurrent($0)
            return try $0.renewShare(id, by: owner, at: now)
        }
    }

    private func isHeld(since renewedAt: Date) -> Bool {
        time.now().timeIntervalSince(renewedAt) < Ledger.shareClaimSeconds
    }

    // MARK: What its holder notes

    /// - Throws: why it goes no further, when the share is over or in the hands of another.
    func requireHeld(_ id: ShareID) async throws {
        guard try await renew(id, at: time.now())?.isOpen == true else { throw try await loss(of: id) }
    }

    /// Why a share goes no further that is not in these hands any more.
    func loss(of id: ShareID) async throws -> ShareError {
        guard let state = try await ledger.finish({ try $0.share(id)?.state }) else { return .takenOver(id) }
        return state.isOpen ? .inOtherHands(id) : .over(id)
    }

    /// What has happened already.
    /// - Returns: what `body` does; `false` when the share is over, or in the hands of another: nothing was noted.
    func note<Answer: Sendable>(
        _ body: @escaping @Sendable (_ ledger: Ledger, _ owner: String, _ now: Date) throws -> Answer
    ) async throws -> Answer {
        try await ledger.finish { [self] in
            try requireCurrent($0)
            return try body($0, owner, time.now())
        }
    }

    /// What it waits for.
    func noteWaiting(_ reason: String, of id: ShareID) async throws {
        try await ledger { [owner] in try $0.noteShareProblem(reason, waits: true, of: id, by: owner) }
    }

    /// Of photos that are no longer shared nothing is left.
    func noteCleaned(_ id: ShareID) async throws {
        try await ledger { [owner] in try $0.noteShareCleaned(id, by: owner) }
    }
}
