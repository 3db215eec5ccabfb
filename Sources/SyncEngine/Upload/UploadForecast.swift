package import SyncCore
package import SyncLedger
package import SyncSystem

/// Finds out what a pass would make of a vacation: each photo that waits is prepared, none is sent, and what could be stored
/// counts as that. So its order, and what cannot be stored, are those of the share that comes later. It is for a copy of the
/// ledger that nobody keeps.
package struct UploadForecast: Sendable {
    private static let atOnce = 4

    private let ledger: LedgerQueue
    private let preparer: Preparer
    private let pool: BlockingPool
    private let time: TimeSource

    /// - Parameters:
    ///   - preparer: with the same ledger.
    ///   - pool: for decoding.
    package init(ledger: LedgerQueue, preparer: Preparer, pool: BlockingPool, time: TimeSource) {
        self.ledger = ledger
        self.preparer = preparer
        self.pool = pool
        self.time = time
    }

    /// - Parameter progress: how many photos were prepared by now, and of how many; on any thread.
    /// - Throws: ``LedgerError``, `CancellationError`.
    package func run(
        of vacation: VacationID, progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws {
        let claims = try await claimAll(of: vacation)
        let done = Lock(0)
        let outcomes = try await claims.concurrently(Self.atOnce) { claim in
            let ending = try await pool.run { try outcome(of: claim) }
            progress(done.add(), claims.count)
            return ending
        }
        let now = time.now()
        try await ledger { ledger in
            try ledger.commit(zip(claims, outcomes).map { claim, outcome in ClaimEnding(claim, outcome, at: now) })
        }
    }

    private func claimAll(of vacation: VacationID) async throws -> [Claim] {
        try await ledger { try $0.makeDue(vacation, at: time.now()) }
        var claims: [Claim] = []
        while true {
            let next = try await ledger { try $0.claimNext(of: vacation, .ofSmall, at: time.now()) }
            guard case .photos(let more) = next else { return claims }
            claims += more
        }
    }

    private func outcome(of claim: Claim) throws -> Outcome {
        switch try preparer.prepare(claim) {
        case .done(let outcome): return outcome
        case .ready(let file):
            switch file.content {
            case .photo(let photo):
                return .uploaded(photo.examined.digest, ObjectRecord(of: photo, storedAt: time.now()))
            case .known(let digest, let object): return .uploaded(digest, object)
            case .events: return .released
            case .refused(let error): return .postponed("\(error)", until: time.now())
            }
        }
    }
}
