import FoundationEssentials
package import SyncCore
package import SyncLedger

/// Holds a share while something is done with it, so that one process at a time does.
package struct ShareLease: Sendable {
    private static let renewEvery = Duration.seconds(3)

    private let ledger: LedgerQueue
    /// Of this process, and of no other.
    package let owner: String
    private let hasEnded: @Sendable (String) -> Bool
    private let time: TimeSource

    /// - Parameter hasEnded: whether an owner is known to be no more. Where nobody knows, its claims end by themselves
    ///   (``Ledger/shareClaimSeconds``).
    package init(
        ledger: LedgerQueue, owner: String, hasEnded: @escaping @Sendable (String) -> Bool = { _ in false },
        time: TimeSource
    ) {
        self.ledger = ledger
        self.owner = owner
        self.hasEnded = hasEnded
        self.time = time
    }

    /// Takes a share. What a process had in hand when it was killed is free at once.
    /// - Returns: the share as it stands; `nil` when another has it.
    func claim(_ id: ShareID) async throws -> ShareRecord? {
        let (owner, hasEnded, now) = (owner, hasEnded, time.now())
        return try await ledger { ledger in
            if let share = try ledger.claimShare(id, by: owner, at: now) { return share }
            guard let holder = try ledger.share(id)?.holder, hasEnded(holder) else { return nil }
            try ledger.releaseShare(id, by: holder)
            return try ledger.claimShare(id, by: owner, at: now)
        }
    }

    /// - Throws: ``ShareError/inOtherHands(_:)`` at once, or when the share went to another meanwhile (this machine slept),
    ///   even if that one is done with it; ``ShareError/over(_:)`` when it was ended: then `work` was cancelled. What `work`
    ///   throws.
    func holding<Result: Sendable>(
        _ id: ShareID, _ work: @escaping @Sendable (ShareRecord) async throws -> Result
    ) async throws -> Result {
        let owner = owner
        guard let share = try await claim(id) else { throw ShareError.inOtherHands(id) }
        let result = await Swift.Result { try await renewing(share) { try await work(share) } }
        try await ledger.finish { try $0.releaseShare(id, by: owner) }
        return try result.get()
    }

    private func renewing<Result: Sendable>(
        _ share: ShareRecord, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await renew(share)
                return nil
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() ?? nil else { throw CancellationError() }
            return result
        }
    }

    /// Renews the claim until the task is cancelled.
    private func renew(_ share: ShareRecord) async throws {
        let (id, owner) = (share.id, owner)
        var renewedAt = time.now()
        while true {
            try await time.sleep(Self.renewEvery)
            let now = time.now()
            do {
                guard let state = try await ledger({ try $0.renewShare(id, by: owner, at: now) }) else {
                    throw ShareError.inOtherHands(id)
                }
                if share.state.isOpen, !state.isOpen { throw ShareError.over(id) }
                renewedAt = now
            } catch let error as LedgerError where error.code == .busy && isHeld(since: renewedAt) {
                // Somebody writes for long. Until the claim has lapsed nobody can have taken the share.
                continue
            }
        }
    }

    private func isHeld(since renewedAt: Date) -> Bool {
        time.now().timeIntervalSince(renewedAt) < Ledger.shareClaimSeconds
    }
}

extension Swift.Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
