import AsyncAlgorithms
import FoundationEssentials
import SyncCore
import SyncLedger
import SyncSystem

/// What is taken from the queue, and the lane of large files.
///
/// A film is read and sent for minutes, where a photo takes a second. Were it in the same hands, some films would hold up
/// all photos behind them. So one of them is in hand at a time, beside the others, and what is small overtakes the rest.
extension PhotoPipeline {
    /// Bytes beyond which a file has to wait for others of its like. Photos are far below it.
    package static let largestSmall: Int64 = 256 << 20

    /// Bytes of the largest file that may be taken now.
    private var reach: Int64 {
        inHand.withLock { claims in claims.values.contains(where: \.isLarge) ? Self.largestSmall : .max }
    }

    func claims(at now: Date) async throws -> [Claim] {
        let (scope, reach) = (scope.withLock { $0 }, reach)
        return try await ledger { ledger in
            if let scope { return try ledger.claim(limit: 1, of: scope, upTo: reach, at: now) }
            return try ledger.claim(limit: 1, upTo: reach, at: now)
        }
    }

    /// When the next photo that may be taken is due.
    func nextTry(at now: Date) async throws -> Date? {
        let (scope, reach) = (scope.withLock { $0 }, reach)
        return try await ledger { ledger in
            if let scope { return try ledger.nextTry(of: scope, upTo: reach, at: now) }
            return try ledger.nextTry(upTo: reach, at: now)
        }
    }

    /// Large files, each from its reading to its commit before the next.
    func storeOneByOne(_ claims: AsyncChannel<Claim>, _ mode: Mode) async throws {
        for await claim in claims where !isStopping.withLock({ $0 }) {
            switch try await prepareAlone(claim) {
            case .ready(let file): try await upload(file, mode)
            case .done(let outcome): try await commit(claim, outcome, wasSent: false)
            }
        }
    }

    /// One suspect at a time: an agent that ends with it in hand tells which one it was. What is too large for any decoder
    /// is read for longer than the others shall wait.
    func prepareAlone(_ claim: Claim) async throws -> Preparer.Result {
        guard claim.isSuspect, claim.stamp.size <= PhotoLimits().fileSize else { return try await prepare(claim) }
        return try await suspects.withKey(true) { try await prepare(claim) }
    }
}

extension Claim {
    /// Whether it goes with the large files, one at a time.
    var isLarge: Bool { stamp.size > PhotoPipeline.largestSmall }
}
