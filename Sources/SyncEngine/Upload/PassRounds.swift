import SyncCore
import SyncLedger

/// The last rounds of a pass: what the store has refused for now is tried again after short pauses, for as long as the
/// pass has patience, and longer while some of it is stored. A server that fails one request in five has everything at
/// the end.
struct PassRounds: Sendable {
    struct Round: Sendable {
        let photos: [Int64]
        let pause: Duration
    }

    private static let most = 10
    private static let policy = RetryPolicy(maximumAttempts: .max, base: .seconds(1), ceiling: .seconds(8))
    /// What was refused more often than this before the pass began, by an earlier pass, is tried once in this one: a key that
    /// a store never takes must not cost each pass its rounds. It has its pauses.
    private static let mostAttemptsBefore = 2

    /// The number of the first attempt in this pass, of each photo that was refused.
    private var first: [Int64: Int] = [:]
    private var postponed: Set<Int64> = []
    private var begun = 0
    /// Photos of the last round that were stored.
    private var stored = 0
    private var since: Duration?

    mutating func notePostponed(_ claim: Claim) {
        let first = self.first[claim.photoID] ?? claim.attempts
        self.first[claim.photoID] = first
        if first <= Self.mostAttemptsBefore + 1 { postponed.insert(claim.photoID) }
    }

    mutating func noteStored(_ photo: Int64) {
        stored += 1
        postponed.remove(photo)
        first[photo] = nil
    }

    /// - Parameter random: 0.5..<1.
    /// - Returns: `nil` when there is nothing to try, or it was tried enough.
    mutating func next(at now: Duration, _ patience: Duration, random: Double) -> Round? {
        guard !postponed.isEmpty, begun < Self.most else { return nil }
        let start = since ?? now
        let pause = Self.policy.delay(afterAttempt: begun + 1, random: random)
        guard now + pause <= start + patience || (begun > 0 && stored > 0) else { return nil }
        since = start
        begun += 1
        stored = 0
        defer { postponed = [] }
        return Round(photos: postponed.sorted(), pause: pause)
    }
}
