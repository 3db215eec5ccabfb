import SyncCore
package import SyncLedger
import SyncSystem
package import SystemPackage

/// What the tasks of a pipeline share: what they have in hand, and how far the run has come. It is under one lock, so that
/// what belongs together is seen together.
struct PipelineState: Sendable {
    /// Claimed and not committed yet, by the rows of their attempts: a photo that changed meanwhile is claimed anew as soon as the
    /// end of the first attempt is in the ledger, which may be before that is noted here.
    private(set) var inHand: [Int64: Claim] = [:]
    /// Whether the queue had a photo when it was asked last.
    private(set) var isFlowing = false
    /// Whether nothing more is taken up.
    var isStopping = false
    /// Whether the queue has nothing more for this run.
    var isDrained = false
    /// Of a group that was claimed, what nobody prepares yet: the next to be taken is the last.
    private var parts: [[Claim]] = []
    /// The vacation of which photos are taken; `nil`: all that is due.
    private(set) var scope: VacationID?
    /// Why the pass cannot go on, when the store took nothing for as long as it had patience.
    var outage: StoreError?
    var rounds = PassRounds()
    var silenced = SilencedPhotos()
    /// Whether something was done since the queue was last empty.
    private var isBusy = false
    /// Whether all folders were read anew since then.
    private var isRescanned = false
    /// How often people had asked for another try when it was looked at last.
    private var retriesSeen: Int64?
    private var deadline: Duration?
    /// When those in hand are waited for no longer that the store's refusal has met.
    private var handInEnd: Duration?
    /// The attempts that were waited for so long: nobody waits for them any more.
    private var passedOver: Set<Int64> = []

    mutating func begin(_ scope: VacationID?) {
        self.scope = scope
        isStopping = false
        isDrained = false
        parts = []
        outage = nil
        handInEnd = nil
        silenced = SilencedPhotos()
    }

    mutating func note(_ next: NextClaim) {
        switch next {
        case .photos(let claims):
            for claim in claims { inHand[claim.attemptID] = claim }
            isFlowing = true
        case .nothing: isFlowing = false
        }
    }

    mutating func addParts(_ group: [[Claim]]) { parts += group.reversed() }

    mutating func takePart() -> [Claim]? { parts.popLast() }

    mutating func noteCommitted(_ claim: Claim, _ outcome: Outcome) {
        inHand[claim.attemptID] = nil
        passedOver.remove(claim.attemptID)
        if case .uploaded = outcome { rounds.noteStored(claim.photoID) }
        if outcome.isFinal { silenced.forget(claim.photoID) }
        isBusy = true
    }

    /// As ``SilencedPhotos/takeAnswered(_:inHand:)``.
    mutating func takeAnswered(_ silent: Set<FolderID>) -> [Int64] {
        silenced.takeAnswered(silent, inHand: Set(inHand.values.map(\.photoID)))
    }

    mutating func noteSkipped() { isBusy = true }

    mutating func noteRescan() { isRescanned = true }

    /// - Returns: whether all folders were read anew, and nobody has looked at the store since. The pass that it makes is
    ///   then for ``noteWhole()`` to tell.
    mutating func takeRescan() -> Bool {
        guard isRescanned else { return false }
        isRescanned = false
        isBusy = true
        return true
    }

    /// Whether a run of all that is due has done something, and nobody has told so yet.
    var isWholeAfterWork: Bool { isBusy && scope == nil }

    /// - Returns: whether it is for the caller to tell.
    mutating func noteWhole() -> Bool { exchange(&isBusy, with: false) }

    /// - Returns: whether people have asked for another try since it was looked at last.
    mutating func noteRetries(_ asked: Int64) -> Bool {
        defer { retriesSeen = asked }
        return retriesSeen.map { $0 != asked } ?? false
    }

    /// When a pass stops waiting for photos that come due again: the patience runs from the first time that it had to wait.
    mutating func deadline(at now: Duration, _ patience: Duration) -> Duration {
        let deadline = self.deadline ?? now + patience
        self.deadline = deadline
        return deadline
    }

    /// How long what is in hand is still waited for: all that is small, and the photo that is to show whether the store
    /// accepts. What is not handed in at the end of it is passed over: others go on as if it were.
    /// - Parameters:
    ///   - isRefusing: whether the store refuses; else nobody waits.
    ///   - trial: that photo.
    /// - Returns: `nil` when there is nothing to wait for.
    mutating func handInWait(_ isRefusing: Bool, _ trial: Int64?, at now: Duration) -> Duration? {
        let awaited = inHand.values.filter { claim in
            isRefusing && (!claim.isLarge || claim.photoID == trial) && !passedOver.contains(claim.attemptID)
        }
        let end = handInEnd ?? now + PhotoPipeline.handInLimit
        if !awaited.isEmpty, now < end {
            handInEnd = end
            return end - now
        }
        passedOver.formUnion(awaited.map(\.attemptID))
        handInEnd = nil
        return nil
    }

    /// Whether a photo is in hand that nobody waits for any more.
    func isPassedOver(_ photo: Int64) -> Bool {
        passedOver.contains { inHand[$0]?.photoID == photo }
    }

    /// Bytes of the largest file that may be taken now: one large file is in hand at a time.
    var reach: Int64 { inHand.values.contains(where: \.isLarge) ? PhotoPipeline.largestSmall : .max }
}

/// The last rounds of a pass: what the store has refused for now is tried again after short pauses, for as long as the
/// pass has patience, and longer while some of it is stored. A server that fails one request in five has everything at
/// the end.
struct PassRounds: Sendable {
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
    mutating func next(at now: Duration, _ patience: Duration, random: Double) -> (photos: [Int64], pause: Duration)? {
        guard !postponed.isEmpty, begun < Self.most else { return nil }
        let start = since ?? now
        let pause = Self.policy.delay(afterAttempt: begun + 1, random: random)
        guard now + pause <= start + patience || (begun > 0 && stored > 0) else { return nil }
        since = start
        begun += 1
        stored = 0
        return (exchange(&postponed, with: []).sorted(), pause)
    }
}

/// What the pipeline tells whoever looks on: a progress line, a log, a count.
package struct PipelineEvent: Sendable {
    package enum Ending: Sendable {
        /// - Parameters: bytes of the file on the disk, bytes that were sent.
        case stored(localBytes: Int64, sentBytes: Int64)
        /// The store had it; what was sent was not needed.
        case alreadyStored(localBytes: Int64, sentBytes: Int64)
        case failed(reason: String)
        case skipped(reason: String)
        case postponed(reason: String)
        /// It is gone, or the agent stops: nothing to tell.
        case dropped
    }

    package let file: FilePath
    package let ending: Ending
    /// What a file of gallery events holds, when the work on it has ended; `nil` for other files.
    package let events: EventFileNote?

    init(_ ended: ClaimEnding) {
        file = ended.claim.file
        let (size, sent) = (ended.claim.stamp.size, ended.sent)
        ending =
            switch ended.outcome {
            case .uploaded where sent.isStored: .stored(localBytes: size, sentBytes: sent.bytes)
            case .uploaded: .alreadyStored(localBytes: size, sentBytes: sent.bytes)
            case .failed(let message, _), .otherPhoto(let message): .failed(reason: message)
            case .skipped(let message, _): .skipped(reason: message)
            case .postponed(let message, _): .postponed(reason: message)
            case .copyGone, .waits, .released, .vanished: .dropped
            }
        events = ended.outcome.isFinal ? ended.note : nil
    }
}

/// The counts of a pass.
package struct PassSummary: Hashable, Sendable, Codable {
    package var uploaded = 0
    package var alreadyStored = 0
    package var failed = 0
    package var skipped = 0
    package var postponed = 0
    /// In files of gallery events.
    package var events = 0
    /// Elements of those files that are no events.
    package var malformedEvents = 0
    package var bytesRead: Int64 = 0
    package var bytesSent: Int64 = 0

    package init() {}

    package mutating func count(_ event: PipelineEvent) {
        switch event.ending {
        case .stored(let local, let sent):
            uploaded += 1
            bytesRead += local
            bytesSent += sent
        case .alreadyStored(let local, let sent):
            alreadyStored += 1
            bytesRead += local
            bytesSent += sent
        case .failed: failed += 1
        case .skipped: skipped += 1
        case .postponed: postponed += 1
        case .dropped: break
        }
        events += event.events?.events ?? 0
        malformedEvents += event.events?.malformed ?? 0
    }
}

/// The endings of claims on their way into the ledger (group commit): one transaction takes all that came while the one
/// before it was written. Where photos end one by one, each is written at once; where they are small and end faster than the
/// ledger writes, the groups grow.
struct EndingQueue: Sendable {
    /// So many may be under way: a kill repeats what is not written.
    static let capacity = 64

    private struct State {
        var pending: [ClaimEnding] = []
        /// How many were added, and of these, how many are written.
        var added = 0
        var written = 0
        var isWriting = false
        var failure: (any Error)?
        /// Go on once so many are written.
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, any Error>)] = []

        /// - Returns: whether a group is to be written now, by whoever has asked.
        mutating func beginGroup() -> Bool {
            guard !isWriting, !pending.isEmpty, failure == nil else { return false }
            isWriting = true
            return true
        }
    }

    let ledger: LedgerQueue
    private let state = Lock(State())
    /// Whoever has it commits and tells what is committed, or asks the ledger for more.
    private let turn = Lock(())
    /// Called when one could not be written: nobody may be adding or waiting, and the failure is told to whoever asks.
    var onFailure: @Sendable () -> Void = {}
    /// Called for each one that is written, in their order, on the thread that has written it.
    let onWritten: @Sendable (ClaimEnding) -> Void

    /// - Throws: ``LedgerError`` of an ending that could not be written.
    func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Runs what asks the ledger while no ending is in it that was not told yet.
    func betweenGroups<Result>(_ work: () throws -> Result) rethrows -> Result { try turn.withLock { _ in try work() } }

    /// After a failure: what was not written is forgotten, and writing begins anew.
    func reset() {
        state.withLock { state in
            state.added -= state.pending.count
            state.pending = []
            state.failure = nil
        }
    }

    /// Returns once it is on its way; when many are, once they are fewer.
    /// - Throws: ``LedgerError`` of this ending or of one before it.
    func add(_ ending: ClaimEnding) async throws {
        let count = append([ending])
        try await wait(untilWritten: count - Self.capacity)
    }

    /// Returns once they are written, and all that came before them.
    /// - Throws: ``LedgerError``.
    func write(_ endings: [ClaimEnding]) async throws {
        try await wait(untilWritten: append(endings))
    }

    /// - Returns: how many have been added by now.
    private func append(_ endings: [ClaimEnding]) -> Int {
        let (count, begins) = state.withLock { state in
            state.pending += endings
            state.added += endings.count
            return (state.added, state.beginGroup())
        }
        if begins { writeGroup() }
        return count
    }

    private func wait(untilWritten count: Int) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<Void, any Error>? = state.withLock { state in
                if let failure = state.failure { return .failure(failure) }
                if state.written >= count { return .success(()) }
                state.waiters.append((count, continuation))
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }

    /// Whoever comes first does not wait for what comes after it: the writing is nobody's task. The next group waits behind
    /// what else was asked of the ledger meanwhile.
    private func writeGroup() {
        ledger.add { ledger in
            let group = state.withLock { exchange(&$0.pending, with: []) }
            let result = Result<Void, any Error> {
                try betweenGroups {
                    try ledger.commit(group)
                    group.forEach(onWritten)
                }
            }
            let (waiters, goesOn) = state.withLock { state in
                state.written += group.count
                if case .failure(let error) = result { state.failure = error }
                state.isWriting = false
                let goesOn = state.beginGroup()
                let isOver = { [state] (count: Int) in state.failure != nil || count <= state.written }
                defer { state.waiters.removeAll { isOver($0.count) } }
                return (state.waiters.filter { isOver($0.count) }, goesOn)
            }
            for waiter in waiters { waiter.continuation.resume(with: result) }
            if case .failure = result { onFailure() }
            if goesOn { writeGroup() }
        }
    }
}
